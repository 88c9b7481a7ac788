"""The faults by name, and the active ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from demo.world.faults.fault import Fault, UnknownFaultError
from demo.world.faults.gpus import Cooling, GpuDeviceMissing, Idle, Xid
from demo.world.faults.hosts import CpuBurn, DiskFill, KubeletSilent, MemoryLeak, RackPower
from demo.world.faults.services import DnsErrors, DnsLoad, ErrorBurst, NeverSeenError
from demo.world.faults.storage import OsdDown, VolumeFormat
from demo.world.state import State, WorldEvent

FAULTS: Mapping[str, type[Fault]] = {
    "cooling": Cooling,
    "xid": Xid,
    "kubelet_silent": KubeletSilent,
    "rack_power": RackPower,
    "memory_leak": MemoryLeak,
    "dns_load": DnsLoad,
    "dns_errors": DnsErrors,
    "idle": Idle,
    "error_burst": ErrorBurst,
    "never_seen_error": NeverSeenError,
    "cpu_burn": CpuBurn,
    "disk_fill": DiskFill,
    "osd_down": OsdDown,
    "uvm_missing": GpuDeviceMissing,
    "volume_format": VolumeFormat,
}


@dataclass(slots=True)
class Running:
    fault: Fault
    name: str
    since: datetime
    lasting: timedelta | None  # after which it ends by itself
    age: timedelta = timedelta()


@dataclass(slots=True)
class Faults:
    """The active faults. Start and end them by name, or start them with a duration."""

    state: State
    running: list[Running] = field(default_factory=list)
    events: list[WorldEvent] = field(default_factory=list)

    def start(self, name: str, /, *, lasting: timedelta | None = None, **parameters: object) -> Fault:
        """Start a fault; it ends by itself after `lasting`. Raises UnknownFaultError."""
        kind = FAULTS.get(name)
        if kind is None:
            raise UnknownFaultError(f"no fault {name!r}; choose from {', '.join(sorted(FAULTS))}")
        try:
            fault = kind(**parameters)
        except TypeError as error:
            takes = (
                ", ".join(f.name for f in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ""
            )
            raise UnknownFaultError(f"fault {name!r} takes {takes}: {error}") from error
        self.events += fault.begin(self.state)
        self.running.append(Running(fault, name, self.state.now, lasting))
        return fault

    def end(self, which: str | Fault) -> None:
        """End a fault, or all faults of this name. Faults that are not active are ignored."""
        for running in [r for r in self.running if which in (r.name, r.fault)]:
            self.running.remove(running)
            self.events += running.fault.end(self.state)

    def tick(self, dt: timedelta) -> list[WorldEvent]:
        """Return the faults' events for the step that ended at `state.now`, and end faults whose time is over."""
        events, self.events = self.events, []
        for running in list(self.running):
            running.age += dt
            if running.lasting is not None and running.age >= running.lasting:
                self.running.remove(running)
                events += running.fault.end(self.state)
            else:
                events += running.fault.tick(self.state, running.age, dt)
        return events
