"""The gate of the second person: why a plan needs one, who may be it, and who may confirm alone. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from collectors.facts.name_patterns import fits_any
from collectors.facts.sentences import Sentence, sentence
from commands.execution.disruption import Disruption


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """What is somebody's own: the owners that they are, as the cluster names them, and their teams."""

    owners: frozenset[str]
    teams: frozenset[str]

    def covers(self, one: Disruption) -> bool:
        """Whether the work is their own or their team's. Work without an owner and a team is nobody's."""
        return self.is_of(one) or (one.team != "" and one.team in self.teams)

    def is_of(self, one: Disruption) -> bool:
        return one.owner != "" and one.owner in self.owners


class ConfirmsAlone(Protocol):
    """What a team may run, as far as this gate reads it."""

    @property
    def commands(self) -> Sequence[str]: ...
    @property
    def clusters(self) -> Sequence[str]: ...
    @property
    def namespaces(self) -> Sequence[str]: ...
    @property
    def may_confirm_alone(self) -> Sequence[str]: ...


def reasons(disrupts: Iterable[Disruption], others: Iterable[str], asker: Ownership) -> tuple[str, ...]:
    """Return why a plan needs a second person: the running work of others that it ends, and other reasons.

    Work whose owners are asked ends with their consent.
    """
    ended = [one for one in disrupts if one.ends and not one.asks and not asker.covers(one)]
    return tuple(dict.fromkeys((*map(_ends, ended), *others)))


def consents(disrupts: Iterable[Disruption], who: Ownership) -> bool:
    """Whether this person owns all running work that a plan ends, and so may agree to it without any other right."""
    ended = [one for one in disrupts if one.ends]
    return bool(ended) and all(who.is_of(one) for one in ended)


def team_alone(
    teams: Iterable[str],
    grants: Mapping[str, ConfirmsAlone],
    commands: Sequence[str],
    *,
    cluster: str,
    namespaces: Sequence[str],
) -> str:
    """Return the first of these teams whose members may confirm the commands there alone; empty if none may."""
    return next(
        (
            team
            for team in sorted(teams)
            if team in grants and _alone(grants[team], commands, cluster, namespaces)
        ),
        "",
    )


def _alone(grant: ConfirmsAlone, commands: Sequence[str], cluster: str, namespaces: Sequence[str]) -> bool:
    return (
        _all((commands[0],), grant.commands)  # the first is what the plan runs
        and _all(commands, grant.may_confirm_alone)
        and _all((cluster,), grant.clusters)
        and _all(namespaces, grant.namespaces)
    )


def _all(names: Iterable[str], patterns: Sequence[str]) -> bool:
    return all(fits_any(name, patterns) for name in names)


def _ends(one: Disruption) -> Sentence:
    if one.owner:
        return sentence("it ends {workload} of {owner}", workload=one.label, owner=one.owner)
    return sentence("it ends {workload}, whose owner is not known", workload=one.label)
