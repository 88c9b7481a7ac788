"""Diagnosis of a Prometheus: its version, whether it scrapes, and which rules have no series to see."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import msgspec

from collectors.facts.findings import Finding, RuleHealth, blinding, broken, ok, unseeing, warning
from collectors.facts.missing_metrics import MissingMetrics
from collectors.facts.one_line import some_of
from collectors.facts.promql.selectors import metric_names
from collectors.facts.queries import PromQLQuery, Query
from collectors.facts.results import Blind, SourceError
from collectors.facts.sentences import sentence
from collectors.sources.prometheus.client import PrometheusClient
from collectors.sources.prometheus.dialects.watching import Dialects
from collectors.sources.prometheus.exporters import UNKNOWN, exporter_of
from collectors.sources.prometheus.missing import InstantQuery, Presence, presence_of
from collectors.sources.prometheus.missing_findings import missing_findings
from collectors.sources.prometheus.scrape_intervals import too_rare
from collectors.sources.prometheus.unlabelled import unlabelled

_NAME_LABELS = sentence(
    "name the label in clusters[].prometheus.labels, or let relabelling add `node`; in a store for several clusters, "
    "give the labels of this one in clusters[].prometheus.matchers"
)
_NAME_CLUSTER = sentence(
    "give the labels of this cluster's series in clusters[].prometheus.matchers, such as cluster: prod"
)
_SHOWN = 6  # rules in one finding
LATE_AFTER = timedelta(minutes=3)  # beyond, rules for a few minutes no longer see what they should


class _Build(msgspec.Struct):
    version: str = ""


class _BuildInfo(msgspec.Struct):
    data: _Build = msgspec.field(default_factory=_Build)


async def diagnose_prometheus(
    client: PrometheusClient,
    dialects: Dialects,
    ask: InstantQuery,
    health: Blind | None,
    queries: Mapping[str, Query],
    at: datetime,
    *,
    unexposed: Collection[str] = (),
) -> Sequence[Finding]:
    """Return the findings. `queries` are those of rules, by the rule's name; `health` is the source's own.

    `unexposed`: the names of exporters whose metrics nobody expects here.
    """
    if health is not None:
        fix = sentence("check the server and prometheus.url: until then every rule on its metrics is blind")
        return [blinding(broken(health.reason, fix), queries, health.reason)]
    found = [
        ok(
            sentence(
                "{server} answers at {where}, and scrapes", server=await _version(client), where=client.where
            )
        )
    ]
    expressions, blind = await _expressions(dialects, queries, at)
    for reason in sorted(set(blind.values())):
        fix = _NAME_CLUSTER if reason == dialects.scope_problem else _NAME_LABELS
        found.append(unseeing((rule for rule, one in blind.items() if one == reason), reason, fix))
    found += [ok(line) for line in dialects.described()]
    presence = await presence_of(ask, expressions, at, unexposed=unexposed)
    if isinstance(presence, Blind):
        reason = sentence("the series of rules cannot be counted: {reason}", reason=presence.reason)
        fix = sentence("check the server's limits, and prometheus.timeout")
        return [*found, blinding(broken(reason, fix), expressions, reason)]
    found += missing_findings(expressions, presence)
    found += await unlabelled(dialects, ask, queries, at)
    found += await _late(ask, expressions, presence.series, at)
    return [*found, *_partly_down(expressions, presence)]


async def missing(
    dialects: Dialects,
    ask: InstantQuery,
    queries: Mapping[str, Query],
    at: datetime,
    *,
    unexposed: Collection[str] = (),
) -> Sequence[MissingMetrics] | Blind:
    """Return which metrics of rules have no series now. `queries` are those of rules, by the rule's name."""
    expressions, _blind = await _expressions(dialects, queries, at)
    presence = await presence_of(ask, expressions, at, unexposed=unexposed)
    return presence if isinstance(presence, Blind) else presence.missing


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


async def _late(
    ask: InstantQuery, expressions: Mapping[str, str], series: Mapping[str, float], at: datetime
) -> Sequence[Finding]:
    """Return the exporters whose newest sample is older than it should be, or whose samples are too rare."""
    found = []
    steady: dict[str, str] = {}
    owned: dict[str, Collection[str]] = {}
    names = {exporter_of(name) for name in series} - {UNKNOWN}
    for exporter in sorted(names, key=lambda one: one.name):
        own = [name for name in series if exporter_of(name) is exporter]
        fewest = min(own, key=lambda name: (not exporter.is_steady(name), series[name], name))
        steady[exporter.name], owned[exporter.name] = fewest, own
        newest = await ask(f"max(timestamp({fewest}))", at)
        if isinstance(newest, Blind) or not newest.samples:
            continue
        age = timedelta(seconds=at.timestamp() - newest.samples[0].value)
        if age <= LATE_AFTER:
            continue
        rules = sorted(rule for rule, expr in expressions.items() if metric_names(expr) & set(own))
        cause = sentence("the newest sample of {exporter} is {age} old", exporter=exporter.name, age=age)
        fix = sentence(
            "scrape it at least once a minute, and look at what delays it on its way, such as remote write"
        )
        text = sentence("{rules} see data late: {cause}", rules=some_of(rules, _SHOWN), cause=cause)
        late = warning(text, fix)
        found.append(replace(late, rules=tuple(rules), health=RuleHealth.LATE, cause=cause))
    return [*found, *await too_rare(ask, steady, owned, expressions, at)]


def _partly_down(expressions: Mapping[str, str], presence: Presence) -> Sequence[Finding]:
    """Return the jobs of exporters of which some targets are down: of those nodes, rules see nothing."""
    given = {exporter_of(name) for name in presence.series} - {UNKNOWN}
    return [
        warning(
            sentence(
                "Prometheus gets nothing from {down:.0f} of {targets:.0f} targets of {job}, "
                "so rules see nothing of these",
                down=count,
                targets=every,
                job=job,
            ),
            sentence("look at their pods, and at what Prometheus says of them under Status > Target health"),
        )
        for job, (count, every) in sorted(presence.down.items())
        if count < every and any(exporter.scrapes(job) for exporter in given)
    ]


async def _version(client: PrometheusClient) -> str:
    try:
        body = await client.get("api/v1/status/buildinfo")
        version = msgspec.json.decode(body, type=_BuildInfo).data.version
    except (SourceError, msgspec.DecodeError):  # Thanos and others may not serve it
        return "a server of Prometheus' API"
    return f"Prometheus {version}".strip()
