"""Errors for requests that a Kubernetes API server rejects or does not answer."""

import asyncio
import ssl
from collections.abc import Mapping
from datetime import timedelta

import aiohttp
import msgspec

from collectors.facts.one_line import one_line
from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from collectors.readable_json import json_decoded

_CUT = 400  # characters; a 422 may hold the whole object


class KubernetesError(SourceError):
    """The API server rejected the request. `reason` is that of its Status (Conflict, AlreadyExists, Expired, ...)."""

    def __init__(
        self,
        text: str,
        *,
        status: int,
        reason: str = "",
        message: str = "",
        causes: tuple[tuple[str, str], ...] = (),
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(text, temporary=status >= 500 or status in (408, 429), status=status)
        self.reason = reason
        self.message = message  # as the server wrote it
        self.causes = causes  # (field or reason, message)
        self.retry_after = retry_after


class Cause(msgspec.Struct, frozen=True):
    reason: str = ""
    message: str = ""
    field: str = ""


class Details(msgspec.Struct, frozen=True, rename="camel"):
    kind: str = ""
    group: str = ""
    causes: tuple[Cause, ...] | None = None
    retry_after_seconds: int = 0


class Status(msgspec.Struct, frozen=True):
    """The object in the response to a rejected request; also the object of a watch's ERROR event."""

    message: str = ""
    reason: str = ""
    code: int = 0
    details: Details | None = None


_status = msgspec.json.Decoder(Status)


def error_of(
    status: int, body: bytes, headers: Mapping[str, str], where: str, attempt: str
) -> KubernetesError:
    """Return the error for a response that is not 2xx. `attempt` is the method and the path."""
    try:
        refusal = json_decoded(_status.decode, body)
    except msgspec.DecodeError:  # a proxy's page, or plain text
        refusal = Status(message="" if body[:1] == b"<" else body[:200].decode(errors="replace").strip())
    return error_from(refusal, where, attempt, status=status, headers=headers)


def error_from(
    refusal: Status, where: str, attempt: str, *, status: int = 0, headers: Mapping[str, str] | None = None
) -> KubernetesError:
    """Return the error for the Status of a rejected request or of a watch's ERROR event."""
    status = status or refusal.code
    details = refusal.details or Details()
    message = one_line(refusal.message, _CUT)
    advice = {
        401: sentence(
            "the credentials are invalid or expired: check the token or certificate of the kubeconfig"
        ),
        403: sentence("grant this permission to the account in a ClusterRole or Role"),
        404: sentence("it does not exist, or the cluster does not serve this kind"),
        409: sentence("it was changed in the meantime, or it already exists: read it again"),
        410: sentence("the requested resourceVersion is too old: list again"),
        429: sentence("it limits the rate of requests, or a disruption budget forbids it now"),
    }.get(status, sentence("check the API server") if status >= 500 else sentence("correct the request"))
    seconds = details.retry_after_seconds or _seconds((headers or {}).get("Retry-After", ""))
    return KubernetesError(
        sentence(
            "{where} answered {status} to {attempt}: {message}; {advice}",
            where=where,
            status=status,
            attempt=attempt,
            message=message,
            advice=advice,
        )
        if message
        else sentence(
            "{where} answered {status} to {attempt}; {advice}",
            where=where,
            status=status,
            attempt=attempt,
            advice=advice,
        ),
        status=status,
        reason=refusal.reason,
        message=message,
        causes=tuple(
            (cause.field or cause.reason, one_line(cause.message, _CUT)) for cause in details.causes or ()
        ),
        retry_after=timedelta(seconds=seconds) if seconds else None,
    )


def error_text(failure: BaseException, where: str, limit: float) -> str:
    """Return the error text for a request without a response; `limit` is its timeout in seconds."""
    if isinstance(failure, aiohttp.ClientConnectorCertificateError | ssl.SSLError):
        return sentence(
            "the certificate of {where} is not signed by the certificate authority in the kubeconfig",
            where=where,
        )
    if isinstance(failure, aiohttp.ClientProxyConnectionError):
        return sentence("{where} cannot be reached through its proxy", where=where)
    if isinstance(failure, aiohttp.ClientConnectorError):
        return sentence(
            "{where} cannot be reached ({error}): is the API server up?",
            where=where,
            error=failure.os_error.strerror or str(failure.os_error),
        )
    if isinstance(failure, asyncio.TimeoutError):
        return sentence("{where} did not answer completely within {limit:g} s", where=where, limit=limit)
    if isinstance(failure, aiohttp.ClientPayloadError):
        return sentence("{where} closed the connection in the middle of the response", where=where)
    return sentence("the connection to {where} failed: {name}", where=where, name=type(failure).__name__)


def _seconds(text: str) -> int:
    return int(text) if text.isdigit() else 0
