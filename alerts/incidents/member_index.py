"""The alerts of an incident within a cycle, found by their rule, name, XID, volume and twin."""

from collections import Counter
from collections.abc import Iterable, Iterator, ValuesView

from alerts.incidents.incident import Member
from alerts.incidents.least_members import LeastMembers, weight_of
from alerts.incidents.twin import is_received


class MemberIndex:
    """The members by their alert's id, each found at a cost that does not grow with the others."""

    def __init__(self, members: Iterable[Member]) -> None:
        self._members: dict[str, Member] = {}
        self._rules: Counter[str] = Counter()
        self._names: dict[str, dict[str, None]] = {}  # alert name -> ids
        self._xids: dict[str, None] = {}  # ids of alerts about one
        self._volumes: dict[str, dict[str, None]] = {}  # volume -> ids of log lines about it
        # The id of an alert of ours -> that of its twin, which is a member instead.
        self._twin_ids: dict[str, str] = {}
        self._least: LeastMembers | None = None
        for member in members:
            self.put(member)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, alert: str) -> bool:
        return alert in self._members

    def get(self, alert: str) -> Member | None:
        return self._members.get(alert)

    def values(self) -> ValuesView[Member]:
        return self._members.values()

    @property
    def has_xids(self) -> bool:
        return bool(self._xids)

    def about_xids(self) -> Iterator[Member]:
        return (self._members[id] for id in self._xids)

    def named(self, name: str) -> Iterator[Member]:
        return (self._members[id] for id in self._names.get(name, ()))

    def lines_about(self, volume: str) -> Iterator[Member]:
        """Yield the log lines about a volume."""
        return (self._members[id] for id in self._volumes.get(volume, ()))

    def has_rule(self, rule: str) -> bool:
        return self._rules[rule] > 0

    def stands_for(self, alert: str) -> bool:
        """Whether the twin of this alert of ours is a member in its place."""
        return alert in self._twin_ids

    def twin_of(self, alert: str) -> Member | None:
        """Return the member that came first and is the twin of this alert of ours."""
        return self._members.get(self._twin_ids.get(alert, ""))

    def put(self, member: Member) -> None:
        """Add a member, or replace what it was."""
        if member.alert not in self._members:
            self._rules[member.rule] += 1
        self._members[member.alert] = member
        if is_received(member.rule) and member.twin:
            self._twin_ids[member.twin] = member.alert
        self._names.setdefault(member.name, {})[member.alert] = None
        if member.xid:
            self._xids[member.alert] = None
        if member.is_logged and member.subject.volume:
            self._volumes.setdefault(member.subject.volume, {})[member.alert] = None
        if self._least is not None:
            self._least.add(member)

    def drop(self, member: Member) -> None:
        del self._members[member.alert], self._names[member.name][member.alert]
        self._twin_ids.pop(member.twin, None)
        self._xids.pop(member.alert, None)
        self._volumes.get(member.subject.volume, {}).pop(member.alert, None)
        self._rules[member.rule] -= 1

    def lighter_than(self, member: Member) -> Member | None:
        """Return the member that weighs least, if that is less than a new one."""
        if self._least is None:
            self._least = LeastMembers(self._members.values())
        least = self._least.of(self._members)
        return None if weight_of(member)[:2] <= weight_of(least)[:2] else least
