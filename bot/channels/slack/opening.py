"""Opening of Slack as a kind of channel: its notifier, and how people write in it."""

from bot.channels.open_channel import ChannelDependencies, Conversation, OpenChannel
from bot.channels.slack.integration import SlackIntegration, open_slack
from bot.settings.schema import Settings
from bot.supervise import Work


async def open_slack_channel(settings: Settings, dependencies: ChannelDependencies) -> OpenChannel | None:
    """Open Slack if the settings have it. Raises Permanent when Slack refuses the token."""
    if settings.slack is None:
        return None
    slack = await open_slack(
        settings.slack,
        dependencies.store,
        clock=dependencies.clock,
        stack=dependencies.stack,
        catalogue=dependencies.catalogue,
        errors=dependencies.errors,
    )
    return OpenChannel(
        notifier=slack.notifier, default=settings.slack.channel, conversation=_conversation(slack)
    )


def _conversation(slack: SlackIntegration) -> Conversation:
    parts: dict[str, Work] = {"intake": slack.intake.run}

    if slack.socket is None:
        return Conversation(
            directory=slack.directory,
            responder=slack.responder,
            parts=parts,
            receive=slack.receive,
            home=slack.home,
            listen_suggestions=slack.forms.suggest_from,
        )
    socket = slack.socket

    return Conversation(
        directory=slack.directory,
        responder=slack.responder,
        parts={**parts, "slack socket": socket.run},
        listen_connected=socket.listen,
        home=slack.home,
        listen_suggestions=slack.forms.suggest_from,
    )
