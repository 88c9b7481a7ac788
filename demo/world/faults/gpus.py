"""Faults of GPUs and their cooling."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from demo.world.faults.fault import BaseFault, UnknownFaultError, host_of, training_of
from demo.world.layout import kernel_pci
from demo.world.state import ENDS_GPU, INLET, Host, State, WorldEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooling(BaseFault):
    """The fans of one server slow down, or the inlet air of a whole rack is hot."""

    node: str | None = None
    rack: str | None = None
    fans: float = 0.33
    inlet: float = 51.0  # °C, for a rack

    def _hosts(self, state: State) -> list[Host]:
        if self.node is not None:
            return [host_of(state, self.node)]
        hosts = [host for host in state.hosts.values() if host.spec.rack == self.rack and host.spec.gpus]
        if not hosts:
            raise UnknownFaultError(f"cooling needs a node or a rack; no rack {self.rack!r} with GPUs")
        return hosts

    def begin(self, state: State) -> list[WorldEvent]:
        for host in self._hosts(state):
            if self.node is not None:
                host.fans = self.fans
            else:
                host.inlet = self.inlet
        return []

    def end(self, state: State) -> list[WorldEvent]:
        for host in self._hosts(state):
            host.fans, host.inlet = 1.0, INLET
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Xid(BaseFault):
    """A GPU reports an XID. Its number decides what stops. The end is the repair: a reset or a new GPU."""

    node: str
    gpu: int
    xid: int = 79

    def begin(self, state: State) -> list[WorldEvent]:
        host = host_of(state, self.node)
        if not 0 <= self.gpu < len(host.gpus):
            raise UnknownFaultError(
                f"{self.node} has {len(host.gpus)} GPUs, numbered from 0; there is no GPU {self.gpu}"
            )
        gpu = host.gpus[self.gpu]
        gpu.xid = self.xid
        gpu.xids.append((state.now, self.xid))
        gpu.dead = self.xid == 79
        if self.xid in (48, 95):
            gpu.double_bit += 1
        process = str(4000 + self.gpu * 37)
        facts = {
            "xid": str(self.xid),
            "pci": kernel_pci(self.gpu),
            "pid": process,
            "busy": "yes" if gpu.pod else "",
        }
        events = [
            WorldEvent(at=state.now, what="xid", node=self.node, gpu=self.gpu, pod=gpu.pod, facts=facts)
        ]
        if self.xid in ENDS_GPU:
            events.append(
                WorldEvent(at=state.now, what="gpu-unhealthy", node=self.node, gpu=self.gpu, facts=facts)
            )
        return events

    def end(self, state: State) -> list[WorldEvent]:
        gpu = host_of(state, self.node).gpus[self.gpu]
        gpu.dead, gpu.xid, gpu.temperature = False, 0, INLET + 6
        gpu.xids.clear()
        return [WorldEvent(at=state.now, what="gpu-back", node=self.node, gpu=self.gpu)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle(BaseFault):
    """Trainings hold their GPUs without computing until the fault ends or they are stopped. `also`: another one."""

    training: str
    also: str = ""

    def begin(self, state: State) -> list[WorldEvent]:
        for name in self._names:
            training_of(state, name).asleep = True
        return []

    def end(self, state: State) -> list[WorldEvent]:
        for training in state.trainings.values():
            key = training.key
            if {key.namespace, key.name, key.name.removesuffix("-worker")} & self._names:
                training.asleep = False
        return []

    @property
    def _names(self) -> set[str]:
        return {self.training, self.also} - {""}


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuDeviceMissing(BaseFault):
    """`/dev/nvidia-uvm` is missing on a node: running processes continue, new ones cannot start."""

    node: str

    def begin(self, state: State) -> list[WorldEvent]:
        host_of(state, self.node)
        return [WorldEvent(at=state.now, what="uvm-missing", node=self.node)]

    def tick(self, state: State, age: timedelta, dt: timedelta) -> list[WorldEvent]:
        if state.rng.random() > dt.total_seconds() / 20:
            return []
        return [WorldEvent(at=state.now, what="uvm-missing", node=self.node)]
