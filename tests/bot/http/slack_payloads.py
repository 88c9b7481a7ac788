"""Payloads that Slack sends, each in its shape: events, clicks and forms, and a slash command."""

import json
from typing import Any

WHO = {"id": "U1", "team_id": "T1"}
VALUES = {"node": {"value": {"type": "external_select", "selected_option": {"value": "gpu-a01"}}}}
FORM_VIEW = {
    "id": "V1",
    "hash": "h",
    "type": "modal",
    "callback_id": "form",
    "private_metadata": json.dumps(
        {"command": "node show", "cluster": "", "channel": "slack/C1", "thread": "1.2"}
    ),
    "state": {"values": VALUES},
}
CLICK = {
    "type": "block_actions",
    "user": WHO,
    "team": {"id": "T1"},
    "channel": {"id": "C1"},
    "container": {"type": "message", "message_ts": "1.2", "channel_id": "C1", "is_ephemeral": False},
    "trigger_id": "1.2.3",
    "response_url": "https://hooks.test/1",
}
EVENT = {"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "authorizations": [{"team_id": "T1"}]}
# What Slack sends, each in its shape, as JSON in the body or in the field `payload`; a slash command is a form.
EVENTS: list[dict[str, Any]] = [
    {
        **EVENT,
        "event": {"type": "app_mention", "user": "U1", "channel": "C1", "ts": "1.2", "text": "<@U0> help"},
    },
    {
        **EVENT,
        "is_ext_shared_channel": True,
        "event": {
            "type": "message",
            "channel_type": "im",
            "user": "U1",
            "channel": "D1",
            "ts": "1.2",
            "text": "node list",
            "subtype": "file_share",
            "files": [{"name": "a", "url_private": "https://files.test/a", "size": 3}],
        },
    },
    {**EVENT, "event": {"type": "app_home_opened", "user": "U1", "channel": "D1", "tab": "home"}},
    {"type": "url_verification", "challenge": "abc"},
]
INTERACTIVE: list[dict[str, Any]] = [
    {
        **CLICK,
        "actions": [{"type": "button", "action_id": "line/0", "value": "node list", "action_ts": "1.3"}],
    },
    {
        **CLICK,
        "actions": [
            {"type": "users_select", "action_id": "people/0/incident ack 1 --for", "selected_user": "U2"}
        ],
    },
    {"type": "view_submission", "user": WHO, "team": {"id": "T1"}, "view": FORM_VIEW},
    {
        "type": "view_submission",
        "user": WHO,
        "team": {"id": "T1"},
        "view": {**FORM_VIEW, "callback_id": "choose_command"},
    },
    {
        "type": "block_suggestion",
        "user": WHO,
        "view": FORM_VIEW,
        "action_id": "form/node",
        "value": "gp",
        "block_id": "n",
    },
    {"type": "shortcut", "user": WHO, "callback_id": "run_command", "trigger_id": "1.2.3"},
    {
        "type": "message_action",
        "user": WHO,
        "callback_id": "what_is_this",
        "channel": {"id": "C1"},
        "message": {"ts": "1.2", "text": "x"},
        "message_ts": "1.2",
        "action_ts": "1.3",
        "response_url": "https://hooks.test/1",
    },
]
SLASH = {
    "command": "/yard",
    "text": "node list",
    "user_id": "U1",
    "team_id": "T1",
    "channel_id": "C1",
    "trigger_id": "1.2.3",
    "response_url": "https://hooks.test/1",
}
