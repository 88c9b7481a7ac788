"""Add the columns by which leases and reclaim requests are due, and what stored plans expect of their rows."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from alembic import op
from sqlalchemy import Column, Text, column, select, table, update

revision = "0006"
down_revision = "0005"

Document = dict[str, Any]


def upgrade() -> None:
    _add("leases", "remind_at", _of_lease)
    _add("reclaim_requests", "remind_at", _of_request)
    _add("reclaim_requests", "settle_at", _settlement)
    plans = table("plans", column("id"), column("document"))
    for id, document in _documents("plans"):
        if _say_what_steps_expect(document):
            text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
            op.get_bind().execute(update(plans).where(plans.c.id == id).values(document=text))


def _add(name: str, moment: str, of: Callable[[Document], datetime | None]) -> None:
    op.add_column(name, Column(moment, Text, nullable=False, server_default=""))
    op.create_index(f"{name}_by_{moment}", name, [moment])
    rows = table(name, column("id"), column(moment))
    for id, document in _documents(name):
        if (at := of(document)) is not None:
            text = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            op.get_bind().execute(update(rows).where(rows.c.id == id).values({moment: text}))


def _documents(name: str) -> Iterator[tuple[str, Document]]:
    rows = table(name, column("id"), column("document"))
    for id, document in op.get_bind().execute(select(rows.c.id, rows.c.document)).all():
        yield id, json.loads(document)


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


def _say_what_steps_expect(plan: Document) -> bool:
    """Add to the steps of reclaim requests what the program knew of their table before. Return whether any was."""
    found = False
    for stage in plan.get("stages", ()):
        for step in stage.get("steps", ()):
            if step.get("type") != "record":
                continue
            if step["table"] == "reclaim_requests" and step.get("before") is not None:
                found = True
                row = step.get("row") or step["before"]
                step["expects"] = f"request {step['id']} for {row.get('name') or row['training']}"
                is_new = row.get("state", "asked") == "asked" and step["before"].get("state") == "void"
                if is_new and step.get("row") is not None:
                    step["scope"] = [row["training"].partition("/")[0]]
            elif step["table"] == "agenda" and step["id"].startswith("reclaim/"):
                found = True
                step["goes_with"] = step["id"].removeprefix("reclaim/")
    return found
