"""The webhook notifier: posts each incident to an address as Alertmanager does.

A receiver takes a second body with the same `groupKey` and alerts as the same, so what may have been lost is posted
again. Neither the address nor a header is in an error: both may hold a secret.
"""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import NoReturn

import aiohttp

from alerts.cards.message import Message
from alerts.cards.text import Text
from bot.channels.webhook.payload import heartbeat_body, payload_of
from bot.delivery.notifier_protocol import (
    Capabilities,
    Permanent,
    Picture,
    Recoverable,
    Refuses,
    SearchWindow,
    SendError,
    UnknownOutcome,
)
from bot.delivery.rate_limiter import UNLIMITED
from bot.settings.channels import address_error
from bot.settings.secrets import SecretError
from collectors.facts.clock import Clock
from collectors.facts.sentences import listed, said_by, sentence

MAX_RETRY_AFTER = timedelta(minutes=10)  # a wrong header must not silence a channel for days
UNREADABLE = frozenset({400, 413, 414, 415, 422, 431})  # this body is refused; another one may not be
AT_ONCE = 8  # the only limit: a receiver that wants another answers 429


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookEndpoint:
    """An address. `url` and `headers` read their secrets at each call, and raise SecretError."""

    url: Callable[[], str]
    headers: Callable[[], Mapping[str, str]] = dict
    tls: ssl.SSLContext | bool = True
    timeout: timedelta = field(default=timedelta(seconds=7))


class WebhookNotifier:
    """A Notifier of `bot/delivery/notifier_protocol.py`; its channels are the endpoints by name."""

    capabilities = Capabilities(facts=True, at_once=AT_ONCE, limits=UNLIMITED)

    def __init__(
        self, session: aiohttp.ClientSession, endpoints: Mapping[str, WebhookEndpoint], *, clock: Clock
    ) -> None:
        self._session = session
        self._endpoints = endpoints
        self._clock = clock
        self._since = clock.now()

    async def post(
        self,
        channel: str,
        content: Message | Text,
        *,
        thread: str | None = None,
        nonce: str,
        broadcast: bool = False,
    ) -> str:
        endpoint = self._endpoints.get(channel)
        if endpoint is None:
            raise Permanent(
                sentence("the settings have no channel webhook:{channel}", channel=channel),
                refuses=Refuses.CHANNEL,
            )
        if not isinstance(content, Message) or content.facts is None:
            raise Permanent(sentence("a webhook takes incidents only"))
        await self._send(channel, endpoint, payload_of(content.facts, receiver=channel))
        return nonce

    async def send_heartbeat(self, channel: str) -> None:
        """Post the alert that always fires. Raises SendError."""
        await self._send(channel, self._endpoints[channel], heartbeat_body(channel, since=self._since))

    async def edit(self, channel: str, message_id: str, message: Message) -> None:
        _not_capable()

    async def find(self, channel: str, nonce: str, window: SearchWindow, thread: str | None = None) -> None:
        _not_capable()

    async def delete(self, channel: str, message_id: str) -> None:
        _not_capable()

    async def upload(self, channel: str, picture: Picture, *, thread: str) -> str:
        _not_capable()

    async def _send(self, channel: str, endpoint: WebhookEndpoint, body: bytes) -> None:
        name = f"webhook {channel}"
        try:
            url = endpoint.url()
            if error := address_error(url):
                raise Permanent(
                    sentence("{webhook}: its address {problem}", webhook=name, problem=error),
                    refuses=Refuses.CHANNEL,
                )
            async with self._session.post(
                url,
                data=body,
                headers={"Content-Type": "application/json", **endpoint.headers()},
                ssl=endpoint.tls,
                timeout=aiohttp.ClientTimeout(total=endpoint.timeout.total_seconds()),
                allow_redirects=False,  # a redirect would get the credentials
            ) as answer:
                if not 200 <= answer.status < 300:
                    pause = _pause(answer.headers.get("Retry-After", ""), self._clock.now())
                    raise _refusal(name, answer.status, pause)
        except SecretError as error:  # a secret's file, which the error names
            raise Permanent(listed((name, said_by(error)), ":"), refuses=Refuses.CHANNEL) from error
        except aiohttp.ClientConnectorCertificateError:
            reason = sentence("{webhook}: its certificate cannot be verified", webhook=name)
            raise Permanent(reason, refuses=Refuses.CHANNEL) from None
        except aiohttp.ClientConnectorError:
            raise Recoverable(sentence("{webhook}: it cannot be reached", webhook=name)) from None
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            raise UnknownOutcome(
                sentence("{webhook}: no answer ({error})", webhook=name, error=type(error).__name__)
            ) from None


def _refusal(name: str, status: int, pause: timedelta | None) -> SendError:
    reason = f"{name}: {status}"
    if status in (408, 425, 429) or (status >= 500 and pause is not None):
        return Recoverable(reason, retry_after=pause)
    if status >= 500:
        return UnknownOutcome(reason)
    if status in UNREADABLE:
        return Permanent(reason)
    return Permanent(reason, refuses=Refuses.CHANNEL)


def _pause(retry_after: str, now: datetime) -> timedelta | None:
    """Return what Retry-After asks for, in seconds or as a date of the receiver's clock; None if it says nothing."""
    try:
        asked = timedelta(seconds=float(retry_after))
    except (ValueError, OverflowError):
        try:
            asked = parsedate_to_datetime(retry_after) - now
        except (ValueError, TypeError, OverflowError):
            return None
    return max(timedelta(), min(asked, MAX_RETRY_AFTER))


def _not_capable() -> NoReturn:
    raise Permanent(sentence("a webhook can only be posted to"))
