"""This file moves the whole cluster on by a moment, in the order in which causes reach effects."""

from __future__ import annotations

from datetime import datetime, timedelta

from demo.world.physics import heat, hosts, names, storage, trainings
from demo.world.state import Body, Happening, State

FINEST = 5.0  # s: while something is hot the governor is followed this finely


def step(state: State, dt: timedelta, *, at: datetime | None = None) -> list[Happening]:
    """Move `state` on by `dt` and return what happened. The only randomness is `state.rng`.

    `at` is the moment that it then is, for a world that runs faster than the clock; normally `dt` later than before.
    """
    state.now = state.now + dt if at is None else at
    seconds = dt.total_seconds()
    told: list[Happening] = []
    told += names.answer(state, seconds)
    for training in list(state.trainings.values()):
        told += trainings.advance(state, training, seconds)
        if trainings.forget(state, training):
            del state.trainings[training.key]
    on: dict[str, list[Body]] = {name: [] for name in state.hosts}
    for body in state.bodies.values():
        on[body.node].append(body)
    for host in state.hosts.values():
        told += hosts.run(state, host, on[host.name], seconds)
        for gpu in host.gpus:
            left = seconds
            while left > 0:
                part = min(left, FINEST) if gpu.temperature > heat.SLOWDOWN - 12 else left
                heat.warm(host, gpu, seconds=part, now=state.now, rng=state.rng)
                left -= part
    storage.store(state, seconds)
    return told
