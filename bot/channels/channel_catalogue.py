"""The catalogue of kinds of channels: each has a name, which its channels' ids begin with, and a way to open it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from alerts.cards.channel_id import channel_id
from bot.channels.apprise.opening import diagnose_apprise, open_apprise
from bot.channels.console.opening import diagnose_console, open_console
from bot.channels.open_channel import ChannelDependencies, OpenChannel
from bot.channels.pagerduty.opening import diagnose_pagerduty, open_pagerduty
from bot.channels.webhook.opening import diagnose_webhooks, open_webhooks
from bot.settings.schema import Settings
from collectors.facts.findings import Finding

Opener = Callable[[Settings, ChannelDependencies], Awaitable[OpenChannel | None]]


# What only Slack needs is loaded where the settings have it: its libraries take more memory than all other channels.
async def _open_slack(settings: Settings, dependencies: ChannelDependencies) -> OpenChannel | None:
    if settings.slack is None:
        return None
    from bot.channels.slack.opening import open_slack_channel

    return await open_slack_channel(settings.slack, dependencies)


async def _diagnose_slack(settings: Settings) -> Sequence[Finding]:
    if settings.slack is None:
        return ()
    from bot.channels.slack.slack_diagnosis import diagnose_slack

    return await diagnose_slack(settings)


# The first that has a default channel gets what no route claims.
CHANNEL_KINDS: Mapping[str, Opener] = {
    "slack": _open_slack,
    "webhook": open_webhooks,
    "pagerduty": open_pagerduty,
    "apprise": open_apprise,
    "console": open_console,
}


Diagnose = Callable[[Settings], Awaitable[Sequence[Finding]]]

DIAGNOSES: Mapping[str, Diagnose] = {
    "slack": _diagnose_slack,
    "webhook": diagnose_webhooks,
    "pagerduty": diagnose_pagerduty,
    "apprise": diagnose_apprise,
    "console": diagnose_console,
}


async def open_channels(settings: Settings, dependencies: ChannelDependencies) -> Mapping[str, OpenChannel]:
    """Open the kinds of channels that the settings have, by name. Raises SendError and ValueError."""
    opened = {kind: await opener(settings, dependencies) for kind, opener in CHANNEL_KINDS.items()}
    return {kind: one for kind, one in opened.items() if one is not None}


def default_channel(opened: Mapping[str, OpenChannel]) -> str:
    """Return the id of the channel for what no route claims; empty if there is none."""
    return next((channel_id(kind, one.default) for kind, one in opened.items() if one.default), "")
