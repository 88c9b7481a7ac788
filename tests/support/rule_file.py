"""Rule files for stories: one group, and rules with what a story needs of them."""

from collections.abc import Mapping
from typing import Any


def rule_file(group: str, *rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a file with these rules."""
    return {"groups": [{"name": group, "rules": list(rules)}]}


def rule(
    alert: str,
    summary: str,
    *,
    severity: str = "critical",
    more: Mapping[str, str] | None = None,
    **source: Any,
) -> dict[str, Any]:
    """Return a rule; `source` is its `expr`, `logs` or `check`, and `more` are further annotations."""
    annotations = {"summary": summary, **(more or {})}
    return {"alert": alert, **source, "labels": {"severity": severity}, "annotations": annotations}


def error_logs(*, above: int = 0) -> dict[str, Any]:
    """Return a rule: a node has more lines of errors than `above` within ten minutes."""
    logs = {"match": "level:error", "by": ["node"], "over": "10m", "above": above}
    return rule("ErrorLogs", "{{ $labels.node }} logs errors.", severity="warning", logs=logs)
