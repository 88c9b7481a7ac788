"""Opening of the services of PagerDuty that the settings have, and what the doctor can say of them."""

from collections.abc import Mapping, Sequence

from bot.channels.http_posting import a_session
from bot.channels.open_channel import ChannelDependencies, OpenChannel
from bot.channels.pagerduty.notifier import PagerDutyNotifier, PagerDutyService
from bot.settings.schema import Settings
from bot.settings.section import secret
from collectors.facts.findings import Finding, broken, ok
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence

KEY_LENGTH = 32  # characters of the key of an integration


async def open_pagerduty(settings: Settings, dependencies: ChannelDependencies) -> OpenChannel | None:
    services = _services(settings)
    if not services:
        return None
    session = await dependencies.stack.enter_async_context(a_session())
    return OpenChannel(notifier=PagerDutyNotifier(session, services, clock=dependencies.clock))


async def diagnose_pagerduty(settings: Settings) -> Sequence[Finding]:
    """Return whether the keys can be read, and are keys. Nothing is sent: PagerDuty would page somebody."""
    return [_finding(name, service) for name, service in _services(settings).items()]


def _services(settings: Settings) -> Mapping[str, PagerDutyService]:
    found: dict[str, PagerDutyService] = {}
    for name, one in settings.channels.items():
        if one.pagerduty is not None:
            key = secret(one.pagerduty.routing_key, one.pagerduty.routing_key_file)
            assert key is not None  # the settings have one of them
            found[name] = PagerDutyService(url=one.pagerduty.url, routing_key=key)
    return found


def _finding(name: str, service: PagerDutyService) -> Finding:
    try:
        key = service.routing_key()
    except SourceError as error:
        return broken(
            sentence(
                "PagerDuty's service {service} cannot be used: {error}", service=name, error=said_by(error)
            ),
            sentence("correct the file that it names"),
        )
    if len(key) != KEY_LENGTH or not key.isalnum():
        return broken(
            sentence(
                "the routing key of PagerDuty's service {service} is not an integration key", service=name
            ),
            sentence(
                "use the integration key of an integration of the type Events API V2: "
                "it has {length} letters and digits",
                length=KEY_LENGTH,
            ),
        )
    return ok(sentence("PagerDuty's service {service} has its key; nothing was sent to it", service=name))
