"""Placement of pods on servers: GPU allocation and membership in trainings."""

from __future__ import annotations

from datetime import datetime, timedelta

from demo.world.shared_services import DnsReplica, PodKey
from demo.world.state import Body, Gpu, Phase, Role, State, Training


class NoCapacityError(Exception):
    """The device plugin cannot allocate the requested GPUs. The text is the kubelet's."""


def place(state: State, body: Body, *, gpus: int = 0, started: datetime | None = None) -> None:
    """Start `body` on its node with `gpus` whole GPUs. Raises NoCapacityError as the kubelet's admission does."""
    if body.node not in state.hosts:
        raise KeyError(f"pod {body.key} is bound to {body.node!r}, which is not a node of this world")
    free = [gpu for gpu in state.hosts[body.node].gpus if gpu.pod is None and gpu.is_usable]
    if len(free) < gpus:
        raise NoCapacityError(
            "Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. "
            f"Requested: {gpus}, Available: {len(free)}, which is unexpected"
        )
    for gpu in free[:gpus]:
        gpu.pod = body.key
    body.gpus = tuple(gpu.index for gpu in free[:gpus])
    body.started = started or state.now
    state.bodies[body.key] = body
    if body.role is Role.DNS:
        state.dns.servers[body.key] = DnsReplica(key=body.key)


def join(
    state: State, body: Body, *, ranks: int, tasks: int, step_seconds: float, run_for: timedelta | None
) -> None:
    """Add a worker to its training. The first worker creates it."""
    if body.training is None:
        return
    training = state.trainings.get(body.training)
    if training is None or training.phase in (Phase.FAILED, Phase.FINISHED):
        training = Training(key=body.training, step_base=step_seconds, run_for=run_for, since=state.now)
        training.team = body.metadata.get("team", "")
        training.owner = body.metadata.get("owner", "")
        state.trainings[body.training] = training
    training.ranks, training.tasks = ranks, tasks


def remove(state: State, key: PodKey) -> None:
    """Remove a pod from its server and free its GPUs. Unknown pods are ignored."""
    body = state.bodies.pop(key, None)
    state.dns.servers.pop(key, None)
    if body is not None:
        release(state, body)


def release(state: State, body: Body) -> None:
    """Free the GPUs of a pod whose process has ended."""
    for gpu in state.gpus_of(body):
        if gpu.pod == body.key:
            _idle(gpu)
    body.gpus = ()


def _idle(gpu: Gpu) -> None:
    gpu.pod = None
    gpu.utilisation = gpu.tensor = 0.0
    gpu.memory_used = 4.0
