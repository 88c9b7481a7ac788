"""Opening of the addresses of apprise that the settings have, and what the doctor can say of them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from alerts.cards.channel_id import channel_id
from bot.channels.apprise.apprise_service import NOT_INSTALLED, AppriseService
from bot.channels.apprise.notifier import AppriseNotifier
from bot.channels.open_channel import ChannelDependencies, OpenChannel
from bot.settings.schema import Settings
from bot.settings.section import secret
from collectors.facts.findings import Finding, broken, ok
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence


async def open_apprise(settings: Settings, dependencies: ChannelDependencies) -> OpenChannel | None:
    addresses = _addresses(settings)
    return OpenChannel(notifier=AppriseNotifier(addresses, dependencies.catalogue)) if addresses else None


async def diagnose_apprise(settings: Settings) -> Sequence[Finding]:
    """Return whether apprise is installed and knows the addresses. Nothing is sent."""
    return [
        await asyncio.to_thread(_finding, name, address) for name, address in _addresses(settings).items()
    ]


def _addresses(settings: Settings) -> Mapping[str, Callable[[], str]]:
    found: dict[str, Callable[[], str]] = {}
    for name, one in settings.channels.items():
        if one.apprise is not None:
            address = secret(one.apprise.url, one.apprise.url_file)
            assert address is not None  # the settings have one of them
            found[name] = address
    return found


def _finding(name: str, address: Callable[[], str]) -> Finding:
    channel = channel_id("apprise", name)
    try:
        AppriseService(address())
    except (SourceError, ValueError) as error:
        fix = (
            sentence("install the extra `apprise`, or take the channel out of the settings")
            if str(error) == NOT_INSTALLED
            else sentence(
                "correct the address (docs/channels.md shows how to write it), or the file that has it"
            )
        )
        text = sentence(
            "the channel {channel} cannot be used: {error}", channel=channel, error=said_by(error)
        )
        return broken(text, fix)
    return ok(sentence("apprise knows the address of {channel}; nothing was sent to it", channel=channel))
