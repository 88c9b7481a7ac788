"""Add the columns by which leases and reclaim requests are due, and what stored plans expect of their rows."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from alembic import op
from sqlalchemy import Column, Text

from bot.store.migrations.rewriting import StoredRow, rewrite

revision = "0006"
down_revision = "0005"

Document = dict[str, Any]


def upgrade() -> None:
    _add("leases", remind_at=_of_lease)
    _add("reclaim_requests", remind_at=_of_request, settle_at=_settlement)
    rewrite("plans", _say_what_steps_expect)


def _add(name: str, **moments: Callable[[Document], datetime | None]) -> None:
    for moment in moments:
        op.add_column(name, Column(moment, Text, nullable=False, server_default=""))
        op.create_index(f"{name}_by_{moment}", name, [moment])

    def fill(row: StoredRow) -> None:
        for moment, of in moments.items():
            if (at := of(row.document)) is not None:
                row.columns[moment] = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    rewrite(name, fill)


def _of_lease(lease: Document) -> datetime | None:
    return _moment(lease.get("until")) if lease.get("reminded_at") is None else None


def _of_request(request: Document) -> datetime | None:
    asked_at, until = _moment(request["asked_at"]), _moment(request["grace_until"])
    assert asked_at is not None
    assert until is not None
    state = request.get("state", "asked")
    if state == "asked" and request.get("is_automatic", True):
        return asked_at + (until - asked_at) / 2
    return until if state == "freed" and not request.get("answered_by") else None


def _settlement(request: Document) -> datetime | None:
    is_open = request.get("state", "asked") in ("asked", "snoozed") and request.get("is_automatic", True)
    return _moment(request["grace_until"]) if is_open else None


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _say_what_steps_expect(plan: StoredRow) -> None:
    """Add to the steps of reclaim requests what the program knew of their table before."""
    for stage in plan.document.get("stages", ()):
        for step in stage.get("steps", ()):
            if step.get("type") != "record":
                continue
            if step["table"] == "reclaim_requests" and step.get("before") is not None:
                row = step.get("row") or step["before"]
                step["expects"] = f"request {step['id']} for {row.get('name') or row['training']}"
                is_new = row.get("state", "asked") == "asked" and step["before"].get("state") == "void"
                if is_new and step.get("row") is not None:
                    step["scope"] = [row["training"].partition("/")[0]]
            elif step["table"] == "agenda" and step["id"].startswith("reclaim/"):
                step["goes_with"] = step["id"].removeprefix("reclaim/")
