"""This file holds the faults that a test orders: errors, lost answers, late ones, and a Slack that is down."""

from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Fault:
    """What goes wrong with the next `times` calls of one method."""

    method: str
    times: int
    #: Answer with this error and do nothing.
    error: str | None = None
    #: Answer with this HTTP status and do nothing.
    status: int | None = None
    #: Seconds for a Retry-After header.
    retry_after: int | None = None
    #: Do it and never answer: the connection is dropped, or with `hold` left hanging.
    lose_reply: bool = False
    hold: bool = False
    #: Do nothing and drop the connection.
    lose_call: bool = False
    #: Seconds to wait before doing it; the caller may have left by then, and it is done all the same.
    late: float = 0.0


@dataclass(slots=True)
class Faults:
    """The faults that are still ordered, oldest first."""

    ordered: list[Fault] = field(default_factory=list)
    #: Seconds that every answer takes.
    latency: float = 0.0
    #: None, or how it is down: "refused" (connections end) or "503".
    down: str | None = None

    def order(self, fault: Fault) -> None:
        """Let it happen. `*` as method means any."""
        self.ordered.append(fault)

    def next_for(self, method: str) -> Fault | None:
        """The fault that meets this call, if any; it is used up."""
        for fault in self.ordered:
            if fault.method in (method, "*"):
                fault.times -= 1
                if fault.times <= 0:
                    self.ordered.remove(fault)
                return fault
        return None
