"""Faults of whole servers: power, memory, CPU, disks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from demo.world.faults.fault import BaseFault, UnknownFaultError, host_of
from demo.world.state import Body, State, WorldEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeletSilent(BaseFault):
    """A kubelet stops. Without `power` the whole server is off, with its exporters and logs."""

    node: str
    power: bool = False  # whether the server still has power

    def begin(self, state: State) -> list[WorldEvent]:
        host = host_of(state, self.node)
        host.kubelet_alive, host.powered = False, self.power
        return []

    def end(self, state: State) -> list[WorldEvent]:
        host = host_of(state, self.node)
        back = not host.powered
        host.kubelet_alive = host.powered = True
        if back:
            host.booted = state.now
        return [WorldEvent(at=state.now, what="kubelet-start", node=self.node)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RackPower(BaseFault):
    """All servers of a rack that have GPUs are off, with their exporters and logs."""

    rack: str

    def _servers(self, state: State) -> list[KubeletSilent]:
        found = [one for one in state.hosts.values() if one.spec.rack == self.rack and one.spec.gpus]
        if not found:
            raise UnknownFaultError(f"no rack {self.rack!r} with GPUs")
        return [KubeletSilent(node=one.name) for one in found]

    def begin(self, state: State) -> list[WorldEvent]:
        return [event for one in self._servers(state) for event in one.begin(state)]

    def end(self, state: State) -> list[WorldEvent]:
        return [event for one in self._servers(state) for event in one.end(state)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLeak(BaseFault):
    """A pod of the node leaks memory until the kernel kills it. By default it is the largest pod.

    `share` is the share of the free memory to take; below 1 the leak stops there.
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

    def begin(self, state: State) -> list[WorldEvent]:
        host = host_of(state, self.node)
        victim = self._victim(state)
        if victim is None:
            raise UnknownFaultError(f"no pod {self.pod or ''} runs on {self.node}")
        victim.leak_rate = host.memory_available / (self.minutes * 60)
        victim.leak_limit = host.memory_available * self.share if self.share < 1 else math.inf
        return []

    def end(self, state: State) -> list[WorldEvent]:
        for body in state.bodies.values():
            if body.node == self.node:
                body.leak_rate = body.leak = 0.0
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuBurn(BaseFault):
    """A process outside pods takes CPU, and every pod on the server waits for its share."""

    node: str
    share: float = 0.7

    def begin(self, state: State) -> list[WorldEvent]:
        host_of(state, self.node).burn = self.share
        return []

    def end(self, state: State) -> list[WorldEvent]:
        host_of(state, self.node).burn = 0.0
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFill(BaseFault):
    """A process fills the root file system. The end of the fault removes its files."""

    node: str
    minutes: float = 5.0

    def begin(self, state: State) -> list[WorldEvent]:
        host = host_of(state, self.node)
        host.fill_rate = (host.spec.disk - host.disk_used) / (self.minutes * 60)
        return []

    def end(self, state: State) -> list[WorldEvent]:
        host = host_of(state, self.node)
        host.fill_rate = 0.0
        host.disk_used = min(host.disk_used, 0.41 * host.spec.disk)
        return []
