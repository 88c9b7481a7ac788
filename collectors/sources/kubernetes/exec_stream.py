"""Running a program in a container: the websocket of `pods/exec`, in the subprotocol v5.channel.k8s.io.

Each binary message begins with the number of its channel. Source: k8s.io/apimachinery, pkg/util/remotecommand;
k8s.io/client-go, tools/remotecommand/websocket.go; Kubernetes 1.30 to 1.37.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import aiohttp
import msgspec

from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from collectors.sources.kubernetes.api_status import error_text
from collectors.sources.kubernetes.client import KubernetesClient

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")  # the same without a stream from us
MOST = 256 << 10  # bytes that are kept of what a program prints
_STDOUT, _STDERR, _ERROR = 1, 2, 3
_LARGEST = 1 << 20  # bytes of one message
_BROKEN = (aiohttp.ClientError, asyncio.TimeoutError, OSError)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecOutput:
    """What a program printed, both streams in the order in which they came, and its exit code."""

    text: str
    exit_code: int
    is_cut: bool = False  # more was printed than is kept


async def run_in_container(
    client: KubernetesClient,
    namespace: str,
    pod: str,
    container: str,
    command: Sequence[str],
    *,
    seconds: float,
    headers: Iterable[tuple[str, str]] = (),
) -> ExecOutput:
    """Run a program and return what it printed. Raises KubernetesError if it is refused, SourceError if it is lost."""
    query = [("command", part) for part in command]
    query += [("container", container), ("stdout", "true"), ("stderr", "true")]
    where = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(pod, safe='')}/exec"
    path = f"{where}?{urlencode(query)}"
    try:
        async with asyncio.timeout(seconds):
            return await _streamed(client, path, tuple(headers))
    except aiohttp.WSServerHandshakeError as refusal:
        # Its answer has a reason, which the client of websockets does not read: the same request without one has it.
        await client.call("GET", path, headers=headers)
        raise SourceError(
            sentence(
                "{where} answered {status} to a websocket: something in between, such as a proxy, may not pass it on",
                where=client.where,
                status=refusal.status,
            ),
            temporary=False,
        ) from refusal
    except _BROKEN as failure:
        raise SourceError(error_text(failure, client.where, seconds)) from failure


async def _streamed(client: KubernetesClient, path: str, headers: tuple[tuple[str, str], ...]) -> ExecOutput:
    session, sent = await client.websockets("GET", path, headers)
    sent.pop("Content-Type", None)
    printed, size, status = bytearray(), 0, None
    url = str(client.api.configuration.host).rstrip("/") + path
    async with session.ws_connect(
        url, headers=sent, protocols=PROTOCOLS, max_msg_size=_LARGEST, heartbeat=20
    ) as stream:
        async for message in stream:
            if message.type is not aiohttp.WSMsgType.BINARY or not message.data:
                continue
            channel, content = message.data[0], message.data[1:]
            if channel in (_STDOUT, _STDERR):
                size += len(content)
                printed += content[: max(0, MOST - len(printed))]
            elif channel == _ERROR:
                status = content
    if status is None:
        raise SourceError(sentence("{where} ended the connection before the program did", where=client.where))
    text = printed.decode(errors="replace")
    return ExecOutput(text=text, exit_code=_exit_code(status, client.where), is_cut=size > len(printed))


def _exit_code(status: bytes, where: str) -> int:
    """Return the exit code that a Status has. Raises SourceError for one that says that nothing was run."""
    try:
        found = msgspec.json.decode(status, type=dict[str, Any])
    except msgspec.DecodeError as failure:
        raise SourceError(
            sentence("{where} did not say how the program ended", where=where), temporary=False
        ) from failure
    if found.get("status") == "Success":
        return 0
    details = found.get("details")
    causes = details.get("causes") if isinstance(details, dict) else None
    for cause in causes if isinstance(causes, list) else ():
        if (
            isinstance(cause, dict)
            and cause.get("reason") == "ExitCode"
            and str(cause.get("message")).isdecimal()
        ):
            return int(str(cause["message"])[:5])
    raise SourceError(str(found.get("message") or found.get("reason") or ""), temporary=False)
