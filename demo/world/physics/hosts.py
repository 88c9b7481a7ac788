"""Servers: CPU, memory, disk and network use, and the kernel's OOM killer."""

from __future__ import annotations

from demo.world.layout import GIB
from demo.world.state import Body, Host, Phase, State, WorldEvent

BASE_CORES = 1.4  # used by the system itself
BASE_MEMORY = 14 * GIB
LAST_MEMORY = 0.008  # share of memory available below which the OOM killer runs
DISK_PRESSURE = 0.90  # kubelet's hard default: nodefs.available < 10 %


def run(state: State, host: Host, bodies: list[Body], seconds: float) -> list[WorldEvent]:
    """Advance one server by `seconds`. `bodies` are its pods."""
    if not host.powered:
        return []
    alive = [body for body in bodies if body.exit is None]
    _cores(state, host, alive, seconds)
    _traffic(state, host, alive, seconds)
    for body in alive:
        body.leak = min(body.leak_limit, max(0.0, body.leak + body.leak_rate * seconds))
        body.cpu_seconds += body.cpus * seconds / max(1.0, host.cpu_demand)
    host.memory_used = BASE_MEMORY + sum(body.memory + body.leak for body in alive)
    host.disk_used = min(
        float(host.spec.disk), max(0.05 * host.spec.disk, host.disk_used + host.fill_rate * seconds)
    )
    if host.memory_available < LAST_MEMORY * host.spec.memory and alive:
        return [_kill(state, host, alive)]
    return []


def _cores(state: State, host: Host, alive: list[Body], seconds: float) -> None:
    wanted = BASE_CORES + sum(body.cpus for body in alive) + host.burn * host.spec.cpus
    host.cpu_demand = wanted / host.spec.cpus
    host.busy = min(0.995, max(0.01, host.cpu_demand * (1 + state.rng.gauss(0, 0.02))))
    host.load += (wanted * (1 + state.rng.gauss(0, 0.03)) - host.load) * min(1.0, seconds / 60)
    spent = host.cpu_seconds
    spent["iowait"] += host.iowait * seconds
    spent["irq"] += 0.0004 * seconds
    spent["softirq"] += 0.004 * seconds
    spent["system"] += host.busy * 0.16 * seconds
    spent["user"] += host.busy * 0.83 * seconds
    spent["idle"] += max(0.0, 1 - host.busy - host.iowait - 0.0044) * seconds
    host.context_switches += 90_000 * (0.5 + host.busy) * seconds


def _traffic(state: State, host: Host, alive: list[Body], seconds: float) -> None:
    stepping = sum(
        1 for b in alive if b.training and (t := state.trainings.get(b.training)) and t.phase is Phase.RUNNING
    )
    rate = (2e6 + stepping * 1.9e9) * (1 + state.rng.gauss(0, 0.05))
    host.received += rate * seconds
    host.sent += rate * 0.94 * seconds
    host.read_bytes += (3e6 + stepping * 2.2e8) * seconds
    host.written_bytes += (4e6 + host.fill_rate + stepping * 2e7) * seconds
    host.io_seconds += min(1.0, 0.01 + stepping * 0.06 + host.fill_rate / 2.5e9) * seconds
    host.page_faults += (2 + host.busy * 20) * seconds


def _kill(state: State, host: Host, alive: list[Body]) -> WorldEvent:
    victim = max(alive, key=lambda body: body.memory + body.leak)
    gone = victim.memory + victim.leak
    victim.exit, victim.exit_reason = 137, "OOMKilled"
    victim.leak = victim.leak_rate = 0.0
    host.oom_kills += 1
    facts = {"bytes": f"{gone:.0f}", "uid": victim.uid, "container": victim.container}
    return WorldEvent(at=state.now, what="oom", node=host.name, pod=victim.key, facts=facts)
