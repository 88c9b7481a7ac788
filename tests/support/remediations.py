"""Remediations and breakers for tests."""

from datetime import UTC, datetime
from typing import Any

from commands.gates.breaker import Breaker, BreakerScope
from commands.gates.remediation import Remediation, RemediationState

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def a_remediation(number: int = 1, **changes: Any) -> Remediation:
    """A remediation that ran."""
    given: dict[str, Any] = {
        "id": f"r{number}",
        "cluster": "prod-a",
        "rule": "node/memory/NodeMemoryHot",
        "rule_name": "NodeMemoryHot",
        "alert": f"a{number}",
        "incident": "",
        "summary": "gpu-a01 is almost out of memory.",
        "line": "node cordon gpu-a01",
        "command": "node cordon",
        "node": "gpu-a01",
        "pool": "a",
        "is_trial": False,
        "since": NOON,
        "at": NOON,
        "state": RemediationState.RUN,
        "title": "Cordon gpu-a01",
    }
    return Remediation(**given | changes)


def a_breaker(**changes: Any) -> Breaker:
    """An open breaker."""
    given: dict[str, Any] = {
        "id": "b1",
        "cluster": "prod-a",
        "scope": BreakerScope.POOL,
        "name": "a",
        "is_trial": False,
        "opened_at": NOON,
        "reason": "5 actions within an hour",
    }
    return Breaker(**given | changes)
