"""Diagnosis of a Prometheus: its version, whether it scrapes, and which rules have no series to see."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from collectors.facts.findings import Finding, broken, ok, warning
from collectors.facts.queries import PromQLQuery, Query
from collectors.facts.results import Blind, QueryResult, SourceError
from collectors.sources.prometheus.client import PrometheusClient
from collectors.sources.prometheus.dcgm_counters import counter_lines
from collectors.sources.prometheus.dialects.watching import Dialects
from collectors.sources.prometheus.exporters import OPTIONAL, exporter_of
from collectors.sources.prometheus.metric_names import metric_names, missing_metrics

_NAME_LABELS = "name the label in clusters[].prometheus.labels, or let relabelling add `node`"
_ADD_COUNTERS = (
    "add these lines to the counters file of dcgm-exporter (the file of its option `-f`, or the ConfigMap that its "
    "chart or the GPU operator names), and restart it"
)
_SHOWN = 6  # rules or metrics in one finding


class _Build(msgspec.Struct):
    version: str = ""


class _BuildInfo(msgspec.Struct):
    data: _Build = msgspec.field(default_factory=_Build)


class _Ask(Protocol):
    async def __call__(self, expr: str, at: datetime) -> QueryResult: ...


async def diagnose(
    client: PrometheusClient,
    dialects: Dialects,
    ask: _Ask,
    health: Blind | None,
    queries: Mapping[str, Query],
    at: datetime,
) -> Sequence[Finding]:
    """Return the findings. `queries` are those of rules, by the rule's name; `health` is the source's own."""
    if health is not None:
        return [
            broken(
                health.reason,
                "check the server and prometheus.url: until then every rule on its metrics is blind",
            )
        ]
    found = [ok(f"{await _version(client)} answers at {client.where}, and scrapes")]
    expressions, blind = await _expressions(dialects, queries, at)
    for reason in sorted(set(blind.values())):
        rules = sorted(rule for rule, one in blind.items() if one == reason)
        found.append(broken(f"{_some(rules)} can see nothing: {reason}", _NAME_LABELS))
    found += [ok(line) for line in dialects.described()]
    names = frozenset().union(*(metric_names(expr) for expr in expressions.values()))
    present = await _present(ask, names, at)
    if isinstance(present, Blind):
        return [
            *found,
            broken(
                f"the series of rules cannot be counted: {present.reason}",
                "check the server's limits, and prometheus.timeout",
            ),
        ]
    return [*found, *_findings(expressions, names, present)]


async def _expressions(
    dialects: Dialects, queries: Mapping[str, Query], at: datetime
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the expressions as they are asked here, and why rules cannot be asked, by the rule's name."""
    expressions: dict[str, str] = {}
    blind: dict[str, str] = {}
    for name, query in queries.items():
        if not isinstance(query, PromQLQuery):
            continue
        prepared = await dialects.prepare(query, at=at) if query.of_pack else query
        if isinstance(prepared, Blind):
            blind[name] = prepared.reason
        else:
            expressions[name] = prepared.expr
    return expressions, blind


def _findings(
    expressions: Mapping[str, str], names: Collection[str], present: Collection[str]
) -> Sequence[Finding]:
    missing = {name: missing_metrics(expr, present) for name, expr in expressions.items()}
    blind = frozenset().union(*missing.values())
    if not blind:
        return [ok(f"every metric of {len(expressions)} rules has series")]
    by_exporter: dict[tuple[str, str], set[str]] = defaultdict(set)
    for metric in blind:
        by_exporter[exporter_of(metric)].add(metric)
    found = [ok(f"{sum(not one for one in missing.values())} of {len(expressions)} rules have series")]
    absent = {
        exporter
        for exporter, _mend in by_exporter
        if exporter in OPTIONAL and not any(exporter_of(name)[0] == exporter for name in present)
    }
    if absent:
        waiting = [
            rule for rule, needed in missing.items() if any(exporter_of(one)[0] in absent for one in needed)
        ]
        found.append(
            ok(
                f"{len(waiting)} rules wait until there are metrics of {_some(sorted(absent))}, if you use them"
            )
        )
    for (exporter, mend), metrics in sorted(by_exporter.items()):
        if exporter in absent:
            continue
        rules = sorted(rule for rule, needed in missing.items() if needed & metrics)
        text = f"{_some(rules)} can see nothing: there is no series of {_some(sorted(metrics))}"
        given = [name for name in names if exporter_of(name)[0] == exporter]
        if not exporter:
            found.append(warning(text, "check the rule's metric names, or leave the rule out"))
        elif any(name in present for name in given) and (lines := counter_lines(metrics)):
            found.append(warning(f"{text}, though {exporter} gives others", _ADD_COUNTERS, lines))
        elif any(name in present for name in given):
            found.append(
                warning(
                    f"{text}, though {exporter} gives others",
                    f"nothing, if these appear only when something happens; else let {exporter} export them",
                )
            )
        else:
            found.append(
                broken(
                    f"{text}; {exporter} gives them, and nothing of it is there",
                    f"{mend}; or leave its rules out with rules.packs or rules.overrides",
                )
            )
    return found


async def _present(ask: _Ask, names: Collection[str], at: datetime) -> frozenset[str] | Blind:
    """Return which of these metrics have series now."""
    if not names:
        return frozenset()
    pattern = "|".join(sorted(names))
    found = await ask(f'count by (__name__) ({{__name__=~"{pattern}"}})', at)
    if isinstance(found, Blind):
        return found
    return frozenset(sample.labels["__name__"] for sample in found.samples)


async def _version(client: PrometheusClient) -> str:
    try:
        body = await client.get("api/v1/status/buildinfo")
        version = msgspec.json.decode(body, type=_BuildInfo).data.version
    except (SourceError, msgspec.DecodeError):  # Thanos and others may not serve it
        return "a server of Prometheus' API"
    return f"Prometheus {version}".strip()


def _some(names: Sequence[str], shown: int = _SHOWN) -> str:
    rest = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {rest} more" if rest > 0 else "")
