"""Diagnosis of a Prometheus: its version, whether it scrapes, and which rules have no series to see."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import msgspec

from collectors.facts.findings import (
    Finding,
    FindingLevel,
    RuleHealth,
    blinding,
    broken,
    ok,
    unseeing,
    warning,
)
from collectors.facts.missing_metrics import MissingCause, MissingMetrics
from collectors.facts.one_line import some_of
from collectors.facts.promql.selectors import metric_names
from collectors.facts.queries import PromQLQuery, Query
from collectors.facts.results import Blind, SourceError
from collectors.facts.sentences import counted, listed, sentence
from collectors.sources.prometheus.client import PrometheusClient
from collectors.sources.prometheus.dialects.watching import Dialects
from collectors.sources.prometheus.exporters import UNEXPOSED, UNKNOWN, exporter_of
from collectors.sources.prometheus.missing import LONGEST_BEFORE, InstantQuery, Presence, presence_of
from collectors.sources.prometheus.scrape_intervals import too_rare
from collectors.sources.prometheus.unlabelled import unlabelled

_NAME_LABELS = sentence(
    "name the label in clusters[].prometheus.labels, or let relabelling add `node`; in a store for several clusters, "
    "give the labels of this one in clusters[].prometheus.matchers"
)
_NAME_CLUSTER = sentence(
    "give the labels of this cluster's series in clusters[].prometheus.matchers, such as cluster: prod"
)
_ADD_COUNTERS = sentence(
    "add these lines to the counters file of dcgm-exporter (the file of its option `-f`, or the ConfigMap that its "
    "chart or the GPU operator names), and restart it"
)
_SHOWN = 6  # rules or metrics in one finding
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
    found += _findings(expressions, presence)
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


def _findings(expressions: Mapping[str, str], presence: Presence) -> Sequence[Finding]:
    if not presence.missing:
        return [ok(sentence("every metric of the rules has series"))]
    blind = frozenset().union(*(one.rules for one in presence.missing))
    found = [
        ok(
            counted(
                "{count} of {rules} rules has series",
                "{count} of {rules} rules have series",
                count=len(expressions) - len(blind),
                rules=len(expressions),
            )
        )
    ]
    absent = [
        one
        for one in presence.missing
        if one.is_optional and one.cause is MissingCause.NO_TARGET and not one.lost
    ]
    if absent:
        waiting = sorted(frozenset().union(*(one.rules for one in absent)))
        names = sorted(one.exporter for one in absent)
        text = counted(
            "{count} rule waits until there are metrics of {exporters}, if you use them",
            "{count} rules wait until there are metrics of {exporters}, if you use them",
            count=len(waiting),
            exporters=some_of(names, _SHOWN),
        )
        for_what = sentence("there are no metrics of {names}", names=some_of(names, _SHOWN))
        own = tuple((rule, _waits_for(rule, absent)) for rule in waiting)
        wait = replace(ok(text), rules=tuple(waiting), health=RuleHealth.WAITING, cause=for_what, own=own)
        found.append(wait)
    hidden = [
        one
        for one in presence.missing
        if one.is_control_plane and one.cause is MissingCause.NO_TARGET and not one.lost and one not in absent
    ]
    if hidden:
        found.append(_not_exposed(hidden))
    return [*found, *(missing_finding(one) for one in presence.missing if one not in (*absent, *hidden))]


def _not_exposed(hidden: Sequence[MissingMetrics]) -> Finding:
    """Return the one finding about parts of the control plane that were never scraped: that may be meant."""
    rules = sorted(frozenset().union(*(one.rules for one in hidden)))
    exporters = [one.exporter for one in hidden]
    cause = sentence(
        "the metrics of {exporters} are not exposed here (a managed control plane?)",
        exporters=listed(exporters),
    )
    text = counted(
        "{count} rule cannot see: {cause}", "{count} rules cannot see: {cause}", count=len(rules), cause=cause
    )
    fix = sentence(
        "if the control plane is managed, write clusters[].prometheus.unexposed: [{names}], and its rules wait; else "
        "{fixes}",
        names=", ".join(sorted(UNEXPOSED[one] for one in exporters)),  # YAML: the same in each language
        fixes=listed((one.fix for one in hidden), ";"),
    )
    own = tuple((rule, cause) for rule in rules)
    return replace(blinding(warning(text, fix), rules, cause), own=own)


def _waits_for(rule: str, absent: Iterable[MissingMetrics]) -> str:
    """Return what one rule waits for, and what gives it."""
    needed = [one for one in absent if rule in one.rules]
    names = some_of([one.exporter for one in needed], _SHOWN)
    return sentence(
        "there are no metrics of {names}: {fix}", names=names, fix=listed((one.fix for one in needed), ";")
    )


def missing_finding(missing: MissingMetrics) -> Finding:
    """Return what follows from these missing metrics, and how to fix it."""
    metrics, exporter, level = some_of(missing.metrics, _SHOWN), missing.exporter, FindingLevel.BROKEN
    lines: tuple[str, ...] = ()
    if missing.cause is MissingCause.TARGET_DOWN:
        jobs = listed(missing.jobs)
        cause = sentence(
            "there is no series of {metrics}: Prometheus gets nothing from any target of {jobs}",
            metrics=metrics,
            jobs=jobs,
        )
        fix = sentence("look at its pods, and at what Prometheus says of it under Status > Target health")
    elif missing.cause is MissingCause.NOT_EXPORTED and exporter:
        cause = sentence(
            "there is no series of {metrics}, though there are others of {exporter}",
            metrics=metrics,
            exporter=exporter,
        )
        level, lines = FindingLevel.WARNING, missing.lines
        fix = (
            _ADD_COUNTERS
            if lines
            else sentence(
                "nothing, if these appear only when something happens; else let {exporter} export them",
                exporter=exporter,
            )
        )
    elif exporter:
        cause = sentence(
            "there is no series of {metrics}, nor any other of {exporter}",
            metrics=metrics,
            exporter=exporter,
        )
        fix = sentence("{fix}; or leave its rules out with rules.packs or rules.overrides", fix=missing.fix)
    else:
        cause = sentence("there is no series of {metrics}", metrics=metrics)
        level, fix = FindingLevel.WARNING, sentence("check the rule's metric names, or leave the rule out")
    if missing.lost:
        cause = sentence(
            "{cause}; {lost} had series within the last {days} days",
            cause=cause,
            lost=some_of(missing.lost, _SHOWN),
            days=LONGEST_BEFORE.days,
        )
    own = tuple(
        (rule, sentence("there is no series of {needed}", needed=listed(needed)))
        for rule, needed in missing.needs
    )
    found = unseeing(missing.rules, cause, fix, level)
    return replace(found, lines=lines, own=own, needs=missing.needs)


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
