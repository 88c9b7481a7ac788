"""An incident with its first alerts only: those that explain most, one of each kind, and the totals of all. Pure."""

from collections.abc import Iterable
from dataclasses import replace
from heapq import nsmallest
from typing import Any

from alerts.incidents.incident import Incident, Member, explains_most
from alerts.incidents.totals import GroupTotals, Totals
from collectors.facts.stepwise import STEP, Stepwise
from collectors.facts.subjects import Subject

KEPT = 100  # alerts in the incident's document: more than a card shows


def shortened(incident: Incident, most: int = KEPT) -> Stepwise[Incident]:
    """Return the incident with its first alerts only, and with the totals of all. All of them must be given.

    The first ones are those that explain most; of each kind there is one, so that a question of any or of all has
    the same answer.
    """
    if len(incident.members) <= most:
        return replace(incident, totals=None) if incident.totals is not None else incident
    ranked: list[_Ranked] = []
    kinds: dict[tuple[Any, ...], _Ranked] = {}
    for number, member in enumerate(incident.members):
        if number % STEP == 0:
            yield
        entry = _ranked(incident, member)
        ranked.append(entry)
        kind = _kind(incident, member, stands=not entry[0])
        kinds[kind] = min(kinds.get(kind, entry), entry, key=_rank)
    lead = min(ranked, key=_rank)
    alike = [entry for entry in ranked if _is_alike(incident, entry, lead)] or [lead]
    loudest = max(alike, key=lambda entry: _value(entry[3]))
    totals = yield from _totals(incident, alike)
    chosen = dict.fromkeys(entry[2] for entry in (lead, loudest, *nsmallest(most, kinds.values(), key=_rank)))
    for entry in nsmallest(most, ranked, key=_rank):
        chosen.setdefault(entry[2])
    kept = set(list(chosen)[:most])
    members = tuple(member for member in incident.members if member.alert in kept)
    return replace(incident, members=members, totals=totals)


_Ranked = tuple[bool, tuple[Any, ...], str, Member]  # does not stand, what it explains, id


def _ranked(incident: Incident, member: Member) -> _Ranked:
    return not incident.stands(member), explains_most(member), member.alert, member


def _rank(entry: _Ranked) -> tuple[Any, ...]:
    return entry[:3]


def _is_alike(incident: Incident, entry: _Ranked, lead: _Ranked) -> bool:
    """Whether the lead stands for the alert too, as `alike_of` of cards/headline.py finds it."""
    member = entry[3]
    if member.name != lead[3].name or entry[0] != lead[0]:
        return False
    if lead[3].is_worse and member.gravity != lead[3].gravity:
        return False
    return not entry[0] or (
        not incident.is_open and (member.resolved_at or member.since) >= incident.began_at
    )


def _value(member: Member) -> float:
    return member.value if member.value == member.value else float("-inf")


def _kind(incident: Incident, member: Member, *, stands: bool) -> tuple[Any, ...]:
    return (
        member.rule,
        member.severity,
        member.state,
        stands,
        member.is_unseen,
        member.is_worse,
        member.scope,
        member.ended_reason,
        member.proven is not None,
        incident.needs_proof(member),
    )


class _Shared:
    """Collects what alerts have in common of a subject, as `grouping.shared_by` finds it."""

    def __init__(self, subject: Subject) -> None:
        self._words = list(subject.words())
        self._found: dict[str, str] = {}
        self._gpus: set[str] = set()
        self.count = 0

    def add(self, member: Member) -> None:
        self.count += 1
        if member.subject.gpu:
            self._gpus.add(member.subject.gpu)
        for word in tuple(self._words):
            value = getattr(member.subject, word)
            if value and self._found.setdefault(word, value) != value:
                self._words.remove(word)
                del self._found[word]

    @property
    def totals(self) -> GroupTotals:
        return GroupTotals(count=self.count, gpus=len(self._gpus), subject=Subject(**self._found))


def _totals(incident: Incident, alike: Iterable[_Ranked]) -> Stepwise[Totals]:
    subject = incident.subject
    every, firing, together = _Shared(subject), _Shared(subject), _Shared(subject)
    by_name: dict[tuple[str, bool], _Shared] = {}
    for number, member in enumerate(incident.members):
        if number % STEP == 0:
            yield
        every.add(member)
        if member.is_firing:
            firing.add(member)
        key = (member.name, member.is_firing)
        if key not in by_name:
            by_name[key] = _Shared(subject)
        by_name[key].add(member)
    for number, entry in enumerate(alike):
        if number % STEP == 0:
            yield
        together.add(entry[3])
    return Totals(
        members=len(incident.members),
        shared=(firing if firing.count else every).totals,
        alike=together.totals,
        firing={name: one.totals for (name, is_firing), one in by_name.items() if is_firing},
        over={name: one.totals for (name, is_firing), one in by_name.items() if not is_firing},
    )
