"""This file turns what a Kubernetes API server refuses, or fails to say, into errors that help."""

import asyncio
import ssl
from collections.abc import Mapping
from datetime import timedelta

import aiohttp
import msgspec

from collectors.facts.results import SourceError

_LONGEST_MESSAGE = 400  # characters; a 422 may hold the whole object


class KubernetesError(SourceError):
    """The API server said no. `reason` is its word (Conflict, AlreadyExists, Forbidden, Expired, ...)."""

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
        self.message = message  # the server's own sentence
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
    """The object that Kubernetes answers with when it refuses; also the body of a watch's ERROR line."""

    message: str = ""
    reason: str = ""
    code: int = 0
    details: Details | None = None


_status = msgspec.json.Decoder(Status)


def error_of(
    status: int, body: bytes, headers: Mapping[str, str], where: str, attempt: str
) -> KubernetesError:
    """The error for an answer that is not 2xx. `attempt` is the method and the path."""
    try:
        said = _status.decode(body)
    except msgspec.DecodeError:  # a proxy's page, or plain text
        said = Status(message="" if body[:1] == b"<" else body[:200].decode(errors="replace").strip())
    return error_from(said, where, attempt, status=status, headers=headers)


def error_from(
    said: Status,
    where: str,
    attempt: str,
    *,
    status: int = 0,
    headers: Mapping[str, str] | None = None,
) -> KubernetesError:
    """The error for a Status, as in a refused call or in a watch's ERROR line."""
    status = status or said.code
    details = said.details or Details()
    message = said.message if len(said.message) <= _LONGEST_MESSAGE else said.message[:_LONGEST_MESSAGE] + "…"
    advice = {
        401: "the credentials are not valid (any more): check the token or certificate of the kubeconfig",
        403: "grant this right to the account in a ClusterRole or Role",
        404: "it does not exist, or the cluster does not serve this kind",
        409: "somebody changed it meanwhile, or it exists already: read it again",
        410: "the version asked for is too old: list again",
        429: "it limits our requests, or a disruption budget forbids it now",
    }.get(status, "look at the API server" if status >= 500 else "correct the request")
    words = f": {message}" if message else ""
    seconds = details.retry_after_seconds or _seconds((headers or {}).get("Retry-After", ""))
    return KubernetesError(
        f"{where} answered {status} to {attempt}{words}; {advice}",
        status=status,
        reason=said.reason,
        message=message,
        causes=tuple((cause.field or cause.reason, cause.message) for cause in details.causes or ()),
        retry_after=timedelta(seconds=seconds) if seconds else None,
    )


def words_of(failure: BaseException, where: str, patience: float) -> str:
    """What to tell of a request that got no answer."""
    if isinstance(failure, aiohttp.ClientConnectorCertificateError | ssl.SSLError):
        return f"{where} shows a certificate that the kubeconfig's authority has not signed"
    if isinstance(failure, aiohttp.ClientProxyConnectionError):
        return f"{where} cannot be reached through its proxy"
    if isinstance(failure, aiohttp.ClientConnectorError):
        return f"{where} cannot be reached ({failure.os_error.strerror or failure.os_error}): is the API server up?"
    if isinstance(failure, asyncio.TimeoutError):
        return f"{where} gave no whole answer within {patience:g} s"
    if isinstance(failure, aiohttp.ClientPayloadError):
        return f"{where} broke its answer off in the middle"
    return f"the connection to {where} broke: {type(failure).__name__}"


def _seconds(text: str) -> int:
    return int(text) if text.isdigit() else 0
