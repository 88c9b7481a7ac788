"""The scopes of the Slack app: what its bot token may do."""

# Those of docs/slack-manifest.yaml, with their reasons in docs/slack.md.
BOT_SCOPES = (
    "app_mentions:read",
    "channels:history",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "im:history",
    "im:write",
    "usergroups:read",
    "users:read",
)
