"""Trainings: ranks join, step at the pace of the slowest, hang when one is stuck, and end."""

from __future__ import annotations

import math
from datetime import timedelta

from demo.world.layout import GIB
from demo.world.state import Body, Phase, Role, State, Training, WorldEvent

CHECKPOINT_EVERY = timedelta(minutes=10)
PROGRESS_EVERY = timedelta(seconds=15)
COMPLAIN_EVERY = timedelta(seconds=10)  # as TensorFlow repeats its line
SESSION_SECONDS = 8.0  # s to set up a session when every name resolves
LOOKUPS = 5  # queries per peer's name, search list included
START_WINDOW = 150.0  # s over which a wide training spreads its lookups
# XIDs that end the process on the GPU; other XIDs leave it running.
ENDS_PROCESS = frozenset({8, 13, 31, 32, 43, 94, 109})


def is_sick(state: State, body: Body) -> bool:
    """Whether a GPU of this rank has failed."""
    return any(not gpu.is_usable for gpu in state.gpus_of(body))


def pace(state: State, training: Training, ranks: list[Body]) -> float:
    """Seconds per step: the base over the slowest GPU's throttle, times the CPU overcommitment."""
    slowest = min((gpu.throttle for body in ranks for gpu in state.gpus_of(body)), default=1.0)
    demand = max((state.hosts[body.node].cpu_demand for body in ranks), default=0.0)
    return training.step_base / max(0.05, slowest) * max(1.0, demand)


def advance(state: State, training: Training, seconds: float) -> list[WorldEvent]:
    """Advance one training by `seconds` and set the load of its GPUs and CPUs."""
    ranks = state.ranks_of(training.key)
    training.lasted += seconds
    training.unsaved += seconds
    events: list[WorldEvent] = []
    if training.phase not in (Phase.FAILED, Phase.FINISHED):
        events = _advance_phase(state, training, ranks, seconds)
    _load(state, training, ranks)
    return events


def _advance_phase(state: State, training: Training, ranks: list[Body], seconds: float) -> list[WorldEvent]:
    now = state.now
    if len(ranks) < training.ranks:
        return _lose_ranks(state, training, ranks)
    match training.phase:
        case Phase.WAITING:
            training.enter(Phase.STARTING, now)
            training.lookups_left = float(training.tasks**2 * LOOKUPS)
            return [WorldEvent(at=now, what="starting", node=b.node, pod=b.key) for b in ranks]
        case Phase.STARTING:
            return _start(state, training, ranks, seconds)
        case Phase.STALLED:
            return _hang(state, training, ranks)
        case Phase.IDLE:
            if not training.asleep:
                training.enter(Phase.RUNNING, now)
            return []
        case _:
            return _run(state, training, ranks, seconds)


def _lose_ranks(state: State, training: Training, ranks: list[Body]) -> list[WorldEvent]:
    """Elastic training: the remaining ranks return to the last checkpoint and wait for the missing one."""
    if training.phase is Phase.WAITING:
        return []
    training.enter(Phase.WAITING, state.now)
    training.steps = training.checkpoint_steps
    return [WorldEvent(at=state.now, what="rank-lost", node=b.node, pod=b.key) for b in ranks]


def wanted_lookups(training: Training) -> float:
    """DNS queries/s of a training; zero unless it is starting."""
    if training.phase is not Phase.STARTING:
        return 0.0
    total = training.tasks**2 * LOOKUPS
    return total / (START_WINDOW if training.tasks > 100 else SESSION_SECONDS)


def _start(state: State, training: Training, ranks: list[Body], seconds: float) -> list[WorldEvent]:
    answered = max(0.0, 1 - 20 * state.dns.lost)  # with one query in twenty lost, no session completes
    training.lookups_left = max(0.0, training.lookups_left - wanted_lookups(training) * answered * seconds)
    if training.lookups_left <= 0 and training.lasted >= SESSION_SECONDS:
        training.enter(Phase.RUNNING, state.now)
        training.checkpoint_at = training.checkpoint_at or state.now
        return [WorldEvent(at=state.now, what="session", node=b.node, pod=b.key) for b in ranks]
    if state.dns.lost > 0.01 and state.now - training.logged_at >= COMPLAIN_EVERY:
        training.logged_at = state.now
        failing = ranks[: max(3, int(len(ranks) * state.dns.lost))]
        return [WorldEvent(at=state.now, what="lookup-failed", node=b.node, pod=b.key) for b in failing]
    return []


def _run(state: State, training: Training, ranks: list[Body], seconds: float) -> list[WorldEvent]:
    now = state.now
    if training.asleep:
        training.enter(Phase.IDLE, now)
        return []
    for body in ranks:
        if is_sick(state, body):
            training.culprit = body.key
            training.enter(Phase.STALLED, now)
            return [WorldEvent(at=now, what="cuda-error", node=body.node, pod=body.key)]
        if any(
            gpu.xid in ENDS_PROCESS and gpu.xids and gpu.xids[-1][0] >= training.since
            for gpu in state.gpus_of(body)
        ):
            return _fail(state, training, ranks, code=1, first=body)
    training.step_seconds = pace(state, training, ranks) * (1 + state.rng.gauss(0, 0.006))
    training.steps += seconds / training.step_seconds
    training.ran += seconds
    training.loss = 1.6 + 5.4 * math.exp(-training.steps / 6000) + state.rng.gauss(0, 0.02)
    events: list[WorldEvent] = []
    if now - training.logged_at >= PROGRESS_EVERY:
        training.logged_at = now
        facts = {
            "step": f"{training.steps:.0f}",
            "loss": f"{training.loss:.4f}",
            "seconds": f"{training.step_seconds:.3f}",
        }
        events += [WorldEvent(at=now, what="step", node=b.node, pod=b.key, facts=facts) for b in ranks[:1]]
    if training.checkpoint_at is None or training.unsaved >= CHECKPOINT_EVERY.total_seconds():
        training.unsaved = 0.0
        training.checkpoint_at, training.checkpoint_steps = now, training.steps
        events.append(
            WorldEvent(
                at=now,
                what="checkpoint",
                node=ranks[0].node,
                pod=ranks[0].key,
                facts={"step": f"{training.steps:.0f}"},
            )
        )
    if training.run_for is not None and training.ran >= training.run_for.total_seconds():
        training.enter(Phase.FINISHED, now)
        for body in ranks:
            body.exit, body.exit_reason = 0, "Completed"
        events.append(WorldEvent(at=now, what="finished", node=ranks[0].node, pod=ranks[0].key))
    return events


def _hang(state: State, training: Training, ranks: list[Body]) -> list[WorldEvent]:
    culprit = next((body for body in ranks if body.key == training.culprit), None)
    if culprit is not None and not is_sick(state, culprit):  # repaired in time: the collective completes
        training.enter(Phase.RUNNING, state.now)
        return []
    if training.lasted < state.watchdog.total_seconds():
        return []
    return _fail(state, training, ranks, code=134, first=culprit or ranks[0])


def _fail(state: State, training: Training, ranks: list[Body], *, code: int, first: Body) -> list[WorldEvent]:
    """End all ranks: the first with its own error, the others because it is gone."""
    training.enter(Phase.FAILED, state.now)
    events: list[WorldEvent] = []
    for body in ranks:
        body.exit, body.exit_reason = code, "Error"
        what = "watchdog" if code == 134 else "cuda-crash" if body is first else "peer-gone"
        events.append(
            WorldEvent(at=state.now, what=what, node=body.node, pod=body.key, facts={"rank": str(body.rank)})
        )
    return events


def _load(state: State, training: Training, ranks: list[Body]) -> None:
    """Set GPU and CPU load by phase. Ranks that wait for a slower one spin: utilised with little work."""
    rng = state.rng
    for body in ranks:
        work, spread = 0.56, 1.2
        match training.phase:
            case Phase.RUNNING:
                util, cores, held = 97.0, 4.2, 0.86
                work *= min(1.0, training.step_base / max(training.step_seconds, training.step_base))
            case Phase.STALLED:
                sick = body.key == training.culprit
                util, work, cores, held = (0.0 if sick else 100.0), 0.0, 1.0, 0.86
                spread = 0.0
            case Phase.STARTING:
                util, work, cores, held = 3.0, 0.0, 2.0, 0.2
            case Phase.IDLE:
                util, work, cores, held, spread = 0.0, 0.0, 0.05, 0.86, 0.0
            case _:
                util, work, cores, held, spread = 0.0, 0.0, 0.2, 0.03, 0.0
        body.cpus = cores
        body.memory = 64 * GIB if training.phase is not Phase.WAITING else 8 * GIB
        for gpu in state.gpus_of(body):
            if gpu.dead:
                continue
            gpu.utilisation = min(100.0, max(0.0, util + rng.gauss(0, spread))) if spread else util
            gpu.tensor = work
            gpu.memory_used = held * gpu.memory_total


def is_gone(state: State, training: Training) -> bool:
    """Whether no pod of this training is on any node."""
    return not any(b.training == training.key and b.role is not Role.SYSTEM for b in state.bodies.values())
