"""Rule files of stories: one group of rules."""

from collections.abc import Mapping
from typing import Any


def rule_file(*rules: Mapping[str, Any]) -> dict[str, Any]:
    return {"groups": [{"name": "story", "rules": list(rules)}]}


def error_logs(*, above: int = 0) -> dict[str, Any]:
    """Return a rule: a node has so many lines of errors within ten minutes."""
    return {
        "alert": "ErrorLogs",
        "logs": {"match": "level:error", "by": ["node"], "over": "10m", "above": above},
        "labels": {"severity": "warning"},
        "annotations": {"summary": "{{ $labels.node }} logs errors."},
    }
