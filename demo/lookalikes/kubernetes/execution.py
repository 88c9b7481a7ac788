"""Programs in containers: the websocket of `pods/exec`, as an API server and a kubelet answer it."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.errors import RefusedError, bad_request
from demo.lookalikes.kubernetes.objects import dig
from demo.lookalikes.kubernetes.requests import ResourceRequest

# (namespace, pod, container, command) -> (what it prints, its exit code); None: the runtime finds no such program
Execs = Callable[[str, str, str, tuple[str, ...]], Awaitable[tuple[bytes, int] | None]]
PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_STDOUT, _ERROR = b"\x01", b"\x03"
_PIECE = 4096  # bytes of a message, so that long outputs come in several


async def run_exec(
    cluster: Cluster, execs: Execs | None, parsed: ResourceRequest, request: web.Request
) -> web.StreamResponse:
    """Run the program and stream what it prints, or refuse as the real server does."""
    pod = cluster.get(parsed.kind, parsed.namespace, parsed.name).tree
    spec = pod["spec"]
    names = [one["name"] for key in ("containers", "ephemeralContainers") for one in spec.get(key) or ()]
    container = request.query.get("container") or names[0]
    if container not in names:
        raise bad_request(f"container {container} is not valid for pod {parsed.name}")
    if not spec.get("nodeName"):
        raise bad_request(f"pod {parsed.name} does not have a host assigned")
    if request.headers.get("Upgrade", "").lower() != "websocket":
        raise RefusedError(400, "BadRequest", "Upgrade request required")
    if dig(pod, "status", "phase") in ("Succeeded", "Failed"):
        raise RefusedError(
            500,
            "InternalError",
            f"cannot exec in a stopped container {container} of a pod in phase {dig(pod, 'status', 'phase')}",
        )
    stream = web.WebSocketResponse(protocols=PROTOCOLS)
    await stream.prepare(request)
    command = tuple(request.query.getall("command", []))
    said = await execs(parsed.namespace, parsed.name, container, command) if execs else None
    if said is None:
        missing = f'exec: "{command[0]}": executable file not found in $PATH: unknown'
        await stream.send_bytes(_ERROR + _status(message=f"error executing command in container: {missing}"))
    else:
        printed, code = said
        for at in range(0, len(printed), _PIECE):
            await stream.send_bytes(_STDOUT + printed[at : at + _PIECE])
        await stream.send_bytes(_ERROR + (_status() if code == 0 else _exited(code)))
    await stream.close()
    return stream


def _exited(code: int) -> bytes:
    causes = [{"reason": "ExitCode", "message": str(code)}]
    message = f"command terminated with non-zero exit code: exit status {code}"
    return _status(message=message, reason="NonZeroExitCode", details={"causes": causes})


def _status(*, message: str = "", reason: str = "", **more: Any) -> bytes:
    if not message:
        return json.dumps({"metadata": {}, "status": "Success"}).encode()
    return json.dumps(
        {"metadata": {}, "status": "Failure", "message": message, "reason": reason, **more}
    ).encode()
