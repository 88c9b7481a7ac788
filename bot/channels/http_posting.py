"""Posts to the servers of others, and what each answer means. Neither the address nor a header is in an error."""

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

import aiohttp

from bot.delivery.notifier_protocol import Permanent, Recoverable, Refuses, SendError, UnknownOutcome
from collectors.facts.clock import Clock
from collectors.facts.sentences import sentence
from collectors.transport_words import why_no_answer

MAX_RETRY_AFTER = timedelta(minutes=10)  # a wrong header must not silence a channel for days
UNREADABLE = frozenset({400, 413, 414, 415, 422, 431})  # this body is refused; another one may not be
MAX_REFUSAL = 4 << 10  # bytes that are read of one
TIMEOUT = timedelta(seconds=7)  # of one request


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpPost:
    """One request. `name` is how errors call whom it goes to.

    `refuses_all`: what an answer 400 says where the whole channel is refused, and not this body.
    """

    name: str
    url: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | bool = True
    timeout: timedelta = TIMEOUT
    refuses_all: re.Pattern[bytes] | None = None


def a_session() -> aiohttp.ClientSession:
    """Return a session for such posts: channels do not wait for each other, and nothing of the environment applies."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,  # ~/.netrc and the proxy variables
    )


async def send_post(session: aiohttp.ClientSession, post: HttpPost, clock: Clock) -> None:
    """Send the JSON body. Raises only SendError."""
    name = post.name
    try:
        async with session.post(
            post.url,
            data=post.body,
            headers={"Content-Type": "application/json", **post.headers},
            ssl=post.tls,
            timeout=aiohttp.ClientTimeout(total=post.timeout.total_seconds()),
            allow_redirects=False,  # a redirect would get the credentials
        ) as answer:
            if answer.status == 400 and post.refuses_all is not None:
                said = await answer.content.read(MAX_REFUSAL)
                if post.refuses_all.search(said):
                    raise Permanent(f"{name}: {answer.status}", refuses=Refuses.CHANNEL)
            if not 200 <= answer.status < 300:
                raise refusal(name, answer.status, answer.headers.get("Retry-After", ""), clock.now())
    except aiohttp.ClientConnectorCertificateError:
        reason = sentence("{receiver}: its certificate cannot be verified", receiver=name)
        raise Permanent(reason, refuses=Refuses.CHANNEL) from None
    except aiohttp.ClientConnectorError:
        raise Recoverable(sentence("{receiver}: it cannot be reached", receiver=name)) from None
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
        raise UnknownOutcome(
            sentence("{receiver}: no answer: {reason}", receiver=name, reason=why_no_answer(error))
        ) from None


def refusal(name: str, status: int, retry_after: str, now: datetime) -> SendError:
    """Return what an answer other than 200 to 299 means."""
    reason, pause = f"{name}: {status}", _pause(retry_after, now)
    if status in (408, 425, 429) or (status >= 500 and pause is not None):
        return Recoverable(reason, retry_after=pause, is_answer=True)
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
