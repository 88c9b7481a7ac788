"""The alert that weighs least in an incident that has as many as it may have: the next one to make room."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from heapq import heapify, heappop, heappush

from alerts.incidents.incident import Member

Weight = tuple[bool, int, datetime]


def weight_of(member: Member) -> Weight:
    """The order for dropping alerts when there are too many: what may hold it open outweighs, then severity counts."""
    is_over = not member.is_firing and (not member.proofs or member.proven is not None)
    return not is_over, member.severity.rank, member.since


class LeastMembers:
    """A heap of alerts by weight, of equal ones the first that was added. What changed since is skipped."""

    def __init__(self, members: Iterable[Member]) -> None:
        self._places = {member.alert: place for place, member in enumerate(members)}
        self._heap: list[tuple[Weight, int, str]] = []
        for member in members:
            self._heap.append((weight_of(member), self._places[member.alert], member.alert))
        heapify(self._heap)

    def add(self, member: Member) -> None:
        """Add an alert, or one that changed."""
        place = self._places.setdefault(member.alert, len(self._places))
        heappush(self._heap, (weight_of(member), place, member.alert))

    def of(self, members: Mapping[str, Member]) -> Member:
        """Return the one of these that weighs least. All of them must have been added."""
        while True:
            weight, _, id = self._heap[0]
            member = members.get(id)
            if member is not None and weight_of(member) == weight:
                return member
            heappop(self._heap)
