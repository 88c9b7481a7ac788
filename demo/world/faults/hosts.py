"""This file is what goes wrong with whole servers: power, memory, cores, disks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from demo.world.faults.fault import Quiet, UnknownFaultError, host_of
from demo.world.state import Body, Happening, State


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeletSilent(Quiet):
    """A kubelet says nothing any more. With `power` off the whole server is dark: exporters and logs too."""

    node: str
    power: bool = False  # whether the server still has power

    def begin(self, state: State) -> list[Happening]:
        host = host_of(state, self.node)
        host.kubelet_alive, host.powered = False, self.power
        return []

    def end(self, state: State) -> list[Happening]:
        host = host_of(state, self.node)
        back = not host.powered
        host.kubelet_alive = host.powered = True
        if back:
            host.booted = state.now
        return [Happening(at=state.now, what="kubelet-start", node=self.node)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLeak(Quiet):
    """A pod of the node takes memory until the kernel kills it. Without a name: the largest pod there.

    `share`: how much of what was free it takes in the end; below 1 it stops there.
    """

    node: str
    pod: str | None = None
    minutes: float = 4.0
    share: float = 1.0

    def _victim(self, state: State) -> Body | None:
        here = [b for b in state.bodies.values() if b.node == self.node and b.exit is None]
        named = [b for b in here if self.pod in (b.key.name, f"{b.key.namespace}/{b.key.name}")]
        if self.pod is not None:
            return named[0] if named else None
        return max(here, key=lambda body: body.memory, default=None)

    def begin(self, state: State) -> list[Happening]:
        host = host_of(state, self.node)
        victim = self._victim(state)
        if victim is None:
            raise UnknownFaultError(f"no pod {self.pod or ''} runs on {self.node}, so none can leak")
        victim.leak_rate = host.memory_available / (self.minutes * 60)
        victim.leak_most = host.memory_available * self.share if self.share < 1 else math.inf
        return []

    def end(self, state: State) -> list[Happening]:
        for body in state.bodies.values():
            if body.node == self.node:
                body.leak_rate = body.leak = 0.0
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuBurn(Quiet):
    """Something outside of pods takes cores; everybody on the server waits for theirs."""

    node: str
    share: float = 0.7

    def begin(self, state: State) -> list[Happening]:
        host_of(state, self.node).burn = self.share
        return []

    def end(self, state: State) -> list[Happening]:
        host_of(state, self.node).burn = 0.0
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFill(Quiet):
    """Something writes to the root file system until it is full. Ending it removes what was written."""

    node: str
    minutes: float = 5.0

    def begin(self, state: State) -> list[Happening]:
        host = host_of(state, self.node)
        host.fill_rate = (host.spec.disk - host.disk_used) / (self.minutes * 60)
        return []

    def end(self, state: State) -> list[Happening]:
        host = host_of(state, self.node)
        host.fill_rate = 0.0
        host.disk_used = min(host.disk_used, 0.41 * host.spec.disk)
        return []
