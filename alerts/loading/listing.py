"""This file puts loaded rules into rows for people, and a file's verdict into promtool's words."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

from alerts.loading.rule_files import Loaded
from alerts.rules import RuleGroup
from collectors.facts.clock import written
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """A rule in a list. `question` is PromQL, or our own words for a search or a check; durations as in rule files."""

    kind: Literal["alert", "record"]
    file: str
    group: str
    name: str
    query: str
    id: str = ""  # alerts only, as are the rest
    severity: str = ""
    for_: str = ""
    keep_firing_for: str = ""
    interval: str = ""
    line: int = 0

    def as_json(self) -> dict[str, str | int]:
        """The fields in their order, named as in rule files."""
        return {name.rstrip("_"): value for name, value in asdict(self).items()}


def describe(groups: Iterable[RuleGroup]) -> list[RuleRow]:
    """Alerting and recording rules of these groups, each group's in the order of its file."""
    rows: list[RuleRow] = []
    for group in groups:
        found = [
            RuleRow(
                kind="alert",
                file=group.file,
                group=group.name,
                name=rule.name,
                query=in_words(rule.query),
                id=rule.id,
                severity=rule.template.labels.get("severity", ""),
                for_=written(rule.timing.for_),
                keep_firing_for=written(rule.timing.keep_firing_for),
                interval=written(rule.interval),
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


def in_words(query: Query) -> str:
    """A question on one line, near to how it is written in a rule file."""
    match query:
        case PromQLQuery():
            return query.expr
        case LogQuery():
            by = f" by {', '.join(query.by)}" if query.by else ""
            return f"logs: {query.match} over {written(query.over)} above {query.above:g}{by}"
        case CheckQuery():
            given = ", ".join(f"{name}: {value}" for name, value in query.parameters.items())
            return f"check: {query.name}" + (f" with {{{given}}}" if given else "")


def verdict(file: str, loaded: Loaded) -> list[str]:
    """What `rules check` prints of a file, as promtool would: a count of rules, or every diagnostic."""
    lines = [f"Checking {file}"]
    if loaded.diagnostics:
        return [*lines, "  FAILED:", *(str(diagnostic) for diagnostic in loaded.diagnostics)]
    count = sum(len(group.rules) + len(group.recording_rules) for group in loaded.groups)
    return [*lines, f"  SUCCESS: {count} rules found"]
