"""`pods/log`, answered from a callback of the simulated world, with the real server's refusals."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.errors import bad_request
from demo.lookalikes.kubernetes.objects import dig, moment_of
from demo.lookalikes.kubernetes.requests import ResourceRequest

# (namespace, pod, container, tail lines, previous, since) -> the text, or None when the container has none.
Logs = Callable[[str, str, str, int | None, bool, datetime | None], Awaitable[bytes | None] | bytes | None]


async def read_log(cluster: Cluster, logs: Logs | None, request: ResourceRequest, now: datetime) -> bytes:
    """Return a container's log as the query limits it, or refuse with 400 or 404 as the real server does."""
    pod = cluster.get(request.kind, request.namespace, request.name).tree
    spec = pod.get("spec") or {}
    names = [c["name"] for c in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ()))]
    container = request.query.get("container") or _only_container(request.name, spec)
    if container not in names:
        raise bad_request(f"container {container} is not valid for pod {request.name}")
    previous = request.query.get("previous") in ("1", "true")
    if not spec.get("nodeName"):
        return b""
    waiting = _waiting_reason(pod, container)
    if waiting and not previous:
        raise bad_request(f'container "{container}" in pod "{request.name}" is waiting to start: {waiting}')
    tail = request.query.get("tailLines")
    found = logs(request.namespace, request.name, container, int(tail) if tail else None, previous,
                 _since(request.query, now)) if logs else None  # fmt: skip
    text = await found if isinstance(found, Awaitable) else found
    if text is None:
        if previous:
            raise bad_request(
                f'previous terminated container "{container}" in pod "{request.name}" not found'
            )
        return b""
    if tail:
        lines = text.splitlines(keepends=True)
        text = b"".join(lines[max(len(lines) - int(tail), 0) :])
    if limit := request.query.get("limitBytes"):
        text = text[: int(limit)]
    return text


def _only_container(pod: str, spec: dict[str, object]) -> str:
    containers = spec.get("containers")
    names = [c["name"] for c in containers] if isinstance(containers, list) else []
    if len(names) == 1:
        return str(names[0])
    raise bad_request(f"a container name must be specified for pod {pod}, choose one of: [{' '.join(names)}]")


def _waiting_reason(pod: dict[str, object], container: str) -> str:
    for status in dig(pod, "status", "containerStatuses") or ():
        if status.get("name") == container and (waiting := dig(status, "state", "waiting")) is not None:
            return str(waiting.get("reason", "ContainerCreating"))
    return ""


def _since(query: dict[str, str], now: datetime) -> datetime | None:
    if seconds := query.get("sinceSeconds"):
        return now - timedelta(seconds=int(seconds))
    return moment_of(query.get("sinceTime"))
