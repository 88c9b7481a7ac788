"""Totals of an incident's alerts, for a copy of it that holds only the first of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from collectors.facts.subjects import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTotals:
    """Some alerts of an incident: how many they are, on how many GPUs, and what they have in common of its subject."""

    count: int = 0
    gpus: int = 0
    subject: Subject = field(default_factory=Subject)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """All alerts of an incident. `alike`: those that its lead stands for; the others by their alert's name."""

    members: int
    shared: GroupTotals  # by those that fire, or by all if none does
    alike: GroupTotals
    firing: Mapping[str, GroupTotals] = field(default_factory=dict)
    over: Mapping[str, GroupTotals] = field(default_factory=dict)
