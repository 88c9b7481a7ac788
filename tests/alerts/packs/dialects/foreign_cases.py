"""A pack's case in foreign dialects: the rule as the product asks it there, and whether the same alerts fire."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path

from alerts.rendering import RuleRenderer
from collectors.facts.label_mapping import NAMING_LABELS
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, Sample, Seen
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.watching import Dialects, Prepared
from tests.alerts.packs.dialects.pack_cases import PackCase
from tests.alerts.packs.dialects.promtool_firing import Fired, FiringQuery, fired
from tests.alerts.packs.dialects.series_answers import SeriesAnswers
from tests.support.foreign_cluster import CaseCluster
from tests.support.foreign_series import ExporterKind, ExporterOfSeries, InputSeries, TargetLabels
from tests.support.target_dialects import OF_KIND

AT = datetime(2026, 1, 1, tzinfo=UTC)
_OF_THE_RULE = ("severity", "alertname")
About = tuple[Subject, tuple[tuple[str, str], ...]]  # what an alert is about, and its other labels


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCase:
    """A case in one choice of dialects for each kind of exporter, with its name."""

    case: PackCase
    chosen: Mapping[ExporterKind, tuple[str, tuple[TargetLabels, ...]]]

    @property
    def dialects(self) -> Mapping[ExporterKind, tuple[TargetLabels, ...]]:
        return {kind: some for kind, (_, some) in self.chosen.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dialects of the exporters that the case has."""
        kinds = {ExporterOfSeries.of(one).kind for one in self.case.series}
        return tuple(self.chosen[kind][0] for kind in ExporterKind if kind in kinds)

    @property
    def dialect_names(self) -> str:
        return ", ".join(self.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What is not the same. `blind` is why the rule cannot be asked."""

    foreign: ForeignCase
    moment: str = ""
    expected: tuple[About, ...] = ()
    found: tuple[About, ...] = ()
    blind: str = ""
    expr: str = ""
    series: tuple[InputSeries, ...] = ()

    @property
    def is_only_less(self) -> bool:
        """Whether nothing is wrong: what is found says less than what is expected, or is not there."""
        return all(any(_says_less(one, other) for other in self.expected) for one in self.found)

    def __str__(self) -> str:
        head = f"{self.foreign.case}\n  in the dialect: {self.foreign.dialect_names}"
        if self.blind:
            return f"{head}\n  is blind: {self.blind}"
        return "\n  ".join(
            (
                f"{head}, at {self.moment}",
                "must fire: " + (" | ".join(map(_shown, self.expected)) or "nothing"),
                "fires:     " + (" | ".join(map(_shown, self.found)) or "nothing"),
                *map(str, self.series[:8]),
                f"asked: {' '.join(self.expr.split())}",
            )
        )


def choices(case: PackCase) -> Iterator[ForeignCase]:
    """Return the case in every dialect of the exporters that it has."""
    kinds = {ExporterOfSeries.of(one).kind for one in case.series}
    for number in range(max(len(OF_KIND[kind]) for kind in kinds)):
        yield ForeignCase(
            case=case, chosen={kind: some[number % len(some)] for kind, some in OF_KIND.items()}
        )


async def differences(promtool: Path, folder: Path, cases: Sequence[ForeignCase]) -> list[Difference]:
    """Return where the cases do not fire as they do in the dialect of the packs; at most one for each."""
    found: list[Difference] = []
    asked: list[_Asked] = []
    for one in cases:
        prepared = await _prepared(one)
        if isinstance(prepared, Blind):
            found.append(Difference(foreign=one, blind=prepared.reason))
        else:
            asked.append(prepared)
    outcomes = fired(promtool, folder, [one.query for one in asked])
    for prepared, outcome in zip(asked, outcomes, strict=True):
        found += list(prepared.differences(outcome))[:1]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    foreign: ForeignCase
    cluster: CaseCluster
    topology: Topology
    dialects: Dialects
    prepared: Prepared

    @property
    def query(self) -> FiringQuery:
        case = self.foreign.case
        return FiringQuery(
            expr=self.prepared.expr,
            waits=case.waits,
            series=self.cluster.series,
            interval=case.interval,
            evaluation_interval=case.evaluation_interval,
            moments=tuple(case.expected),
        )

    def differences(self, outcome: Fired) -> Iterator[Difference]:
        case = self.foreign.case
        renderer = RuleRenderer(lambda: self.topology, clean=lambda text: text)
        for moment, labels in case.expected.items():
            wanted = [self._about(renderer, one.with_(alertname=case.rule.name)) for one in labels]
            samples = tuple(Sample(labels=one, value=1) for one in outcome[moment])
            restored = self.dialects.restored(
                Seen(source="prometheus", at=AT, samples=samples), self.prepared
            )
            got = [self._about(renderer, renderer.labels(case.rule, one)) for one in restored.samples]
            if sorted(map(repr, wanted)) != sorted(map(repr, got)):
                yield Difference(
                    foreign=self.foreign,
                    moment=moment,
                    expected=tuple(wanted),
                    found=tuple(got),
                    expr=self.prepared.expr,
                    series=self.cluster.series,
                )

    def _about(self, renderer: RuleRenderer, labels: Labels) -> About:
        subject = renderer.complete(renderer.subject(labels))
        missing = {name for one in self.foreign.dialects[ExporterKind.GPU] for name in one.missing}
        if "UUID" in missing:
            subject = replace(subject, uuid="")
        kept = (
            (name, value)
            for name, value in labels.pairs
            if name not in NAMING_LABELS and name not in _OF_THE_RULE and name not in missing
        )
        return subject, tuple(kept)


async def _prepared(one: ForeignCase) -> _Asked | Blind:
    cluster = CaseCluster(one.case.series, one.dialects)
    topology = cluster.topology
    series = (*cluster.series, *cluster.others)
    dialects = Dialects(SeriesAnswers([Labels({**each.labels, "__name__": each.metric}) for each in series]))
    dialects.follow(NodeNames(lambda: topology))
    query = one.case.rule.query
    assert isinstance(query, PromQLQuery)
    prepared = await dialects.prepare(query, at=AT)
    if isinstance(prepared, Blind):
        return prepared
    return _Asked(foreign=one, cluster=cluster, topology=topology, dialects=dialects, prepared=prepared)


def _says_less(one: About, other: About) -> bool:
    own, wanted = one[0], other[0]
    names = (field.name for field in fields(Subject))
    return set(one[1]) <= set(other[1]) and all(
        getattr(own, name) in ("", getattr(wanted, name)) for name in names
    )


def _shown(about: About) -> str:
    subject, labels = about
    values = ((field.name, getattr(subject, field.name)) for field in fields(Subject))
    said = [f"{name} {value}" for name, value in values if value and name != "cluster"]
    return ", ".join((*said, *(f"{name}={value}" for name, value in labels))) or "no subject"
