"""Webhooks that a step calls: the port, and how a call is signed. The receiver gets the same id for each retry."""

import hmac
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence

ID_HEADER, TIME_HEADER, SIGNATURE_HEADER = "X-Yardmaster-Id", "X-Yardmaster-Time", "X-Yardmaster-Signature"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookAnswer:
    """An answer of 200 to 299. `text` is as it came: it is cleaned where it is shown."""

    status: int
    text: str


class Hooks(Protocol):
    async def call(self, hook: str, *, id: str, body: bytes) -> HookAnswer:
        """Post the body to the webhook of this name. Raises SourceError for every other answer, and without one."""
        ...


class NoHooks:
    """Of settings without webhooks."""

    async def call(self, hook: str, *, id: str, body: bytes) -> HookAnswer:
        reason = sentence("the settings have no webhook `{hook}`", hook=hook)
        raise SourceError(reason, temporary=False, status=404)


def signature_of_call(secret: str, time: str, body: bytes) -> str:
    """Return the HMAC-SHA256 over `time.body`, as the header has it: `sha256=<hex>`."""
    digest = hmac.new(secret.encode(), time.encode() + b"." + body, sha256).hexdigest()
    return f"sha256={digest}"
