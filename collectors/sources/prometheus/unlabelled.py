"""Rules that need a label which no series of their exporter has, such as the pod that holds a GPU."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from collectors.facts.findings import Finding, FindingLevel, unseeing
from collectors.facts.promql.selectors import selectors
from collectors.facts.queries import PromQLQuery, Query
from collectors.facts.results import Blind
from collectors.facts.sentences import sentence
from collectors.sources.prometheus.dialects.families import FAMILIES, Role
from collectors.sources.prometheus.dialects.watching import Dialects
from collectors.sources.prometheus.missing import InstantQuery

_OF_POD = frozenset({Role.NAMESPACE, Role.POD, Role.CONTAINER})


@dataclass(slots=True)
class _Needed:
    """The rules that need a label, and the metrics that have to have it."""

    exporter: str
    role: Role
    metrics: set[str] = field(default_factory=set)
    rules: set[str] = field(default_factory=set)


async def unlabelled(
    dialects: Dialects, ask: InstantQuery, queries: Mapping[str, Query], at: datetime
) -> Sequence[Finding]:
    """Return the labels that rules need and no series has, though their metrics have series.

    `queries` are those of rules, by the rule's name.
    """
    found = []
    for label, needed in sorted(_needed(queries).items()):
        every = " or ".join(sorted(needed.metrics))
        having = " or ".join(f'{metric}{{{label}!=""}}' for metric in sorted(needed.metrics))
        if await _has(dialects, ask, every, at) and await _has(dialects, ask, having, at) is False:
            cause = sentence(
                "no series of {exporter} says its {role}", exporter=needed.exporter, role=needed.role.value
            )
            fix = sentence("let the exporter give the label, and relabelling keep it")
            if needed.role in _OF_POD:
                fix = sentence(
                    "nothing, if no pod holds GPUs; else run dcgm-exporter with DCGM_EXPORTER_KUBERNETES=true"
                )
            found.append(unseeing(needed.rules, cause, fix, FindingLevel.WARNING))
    return found


def _needed(queries: Mapping[str, Query]) -> Mapping[str, _Needed]:
    """Return what rules of the packs need of exporters on nodes, by the label."""
    found: dict[str, _Needed] = {}
    for name, query in queries.items():
        if not isinstance(query, PromQLQuery) or not query.of_pack:
            continue
        for selector in selectors(query.expr):
            family = next((one for one in FAMILIES if one.is_on_node and one.has(selector.metric)), None)
            roles = {known.label: role for role, known in family.roles.items()} if family else {}
            for matcher in selector.matchers:
                if family and matcher.label in roles and (matcher.operator, matcher.text) == ("!=", ""):
                    one = found.setdefault(
                        matcher.label, _Needed(exporter=family.name, role=roles[matcher.label])
                    )
                    one.metrics.add(selector.metric)
                    one.rules.add(name)
    return found


async def _has(dialects: Dialects, ask: InstantQuery, series: str, at: datetime) -> bool | None:
    """Whether there are such series; None if it is not known."""
    prepared = await dialects.prepare(PromQLQuery(expr=f"count({series})", of_pack=True), at=at)
    if isinstance(prepared, Blind):
        return None
    found = await ask(prepared.expr, at)
    return None if isinstance(found, Blind) else bool(found.samples)
