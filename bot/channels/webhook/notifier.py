"""The webhook notifier: posts each incident to an address as Alertmanager does.

A receiver takes a second body with the same `groupKey` and alerts as the same, so what may have been lost is posted
again. Neither the address nor a header is in an error: both may hold a secret.
"""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import aiohttp

from bot.channels.http_posting import TIMEOUT, HttpPost, send_post
from bot.channels.post_only import PostOnly, facts_in, misconfigured
from bot.channels.webhook.payload import heartbeat_body, payload_of
from bot.channels.webhook.signing import signed
from bot.delivery.notifier_protocol import (
    Capabilities,
    NewMessage,
    Permanent,
    Refuses,
    unknown_channel,
)
from bot.delivery.rate_limiter import UNLIMITED
from bot.settings.channels import address_error
from bot.settings.secrets import SecretError
from collectors.facts.clock import Clock
from collectors.facts.sentences import sentence

AT_ONCE = 8  # the only limit: a receiver that wants another answers 429


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookEndpoint:
    """An address. `url`, `headers` and `signing_key` read their secrets at each call, and raise SecretError."""

    url: Callable[[], str]
    headers: Callable[[], Mapping[str, str]] = dict
    signing_key: Callable[[], str] = str  # empty: bodies are not signed
    tls: ssl.SSLContext | bool = True
    timeout: timedelta = field(default=TIMEOUT)


class WebhookNotifier(PostOnly):
    """A Notifier of `bot/delivery/notifier_protocol.py`; its channels are the endpoints by name."""

    only_posts = sentence("a webhook can only be posted to")
    capabilities = Capabilities(facts=True, at_once=AT_ONCE, limits=UNLIMITED)

    def __init__(
        self, session: aiohttp.ClientSession, endpoints: Mapping[str, WebhookEndpoint], *, clock: Clock
    ) -> None:
        self._session = session
        self._endpoints = endpoints
        self._clock = clock
        self._since = clock.now()

    async def post(self, channel: str, new: NewMessage) -> str:
        endpoint = self._endpoints.get(channel)
        if endpoint is None:
            raise unknown_channel(f"webhook:{channel}")
        facts = facts_in(new, sentence("a webhook takes incidents only"))
        await self._send(channel, endpoint, payload_of(facts, receiver=channel))
        return new.nonce

    async def send_heartbeat(self, channel: str) -> None:
        """Post the alert that always fires. Raises SendError."""
        await self._send(channel, self._endpoints[channel], heartbeat_body(channel, since=self._since))

    async def _send(self, channel: str, endpoint: WebhookEndpoint, body: bytes) -> None:
        name = f"webhook {channel}"
        try:
            url, headers = endpoint.url(), endpoint.headers()
            key = endpoint.signing_key()
        except SecretError as error:  # a secret's file, which the error names
            raise misconfigured(name, error) from error
        if error_ := address_error(url):
            raise Permanent(
                sentence("{webhook}: its address {problem}", webhook=name, problem=error_),
                refuses=Refuses.CHANNEL,
            )
        signature = signed(body, key, self._clock.now()) if key else {}
        post = HttpPost(
            name=name,
            url=url,
            body=body,
            headers={**headers, **signature},
            tls=endpoint.tls,
            timeout=endpoint.timeout,
        )
        await send_post(self._session, post, self._clock)
