"""This file is what goes wrong with GPUs and their cooling."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from demo.world.faults.fault import Quiet, UnknownFaultError, host_of, training_of
from demo.world.layout import kernel_pci
from demo.world.state import ENDS_GPU, INLET, Happening, Host, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooling(Quiet):
    """Fans of one server slow down, or the air into a whole rack is hot."""

    node: str | None = None
    rack: str | None = None
    fans: float = 0.33
    inlet: float = 51.0  # °C, for a rack

    def _hosts(self, state: State) -> list[Host]:
        if self.node is not None:
            return [host_of(state, self.node)]
        there = [host for host in state.hosts.values() if host.spec.rack == self.rack and host.spec.gpus]
        if not there:
            raise UnknownFaultError(f"cooling needs a node or a rack; {self.rack!r} is no rack here")
        return there

    def begin(self, state: State) -> list[Happening]:
        for host in self._hosts(state):
            if self.node is not None:
                host.fans = self.fans
            else:
                host.inlet = self.inlet
        return []

    def end(self, state: State) -> list[Happening]:
        for host in self._hosts(state):
            host.fans, host.inlet = 1.0, INLET
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Xid(Quiet):
    """A GPU reports an XID. What that stops depends on its number. Ending it is the repair: reset, or another card."""

    node: str
    gpu: int
    xid: int = 79

    def begin(self, state: State) -> list[Happening]:
        host = host_of(state, self.node)
        if not 0 <= self.gpu < len(host.gpus):
            raise UnknownFaultError(
                f"{self.node} has {len(host.gpus)} GPUs, numbered from 0; there is no GPU {self.gpu}"
            )
        card = host.gpus[self.gpu]
        card.xid = self.xid
        card.xids.append((state.now, self.xid))
        card.dead = self.xid == 79
        if self.xid in (48, 95):
            card.double_bit += 1
        process = str(4000 + self.gpu * 37)
        facts = {
            "xid": str(self.xid),
            "pci": kernel_pci(self.gpu),
            "pid": process,
            "busy": "yes" if card.pod else "",
        }
        told = [Happening(at=state.now, what="xid", node=self.node, gpu=self.gpu, pod=card.pod, facts=facts)]
        if self.xid in ENDS_GPU:
            told.append(
                Happening(at=state.now, what="gpu-unhealthy", node=self.node, gpu=self.gpu, facts=facts)
            )
        return told

    def end(self, state: State) -> list[Happening]:
        card = host_of(state, self.node).gpus[self.gpu]
        card.dead, card.xid, card.temperature = False, 0, INLET + 6
        card.xids.clear()
        return [Happening(at=state.now, what="gpu-back", node=self.node, gpu=self.gpu)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle(Quiet):
    """A training holds its GPUs and computes nothing, until the fault ends or somebody stops it."""

    training: str

    def begin(self, state: State) -> list[Happening]:
        training_of(state, self.training).asleep = True
        return []

    def end(self, state: State) -> list[Happening]:
        for training in state.trainings.values():
            if self.training in (
                training.key.namespace,
                training.key.name,
                training.key.name.removesuffix("-worker"),
            ):
                training.asleep = False
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuDeviceMissing(Quiet):
    """`/dev/nvidia-uvm` is gone from a node: what runs goes on, nothing new starts."""

    node: str

    def begin(self, state: State) -> list[Happening]:
        host_of(state, self.node)
        return [Happening(at=state.now, what="uvm-missing", node=self.node)]

    def go_on(self, state: State, age: timedelta, dt: timedelta) -> list[Happening]:
        if state.rng.random() > dt.total_seconds() / 20:
            return []
        return [Happening(at=state.now, what="uvm-missing", node=self.node)]
