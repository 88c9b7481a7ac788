"""Opening of the console: always there, so that what nobody else gets can be read in the log."""

from bot.channels.console.notifier import LOG, ConsoleNotifier
from bot.channels.open_channel import ChannelDependencies, OpenChannel
from bot.settings.schema import Settings


async def open_console(_settings: Settings, dependencies: ChannelDependencies) -> OpenChannel:
    return OpenChannel(notifier=ConsoleNotifier(dependencies.book), default=LOG)
