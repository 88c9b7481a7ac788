"""Create the table of what owners of trainings were notified of, and the column by which incidents are repeated."""

from datetime import UTC, datetime
from typing import Any

from alembic import op
from sqlalchemy import Column, Text

from bot.store.migrations.rewriting import StoredRow, create_table, rewrite

revision = "0008"
down_revision = "0007"

_CALLS = frozenset({"opened", "severity_raised", "worsened", "given_back", "reopened"})


def upgrade() -> None:
    create_table("training_notices", "cluster", "training", "at")
    op.add_column("incidents", Column("unanswered_since", Text, nullable=False, server_default=""))
    op.create_index("incidents_by_unanswered_since", "incidents", ["unanswered_since"])
    rewrite("incidents", _fill)


def _fill(row: StoredRow) -> None:
    if (since := _unanswered_since(row.document)) is not None:
        row.columns["unanswered_since"] = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _unanswered_since(incident: dict[str, Any]) -> datetime | None:
    if incident.get("resolved_at") or incident.get("acknowledged_by") or incident["severity"] != "critical":
        return None
    calls = [one["at"] for one in incident.get("events", ()) if one["type"] in _CALLS]
    return max(map(datetime.fromisoformat, calls or [incident["opened_at"]]))
