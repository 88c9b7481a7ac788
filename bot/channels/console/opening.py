"""Opening of the console: always there, so that what nobody else gets can be read in the log."""

from collections.abc import Sequence

from bot.channels.console.notifier import LOG, ConsoleNotifier
from bot.channels.open_channel import ChannelDependencies, OpenChannel
from bot.settings.schema import Settings
from collectors.facts.findings import Finding


async def open_console(_settings: Settings, dependencies: ChannelDependencies) -> OpenChannel:
    return OpenChannel(notifier=ConsoleNotifier(dependencies.catalogue), default=LOG)


async def diagnose_console(_settings: Settings) -> Sequence[Finding]:
    """Return nothing: a log has nothing that could be missing."""
    return ()
