"""One step of the whole cluster, causes before effects."""

from __future__ import annotations

from datetime import datetime, timedelta

from demo.world.physics import dns, heat, hosts, storage, trainings
from demo.world.state import Body, State, WorldEvent

FINEST = 5.0  # s per substep while a GPU is hot, to follow its clock governor


def step(state: State, dt: timedelta, *, at: datetime | None = None) -> list[WorldEvent]:
    """Advance `state` by `dt` and return its events. The only randomness is `state.rng`.

    `at` is the time afterwards, for a world that runs faster than the clock; by default `dt` later than before.
    """
    state.now = state.now + dt if at is None else at
    seconds = dt.total_seconds()
    events: list[WorldEvent] = []
    events += dns.answer(state, seconds)
    for training in list(state.trainings.values()):
        events += trainings.advance(state, training, seconds)
        if trainings.is_gone(state, training):
            del state.trainings[training.key]
    on: dict[str, list[Body]] = {name: [] for name in state.hosts}
    for body in state.bodies.values():
        on[body.node].append(body)
    for host in state.hosts.values():
        events += hosts.run(state, host, on[host.name], seconds)
        for gpu in host.gpus:
            left = seconds
            while left > 0:
                part = min(left, FINEST) if gpu.temperature > heat.SLOWDOWN - 12 else left
                heat.warm(host, gpu, seconds=part, now=state.now, rng=state.rng)
                left -= part
    storage.store(state, seconds)
    return events
