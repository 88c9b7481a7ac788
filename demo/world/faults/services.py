"""Faults of cluster services: DNS, and components that log errors."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from demo.world.faults.fault import BaseFault, host_of
from demo.world.state import Role, State, WorldEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsLoad(BaseFault):
    """A training with `tasks` tasks starts, and every task looks up every other."""

    tasks: int = 640

    def begin(self, state: State) -> list[WorldEvent]:
        state.extra_tasks = self.tasks
        return []

    def tick(self, state: State, age: timedelta, dt: timedelta) -> list[WorldEvent]:
        if state.dns.lost <= 0.01 or int(age.total_seconds()) % 5:
            return []
        workers = [b for b in state.bodies.values() if b.role is Role.WORKER]
        state.rng.shuffle(workers)
        return [WorldEvent(at=state.now, what="lookup-failed", node=b.node, pod=b.key) for b in workers[:4]]

    def end(self, state: State) -> list[WorldEvent]:
        state.extra_tasks = 0
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsErrors(BaseFault):
    """The resolvers that CoreDNS forwards to fail for a share of queries. Cluster names still resolve."""

    share: float = 0.5

    def begin(self, state: State) -> list[WorldEvent]:
        state.dns.upstream_broken = self.share
        return []

    def end(self, state: State) -> list[WorldEvent]:
        state.dns.upstream_broken = 0.0
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBurst(BaseFault):
    """A component logs its usual error many times a second."""

    component: str = "kubelet"
    node: str = "gpu-a01"
    per_second: float = 20.0

    def begin(self, state: State) -> list[WorldEvent]:
        host_of(state, self.node)
        return []

    def tick(self, state: State, age: timedelta, dt: timedelta) -> list[WorldEvent]:
        count = min(200, max(1, round(self.per_second * dt.total_seconds())))
        facts = {"component": self.component}
        return [
            WorldEvent(at=state.now, what="component-error", node=self.node, facts=facts)
            for _ in range(count)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverSeenError(BaseFault):
    """A component logs an error that has not occurred before, on one or two nodes."""

    component: str = "containerd"
    node: str = "gpu-a01"
    also: str | None = None
    text: str = "shim reaper lost track of cgroup {id}: freezer state THAWED while kill pending"
    every: float = 4.0  # s

    def begin(self, state: State) -> list[WorldEvent]:
        for node in (self.node, self.also):
            if node is not None:
                host_of(state, node)
        return []

    def tick(self, state: State, age: timedelta, dt: timedelta) -> list[WorldEvent]:
        if state.rng.random() > dt.total_seconds() / self.every:
            return []
        facts = {
            "component": self.component,
            "text": self.text.replace("{id}", f"{state.rng.getrandbits(48):012x}"),
        }
        nodes = [node for node in (self.node, self.also) if node is not None]
        return [WorldEvent(at=state.now, what="component-log", node=node, facts=facts) for node in nodes]
