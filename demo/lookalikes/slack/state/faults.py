"""Injected faults: errors, lost and late replies, and an outage."""

from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Fault:
    """A fault of the next `times` calls of one method."""

    method: str
    times: int
    #: Reply with this error without executing the call.
    error: str | None = None
    #: Reply with this HTTP status without executing the call.
    status: int | None = None
    #: Seconds for a Retry-After header.
    retry_after: int | None = None
    #: Execute the call without a reply: the connection is dropped, or kept open with `hold`.
    lose_reply: bool = False
    hold: bool = False
    #: Drop the connection without executing the call.
    lose_call: bool = False
    #: Seconds to wait before executing the call, even if the caller has disconnected by then.
    late: float = 0.0


@dataclass(slots=True)
class Faults:
    """The pending faults, oldest first."""

    ordered: list[Fault] = field(default_factory=list)
    #: Seconds of delay for every response.
    latency: float = 0.0
    #: None when up, else "refused" (connections close) or "503".
    down: str | None = None

    def order(self, fault: Fault) -> None:
        """Add a fault. `*` as method means any."""
        self.ordered.append(fault)

    def next_for(self, method: str) -> Fault | None:
        """Return the fault for this call, if any, and count its use."""
        for fault in self.ordered:
            if fault.method in (method, "*"):
                fault.times -= 1
                if fault.times <= 0:
                    self.ordered.remove(fault)
                return fault
        return None
