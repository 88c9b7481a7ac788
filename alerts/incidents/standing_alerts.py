"""Counts over the alerts of one incident, kept up to date alert by alert: what fires, what stands, and which XIDs."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from alerts.incidents.crashes import is_hardware
from alerts.incidents.incident import Incident, Member
from alerts.rules import Severity


class StandingAlerts:
    """What holds an incident open. `header` is the incident: of it only whether it is open, since when and of what."""

    def __init__(self, header: Incident, members: Iterable[Member]) -> None:
        self._header = header
        self._severities: Counter[Severity] = Counter()  # of those that stand
        self._gravities: Counter[int] = Counter()  # of those that stand
        self._nodes: defaultdict[int, Counter[str]] = defaultdict(
            Counter
        )  # of XIDs that programs cause, by XID
        self.hardware: dict[str, None] = {}  # ids of those that stand for an XID which only hardware causes
        self.firing = 0
        self.awaiting = 0  # a proof, and they no longer fire
        for member in members:
            self.add(member)

    def add(self, member: Member) -> None:
        self._count(member, 1)
        if is_hardware(member) and self._header.stands(member):
            self.hardware[member.alert] = None

    def remove(self, member: Member) -> None:
        self._count(member, -1)
        self.hardware.pop(member.alert, None)

    def _count(self, member: Member, by: int) -> None:
        self.firing += by * member.is_firing
        if member.proofs:
            self.awaiting += by * self._header.awaits_proof(member)
        if not self._header.stands(member):
            return
        self._severities[member.severity] += by
        self._gravities[member.gravity] += by
        if member.xid and not is_hardware(member):
            self._nodes[member.xid][member.subject.node] += by

    @property
    def severity(self) -> Severity | None:
        """The highest of those that stand; None if none does."""
        return next((one for one in Severity if self._severities[one] > 0), None)

    @property
    def gravity(self) -> int:
        """The gravest of those that stand; 0 if none does."""
        return max((gravity for gravity, count in self._gravities.items() if count > 0), default=0)

    @property
    def nodes(self) -> Iterable[Collection[str]]:
        """The nodes that reported each XID that stands and that programs can cause."""
        return ([node for node, count in nodes.items() if count] for nodes in self._nodes.values())
