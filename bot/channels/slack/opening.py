"""Opening of Slack as a kind of channel: its notifier, and how people write in it."""

from bot.channels.open_channel import ChannelDependencies, Conversation, OpenChannel
from bot.channels.slack.integration import SlackIntegration, open_slack
from bot.settings.channels import SlackSettings
from bot.supervise import Work


async def open_slack_channel(settings: SlackSettings, dependencies: ChannelDependencies) -> OpenChannel:
    """Open Slack. Raises Permanent when Slack refuses the token."""
    slack = await open_slack(
        settings,
        dependencies.store,
        clock=dependencies.clock,
        stack=dependencies.stack,
        catalogue=dependencies.catalogue,
        errors=dependencies.errors,
    )
    return OpenChannel(notifier=slack.notifier, default=settings.channel, conversation=_conversation(slack))


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
