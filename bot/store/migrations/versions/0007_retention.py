"""Fill the time from which plans, launches and reclaim requests may be deleted: until now they stayed forever."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from bot.store.migrations.rewriting import StoredRow, rewrite

revision = "0007"
down_revision = "0006"

StoredJson = dict[str, Any]


def upgrade() -> None:
    _fill("plans", _of_plan)
    _fill("launches", _of_launch)
    _fill("reclaim_requests", _of_request)


def _fill(table: str, over: Callable[[StoredJson], str | None]) -> None:
    def change(row: StoredRow) -> None:
        if row.over_at is None and (at := over(row.document)) is not None:
            row.over_at = datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    rewrite(table, change)


def _of_plan(plan: StoredJson) -> str | None:
    is_over = plan.get("state", "proposed") in ("proposed", "done", "failed", "cancelled")
    return (plan.get("ended_at") or plan["expires_at"]) if is_over else None


def _of_launch(launch: StoredJson) -> str | None:
    return (launch.get("reported_at") or launch["at"]) if launch.get("is_over") else None


def _of_request(request: StoredJson) -> str | None:
    is_open = request.get("state", "asked") in ("asked", "snoozed")
    return None if is_open else request.get("answered_at") or request["grace_until"]
