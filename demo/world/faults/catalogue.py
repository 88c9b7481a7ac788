"""This file is the list of what can go wrong, by name, and the faults that last now."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from demo.world.faults.fault import Fault, UnknownFaultError
from demo.world.faults.gpus import Cooling, GpuDeviceMissing, Idle, Xid
from demo.world.faults.hosts import CpuBurn, DiskFill, KubeletSilent, MemoryLeak
from demo.world.faults.services import CoreDNSErrorsHigh, DnsLoad, ErrorBurst, NeverSeenError
from demo.world.faults.storage import OsdDown, VolumeFormat
from demo.world.state import Happening, State

FAULTS: Mapping[str, type[Fault]] = {
    "cooling": Cooling,
    "xid": Xid,
    "kubelet_silent": KubeletSilent,
    "memory_leak": MemoryLeak,
    "dns_load": DnsLoad,
    "dns_errors": CoreDNSErrorsHigh,
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
    lasting: timedelta | None  # how long until it mends by itself
    age: timedelta = timedelta()


@dataclass(slots=True)
class Faults:
    """The faults that last now. Start and end them by name; they may be told when to mend by themselves."""

    state: State
    running: list[Running] = field(default_factory=list)
    told: list[Happening] = field(default_factory=list)

    def start(self, name: str, /, *, lasting: timedelta | None = None, **parameters: object) -> Fault:
        """Start a fault now; `lasting` is when it mends by itself. Raises UnknownFaultError."""
        kind = FAULTS.get(name)
        if kind is None:
            raise UnknownFaultError(f"no fault {name!r}; there are {', '.join(sorted(FAULTS))}")
        try:
            fault = kind(**parameters)
        except TypeError as error:
            takes = (
                ", ".join(f.name for f in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ""
            )
            raise UnknownFaultError(f"fault {name!r} takes {takes}: {error}") from error
        self.told += fault.begin(self.state)
        self.running.append(Running(fault, name, self.state.now, lasting))
        return fault

    def end(self, which: str | Fault) -> None:
        """End a fault, or all of this name. Ending what does not last is no error."""
        for running in [r for r in self.running if which in (r.name, r.fault)]:
            self.running.remove(running)
            self.told += running.fault.end(self.state)

    def tick(self, dt: timedelta) -> list[Happening]:
        """What the faults add in the step that just ended at `state.now`, and the end of those that mend themselves."""
        told, self.told = self.told, []
        for running in list(self.running):
            running.age += dt
            if running.lasting is not None and running.age >= running.lasting:
                self.running.remove(running)
                told += running.fault.end(self.state)
            else:
                told += running.fault.go_on(self.state, running.age, dt)
        return told
