"""The PagerDuty notifier: triggers, acknowledges and resolves by the Events API, version 2.

PagerDuty takes a second event with the same key and action as the same, so what may have been lost is sent again.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta

import aiohttp

from bot.channels.http_posting import HttpPost, send_post
from bot.channels.pagerduty.pagerduty_events import actions_of, event_body
from bot.channels.post_only import PostOnly, facts_in, misconfigured
from bot.delivery.notifier_protocol import (
    Capabilities,
    NewMessage,
    unknown_channel,
)
from bot.delivery.rate_limiter import UNLIMITED, RateLimit, RateLimits
from bot.settings.secrets import SecretError
from collectors.facts.clock import Clock
from collectors.facts.sentences import sentence

# 120 events a minute for each integration key; a post of an acknowledged incident is two.
LIMITS = RateLimits(channel=RateLimit(every=timedelta(seconds=1.1), burst=5), methods=UNLIMITED.methods)

_WRONG_KEY = re.compile(
    rb"routing.?key", re.IGNORECASE
)  # "Invalid routing key", as one of the errors of a 400


@dataclass(frozen=True, slots=True, kw_only=True)
class PagerDutyService:
    """An integration. `routing_key` reads its secret at each call, and raises SecretError."""

    url: str
    routing_key: Callable[[], str]


@dataclass(frozen=True, slots=True)
class PagerDutyNotifier(PostOnly):
    """A Notifier of `bot/delivery/notifier_protocol.py`; its channels are the services by name."""

    only_posts = sentence("PagerDuty can only be sent events")
    capabilities = Capabilities(facts=True, limits=LIMITS)

    session: aiohttp.ClientSession
    services: Mapping[str, PagerDutyService]
    _: KW_ONLY
    clock: Clock

    async def post(self, channel: str, new: NewMessage) -> str:
        service = self.services.get(channel)
        if service is None:
            raise unknown_channel(f"pagerduty:{channel}")
        facts = facts_in(new, sentence("PagerDuty takes incidents only"))
        name = f"pagerduty {channel}"
        try:
            key = service.routing_key()
        except SecretError as error:  # a secret's file, which the error names
            raise misconfigured(name, error) from error
        for action in actions_of(facts):
            body = event_body(facts, action, routing_key=key)
            post = HttpPost(name=name, url=service.url, body=body, refuses_all=_WRONG_KEY)
            await send_post(self.session, post, self.clock)
        return new.nonce
