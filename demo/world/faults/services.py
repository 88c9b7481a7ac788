"""This file is what goes wrong with what the cluster offers to all: names and components that print errors."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from demo.world.faults.fault import Quiet, host_of
from demo.world.state import Happening, Role, State


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsLoad(Quiet):
    """A training of `tasks` tasks starts and every task looks up every other."""

    tasks: int = 640

    def begin(self, state: State) -> list[Happening]:
        state.extra_tasks = self.tasks
        return []

    def go_on(self, state: State, age: timedelta, dt: timedelta) -> list[Happening]:
        if state.names.lost <= 0.01 or int(age.total_seconds()) % 5:
            return []
        speakers = [b for b in state.bodies.values() if b.role is Role.WORKER]
        state.rng.shuffle(speakers)
        return [Happening(at=state.now, what="name-failed", node=b.node, pod=b.key) for b in speakers[:4]]

    def end(self, state: State) -> list[Happening]:
        state.extra_tasks = 0
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreDNSErrorsHigh(Quiet):
    """The resolvers that CoreDNS forwards to fail for a share of queries. Cluster names still work."""

    share: float = 0.5

    def begin(self, state: State) -> list[Happening]:
        state.names.upstream_broken = self.share
        return []

    def end(self, state: State) -> list[Happening]:
        state.names.upstream_broken = 0.0
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBurst(Quiet):
    """A component prints its usual error many times a second."""

    component: str = "kubelet"
    node: str = "gpu-a01"
    per_second: float = 20.0

    def begin(self, state: State) -> list[Happening]:
        host_of(state, self.node)
        return []

    def go_on(self, state: State, age: timedelta, dt: timedelta) -> list[Happening]:
        count = min(200, max(1, round(self.per_second * dt.total_seconds())))
        facts = {"component": self.component}
        return [
            Happening(at=state.now, what="component-error", node=self.node, facts=facts) for _ in range(count)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverSeenError(Quiet):
    """A component prints an error that nobody has seen before, on one node or on two."""

    component: str = "containerd"
    node: str = "gpu-a01"
    also: str | None = None
    text: str = "shim reaper lost track of cgroup {id}: freezer state THAWED while kill pending"
    every: float = 4.0  # s

    def begin(self, state: State) -> list[Happening]:
        for node in (self.node, self.also):
            if node is not None:
                host_of(state, node)
        return []

    def go_on(self, state: State, age: timedelta, dt: timedelta) -> list[Happening]:
        if state.rng.random() > dt.total_seconds() / self.every:
            return []
        facts = {
            "component": self.component,
            "text": self.text.replace("{id}", f"{state.rng.getrandbits(48):012x}"),
        }
        nodes = [node for node in (self.node, self.also) if node is not None]
        return [Happening(at=state.now, what="component-says", node=node, facts=facts) for node in nodes]
