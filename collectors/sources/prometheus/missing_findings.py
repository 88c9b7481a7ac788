"""Findings about metrics of rules that have no series: what each means, and how to get them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from collectors.facts.findings import Finding, FindingLevel, RuleHealth, blinding, ok, unseeing, warning
from collectors.facts.missing_metrics import MissingCause, MissingMetrics
from collectors.facts.one_line import some_of
from collectors.facts.sentences import counted, listed, sentence
from collectors.sources.prometheus.exporters import UNEXPOSED
from collectors.sources.prometheus.missing import LONGEST_BEFORE, Presence

_ADD_COUNTERS = sentence(
    "add these lines to the counters file of dcgm-exporter (the file of its option `-f`, or the ConfigMap that its "
    "chart or the GPU operator names), and restart it"
)
_SHOWN = 6  # rules or metrics in one finding


def missing_findings(expressions: Mapping[str, str], presence: Presence) -> Sequence[Finding]:
    """Return how many rules have series, and what is said of those that have none."""
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
    return [*found, *(_missing_finding(one) for one in presence.missing if one not in (*absent, *hidden))]


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


def _missing_finding(missing: MissingMetrics) -> Finding:
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
