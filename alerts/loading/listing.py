"""Loaded rules as rows for people, and the result for a file in promtool's format."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

from alerts.loading.rule_files import NO_RULES, Loaded
from alerts.rules import RuleGroup
from collectors.facts.clock import format_duration
from collectors.facts.log_match import render_match
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """A rule in a list. `query` is PromQL, or a readable search or check; durations are as in rule files."""

    kind: Literal["alert", "record"]
    file: str
    group: str
    name: str
    query: str
    id: str = ""  # alerts only, as are the next four
    severity: str = ""
    for_: str = ""
    keep_firing_for: str = ""
    interval: str = ""
    line: int = 0

    def as_json(self) -> dict[str, str | int]:
        """Return the fields in order, named as in rule files."""
        return {name.rstrip("_"): value for name, value in asdict(self).items()}


def describe(groups: Iterable[RuleGroup]) -> list[RuleRow]:
    """Return the alerting and recording rules of these groups, each group's in file order."""
    rows: list[RuleRow] = []
    for group in groups:
        found = [
            RuleRow(
                kind="alert",
                file=group.file,
                group=group.name,
                name=rule.name,
                query=query_summary(rule.query),
                id=rule.id,
                severity=rule.template.labels.get("severity", ""),
                for_=format_duration(rule.timing.for_),
                keep_firing_for=format_duration(rule.timing.keep_firing_for),
                interval=format_duration(rule.interval),
                line=rule.location.line,
            )
            for rule in group.rules
        ]
        found += [
            RuleRow(
                kind="record",
                file=group.file,
                group=group.name,
                name=recording.name,
                query=recording.expr,
                line=recording.location.line,
            )
            for recording in group.recording_rules
        ]
        rows += sorted(found, key=lambda row: row.line)
    return rows


def query_summary(query: Query) -> str:
    """Return a query on one line, close to how a rule file writes it."""
    match query:
        case PromQLQuery():
            return query.expr
        case LogQuery():
            by = f" by {', '.join(query.by)}" if query.by else ""
            counted = f" different {query.distinct}" if query.distinct else ""
            level = f" level {query.level.name.lower()}" if query.level is not None else ""
            count = f"over {format_duration(query.over)} above {query.above:g}{counted}{by}"
            own = f" {query.store_match.store}: {query.store_match.text}" if query.store_match else ""
            of_host = " of host" if query.of_host else ""
            return f"logs: {render_match(query.match)}{own}{level}{of_host} {count}"
        case CheckQuery():
            given = ", ".join(f"{name}: {value}" for name, value in query.parameters.items())
            return f"check: {query.name}" + (f" with {{{given}}}" if given else "")


def check_report(file: str, loaded: Loaded) -> list[str]:
    """Return what `rules check` prints for a file, as promtool does: the number of rules, or every diagnostic.

    Warnings come first: with them a file is as good as without. A file without rules is valid, and no success.
    """
    lines = [f"Checking {file}", *(f"  warning: {warning}" for warning in loaded.warnings)]
    if loaded.diagnostics:
        return [*lines, "  FAILED:", *(str(diagnostic) for diagnostic in loaded.diagnostics)]
    if loaded.is_empty:
        return [*lines, f"  WARNING: {NO_RULES}"]
    count = sum(len(group.rules) + len(group.recording_rules) for group in loaded.groups)
    return [*lines, f"  SUCCESS: {count} rules found"]
