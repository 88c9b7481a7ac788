"""A fault that keeps coming back after it was proven over: another repair would not help. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from alerts.incidents.incident import Incident, Member

WITHIN = timedelta(days=7)
OFTEN = 2  # repairs within that time, after which the part is to be replaced


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """An alert that stands although its fault was proven over so many times before."""

    member: Member
    repairs: int


def returned(incident: Incident, earlier: Iterable[Incident]) -> Returned | None:
    """Return the alert that came back after the most repairs within the time, if they were enough.

    `earlier`: the incidents of the same object. An alert is the same if its labels are, so a GPU with the same XID.
    """
    since = incident.began_at - WITHIN
    repairs = Counter(
        member.alert
        for one in earlier
        if one.id != incident.id
        for member in one.members
        if member.proven is not None and not member.proven.is_gone and member.proven.at >= since
    )
    found = [Returned(member=one, repairs=repairs[one.alert]) for one in incident.standing if one.proofs]
    worst = max(found, key=lambda one: one.repairs, default=None)
    return worst if worst is not None and worst.repairs >= OFTEN else None
