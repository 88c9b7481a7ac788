"""The webhooks of the settings that steps call: signed, bounded, and without a secret in any error."""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

import aiohttp

from bot.channels.http_posting import a_session
from bot.settings.schema import Settings
from bot.settings.section import TlsConfig, secret
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from collectors.transport_words import why_no_answer
from commands.core.reboots import REBOOT_HOOK
from commands.execution.hooks import (
    ID_HEADER,
    SIGNATURE_HEADER,
    TIME_HEADER,
    HookAnswer,
    NoHooks,
    signature_of_call,
)

MAX_ANSWER = 4 << 10  # bytes that are read
_PASSES = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One webhook. The secrets are read again when their files change; both raise SourceError."""

    url: Callable[[], str]
    secret: Callable[[], str]
    timeout: timedelta = timedelta(seconds=7)
    tls: ssl.SSLContext | bool = True


class HookCaller:
    """Posts to the webhooks, by name. A session is opened for each call: they are few."""

    def __init__(self, hooks: Mapping[str, Hook], clock: Clock) -> None:
        self._hooks = hooks
        self._clock = clock

    async def call(self, hook: str, *, id: str, body: bytes) -> HookAnswer:
        if (one := self._hooks.get(hook)) is None:
            return await NoHooks().call(hook, id=id, body=body)
        time = f"{self._clock.now():%Y-%m-%dT%H:%M:%SZ}"
        headers = {
            "Content-Type": "application/json",
            ID_HEADER: id,
            TIME_HEADER: time,
            SIGNATURE_HEADER: signature_of_call(one.secret(), time, body),
        }
        limit = aiohttp.ClientTimeout(total=one.timeout.total_seconds())
        try:
            async with (
                a_session() as session,
                session.post(
                    one.url(), data=body, headers=headers, ssl=one.tls, timeout=limit, allow_redirects=False
                ) as answer,
            ):
                text = (await answer.content.read(MAX_ANSWER)).decode(errors="replace")
        except aiohttp.ClientConnectorError:
            raise SourceError(sentence("webhook `{hook}` cannot be reached", hook=hook), status=503) from None
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            reason = sentence(
                "webhook `{hook}` gave no answer: {reason}", hook=hook, reason=why_no_answer(error)
            )
            raise SourceError(reason) from None
        if 200 <= answer.status < 300:
            return HookAnswer(status=answer.status, text=text)
        reason = sentence(
            "webhook `{hook}` answered {status}: {text}",
            hook=hook,
            status=str(answer.status),
            text=text or sentence("nothing"),
        )
        passes = answer.status >= 500 or answer.status in _PASSES
        raise SourceError(reason, status=answer.status, temporary=passes)


def hooks_of(settings: Settings) -> Mapping[str, Hook]:
    """Return the webhooks that steps call, by name. Raises ValueError for TLS files that cannot be used."""
    if (one := settings.reboot.webhook) is None:
        return {}
    url, signs = secret(one.url, one.url_file), secret(one.signing_secret, one.signing_secret_file)
    assert url is not None
    assert signs is not None
    try:
        tls = _context(one.tls_config)
    except (OSError, ssl.SSLError) as error:
        raise ValueError(f"reboot.webhook.tls_config: {error}") from error
    return {REBOOT_HOOK: Hook(url=url, secret=signs, timeout=one.timeout, tls=tls)}


def _context(tls: TlsConfig) -> ssl.SSLContext | bool:
    if tls == TlsConfig():
        return True
    context = ssl.create_default_context(cafile=tls.ca_file or None)
    if tls.cert_file:
        context.load_cert_chain(tls.cert_file, tls.key_file or None)
    if tls.insecure_skip_verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
