"""A client of an Alertmanager that stays: its silences, read and written over its API, version 2."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
import msgspec

from alerts.silences import Silence
from bot.receiving.silence_wire import WireMatcher, WireSilence
from collectors.facts.results import SourceError
from collectors.readable_json import json_decoded
from collectors.transport_words import why_no_answer

_LIMIT = aiohttp.ClientTimeout(total=10)
_MOST = 32 << 20  # bytes of an answer
_silences = msgspec.json.Decoder(list[WireSilence])


class AlertmanagerError(Exception):
    """The Alertmanager did not do it. The text says why, without secrets."""


class AlertmanagerRefusedError(AlertmanagerError):
    """It answered, and refused this one request: another may do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertmanagerClient:
    """`headers` returns what authorizes a request; it may raise SourceError."""

    url: str
    headers: Callable[[], Mapping[str, str]] = dict

    async def silences(self) -> Sequence[WireSilence]:
        """Return all silences that it has. Raises AlertmanagerError."""
        body = await self._request("GET", "silences")
        try:
            return json_decoded(_silences.decode, body)
        except msgspec.DecodeError as error:
            raise AlertmanagerError(f"its silences cannot be read: {error}") from error

    async def put(self, silence: Silence, comment: str) -> str:
        """Add a silence of ours, or change its counterpart there. Return that one's id. Raises AlertmanagerError."""
        body = WireSilence(
            matchers=[WireMatcher.of(one) for one in silence.matchers],
            starts_at=silence.starts_at,
            ends_at=silence.ends_at,
            comment=comment,
            created_by=silence.by_name or silence.by,
            id=silence.there,
        )
        fields: dict[str, Any] = msgspec.to_builtins(body)
        del fields["status"]
        answer = await self._request("POST", "silences", msgspec.json.encode(fields))
        try:
            return str(msgspec.json.decode(answer)["silenceID"])
        except (msgspec.DecodeError, KeyError, TypeError) as error:
            raise AlertmanagerRefusedError("it did not say which silence it added") from error

    async def expire(self, id: str) -> None:
        """End a silence. Raises AlertmanagerError."""
        await self._request("DELETE", f"silence/{id}")

    async def _request(self, method: str, path: str, body: bytes | None = None) -> bytes:
        try:
            async with (
                aiohttp.ClientSession(timeout=_LIMIT, trust_env=False) as session,
                session.request(
                    method,
                    f"{self.url.rstrip('/')}/api/v2/{path}",
                    data=body,
                    headers={"Content-Type": "application/json", **self.headers()},
                    allow_redirects=False,
                ) as answer,
            ):
                found = await _whole(answer.content)
                if answer.status != 200:
                    said = found[:200].decode(errors="replace").strip()
                    raise AlertmanagerRefusedError(f"it answered {answer.status}: {said}")
                return found
        except SourceError as error:  # a secret cannot be read
            raise AlertmanagerError(str(error)) from error
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError
            raise AlertmanagerError(str(why_no_answer(error))) from error


async def _whole(content: aiohttp.StreamReader) -> bytes:
    """Read to the end: one read returns what has arrived by then."""
    found = bytearray()
    async for part in content.iter_any():
        found += part
        if len(found) > _MOST:
            raise AlertmanagerError(f"its answer is longer than {_MOST} bytes")
    return bytes(found)
