"""The choice of a dialect: which labels of an exporter's series name the node, the GPU and the pod. Pure."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from collectors.facts.labels import Labels
from collectors.facts.promql.tree import LabelMatcher
from collectors.facts.sentences import listed, sentence
from collectors.sources.prometheus.dialects.families import INSTANCE, Family, Role
from collectors.sources.prometheus.dialects.gpu_numbers import without_models
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.node_ranks import NO_NODES, NodeRanks, host_labels
from collectors.sources.prometheus.dialects.query_rewriting import LabelSource, SeriesGroup
from collectors.sources.prometheus.dialects.same_nodes import NO_COPIES, Copies, copies_of

_GENERATED = re.compile(
    r"-([a-z0-9]{8,10}-)?[a-z0-9]{5}$"
)  # what ends the name of a pod of a DaemonSet or Deployment

Overrides = Mapping[Role, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a family's series name things. `problem` says why its node is not known; its rules are blind then."""

    groups: tuple[SeriesGroup, ...] = (SeriesGroup(),)
    copies: Copies = NO_COPIES
    problem: str = ""
    labels: Mapping[Role, tuple[str, ...]] = field(default_factory=dict)  # in use, best first, for people


@dataclass(frozen=True, slots=True, kw_only=True)
class _JobDialect:
    """The choice for the series of one scrape job. `rejected` are labels that it has and that mean something else."""

    labels: tuple[LabelSource, ...]
    jobs: tuple[str, ...]
    rejected: frozenset[str] = frozenset()


def choose(
    family: Family,
    series: Sequence[Labels],
    *,
    nodes: NodeNames | None,
    overrides: Overrides | None = None,
    fresh: Sequence[Labels] | None = None,
) -> Dialect:
    """Return the dialect of these series; that of the packs when there are none.

    `fresh` are those of one moment, all of them if it is not given. `nodes` finds the nodes that values name, None or
    unknown while the cluster is. `overrides` are the labels of the settings; they are not compared with anything.
    """
    if not series:
        return Dialect()
    family = without_models(family, series)
    known = nodes if nodes is not None and nodes.is_known else None
    overrides = overrides or {}
    by_job = _by_job(series)
    fresh_of = _by_job(fresh) if fresh else by_job
    ranks = NodeRanks(family, series, known, fresh)
    never = _never(family, series, known)
    merged: list[_JobDialect] = []
    for job, own in sorted(by_job.items(), key=lambda item: -len(item[1])):
        given = {**_unusual_pods(family, own, known), **overrides}
        of_job = ranks if len(by_job) == 1 else NodeRanks(family, own, known, fresh_of.get(job, []))
        found = _of_job(family, job, own, of_job, never, given, known)
        for number, other in enumerate(merged):
            if joined := _joined(other, found, ranks):
                merged[number] = joined
                break
        else:
            merged.append(found)
    return Dialect(
        groups=_groups(merged),
        copies=copies_of(family, fresh or series, ranks.naming(series), known) if known else NO_COPIES,
        problem=_problem(family, series, ranks, overrides) if known else "",
        labels=_shown(family, merged, series),
    )


def _by_job(series: Sequence[Labels]) -> dict[str, list[Labels]]:
    found: dict[str, list[Labels]] = {}
    for labels in series:
        found.setdefault(labels.get("job", ""), []).append(labels)
    return found


def _of_job(
    family: Family,
    job: str,
    series: Sequence[Labels],
    ranks: NodeRanks,
    never: str,
    overrides: Overrides,
    nodes: NodeNames | None,
) -> _JobDialect:
    labels: list[LabelSource] = []
    rejected: frozenset[str] = frozenset()
    for role, known in family.roles.items():
        if role in overrides:
            labels += (LabelSource(label=label, names=overrides[role]) for label in family.labels_of(role))
        elif role is Role.NODE and family.is_on_node:
            names = ranks.names(series)
            rejected = ranks.rejected(series)
            labels.append(LabelSource(label=known.label, names=names or (known.label,)))
        elif role is Role.NODE and family.is_on_host:
            labels += host_labels(series, ranks, nodes)
            rejected = ranks.rejected(series)
        else:
            used = _first_of_each if role is Role.GPU else _in_use
            labels.append(LabelSource(label=known.label, names=used(series, known.names) or (known.label,)))
    labels = _without_own(family, series, labels, never, overrides)
    if not family.is_on_node:
        exported = {one.label for one in labels if one.names[0].startswith("exported_")}
        labels = [replace(one, names=one.names[:1]) if one.label in exported else one for one in labels]
        rejected |= exported
    return _JobDialect(labels=tuple(labels), jobs=(job,), rejected=rejected)


def _unusual_pods(family: Family, series: Sequence[Labels], nodes: NodeNames | None) -> Overrides:
    """Return the labels that name the pod of series without a usual one: their values are pods of the cluster."""
    pod = family.roles.get(Role.POD)
    if nodes is None or not family.is_on_node or pod is None:
        return {}
    workloads = [one for one in series if any(name in one for name in pod.names[:-1])]
    plain = pod.names[-1]
    if workloads or any(plain in one and not family.is_own(one[plain]) for one in series):
        return {}
    usual = {name for known in family.roles.values() for name in known.names} | NO_NODES
    for name in sorted({name for one in series for name in one} - usual):
        held = [one for one in series if name in one]
        for space in sorted({label for one in held for label in one} - {name}):
            if all(nodes.is_pod(one.get(space, ""), one[name]) for one in held):
                return {Role.POD: (name,), Role.NAMESPACE: (space,)}
    return {}


def _in_use(series: Iterable[Labels], names: Sequence[str]) -> tuple[str, ...]:
    used = {name for labels in series for name in names if name in labels}
    return tuple(name for name in names if name in used)


def _first_of_each(series: Iterable[Labels], names: Sequence[str]) -> tuple[str, ...]:
    """Return the names without those that only stand beside a better one, as the device does beside the index."""
    used = {next((name for name in names if name in labels), "") for labels in series}
    return tuple(name for name in names if name in used)


def _without_own(
    family: Family, series: Sequence[Labels], labels: list[LabelSource], never: str, overrides: Overrides
) -> list[LabelSource]:
    """Return the sources of labels, where the exporter's own pod does not count as a workload's."""
    pod = family.roles.get(Role.POD)
    if not family.own or pod is None or Role.POD in overrides:
        return labels
    plain = pod.names[-1]
    own = re.compile(never)
    others = [name for name in pod.names if name != plain]
    if not any(plain in one for one in series) and any(name in one for one in series for name in others):
        return labels  # a scrape that adds its own labels adds the pod: the namespace is the workload's here
    alone = {one[plain] for one in series if plain in one and not any(name in one for name in others)}
    is_own = {value for value in alone if own.fullmatch(value)}
    owned = (Role.POD, Role.NAMESPACE, Role.CONTAINER)
    of_pod = {family.roles[role].label: family.roles[role].names[-1] for role in owned}
    found: list[LabelSource] = []
    for one in labels:
        last = of_pod.get(one.label)
        if last is None or last not in one.names:
            found.append(one)
        elif alone <= is_own:  # the plain labels are the scrape's own here
            names = tuple(name for name in one.names if name != last)
            found.append(replace(one, names=names or (one.label,)))
        elif one.label == pod.label:
            found.append(replace(one, never=never))
        else:
            found.append(replace(one, beside=pod.label))
    return found


def _never(family: Family, series: Sequence[Labels], nodes: NodeNames | None) -> str:
    """Return the pattern of the exporter's own pods: by the names that they usually have, and those found here."""
    pod = family.roles.get(Role.POD)
    if not family.own or pod is None:
        return ""
    *others, plain = pod.names
    found = {
        labels[plain]
        for labels in series
        if plain in labels
        and (
            any(labels.get(name, labels[plain]) != labels[plain] for name in others)
            or (
                nodes is not None
                and nodes.is_pod_of(labels.get("namespace", ""), labels[plain], labels.get(INSTANCE, ""))
            )
        )
    }
    bases = sorted({re.escape(_GENERATED.sub("", name)) for name in found})
    usual = f"([^;]*[-/])?({family.own})([-/][^;]*)?"
    return "|".join((usual, *(f"{base}(-[^;]*)?" for base in bases)))


def _joined(one: _JobDialect, other: _JobDialect, ranks: NodeRanks) -> _JobDialect | None:
    """Return the choice for the series of both, each series with the first of its own labels; None if they disagree."""
    jobs = (*one.jobs, *other.jobs)
    if one.labels == other.labels:
        return replace(one, jobs=jobs, rejected=one.rejected | other.rejected)
    labels: list[LabelSource] = []
    for mine, theirs in zip(one.labels, other.labels, strict=True):
        if not (other.rejected.isdisjoint(mine.names) and one.rejected.isdisjoint(theirs.names)):
            return None
        labels.append(_union(mine, theirs, ranks))
    return _JobDialect(labels=tuple(labels), jobs=jobs, rejected=one.rejected | other.rejected)


def _union(one: LabelSource, other: LabelSource, ranks: NodeRanks) -> LabelSource:
    same = one.names == other.names
    names = one.names if same else ranks.ordered(one.label, (*one.names, *other.names))
    return replace(one, names=names, never=one.never or other.never, beside=one.beside or other.beside)


def _groups(found: Sequence[_JobDialect]) -> tuple[SeriesGroup, ...]:
    """Return the groups of series; the first has all jobs that no other has, so that a new job is in it."""
    first, *others = found
    named = sorted(job for one in others for job in one.jobs)
    rest = (LabelMatcher("job", "!~", json.dumps("|".join(map(re.escape, named)))),) if others else ()
    return (
        SeriesGroup(labels=first.labels, matchers=rest),
        *(
            SeriesGroup(
                labels=one.labels,
                matchers=(LabelMatcher("job", "=~", json.dumps("|".join(map(re.escape, sorted(one.jobs))))),),
            )
            for one in others
        ),
    )


def _problem(family: Family, series: Sequence[Labels], ranks: NodeRanks, overrides: Overrides) -> str:
    if not family.is_on_node or Role.NODE in overrides or ranks.names_a_host(series):
        return ""
    example = series[0]
    names = [name for name in (*family.roles[Role.NODE].names, INSTANCE) if name in example]
    shown = listed((f'{name}="{example[name]}"' for name in names), "and")
    return sentence(
        "no label of {family}'s series names a node, only {shown}: set prometheus.labels",
        family=family.name,
        shown=shown,
    )


def _shown(
    family: Family, found: Sequence[_JobDialect], series: Sequence[Labels]
) -> Mapping[Role, tuple[str, ...]]:
    """Return the labels in use, without those that no series has."""
    used = {name for labels in series for name in labels}
    roles = {known.label: role for role, known in family.roles.items()}
    shown: dict[Role, tuple[str, ...]] = {}
    for one in found:
        for source in one.labels:
            if (role := roles.get(source.label)) is None:  # said already, by another label
                continue
            names = (name for name in source.names if name in used)
            shown[role] = tuple(dict.fromkeys((*shown.get(role, ()), *names)))
    return {role: names for role, names in shown.items() if names}
