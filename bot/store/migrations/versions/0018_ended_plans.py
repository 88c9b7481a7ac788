"""Find plans by their end, as what they disrupted in the last hour counts; and forget a field of old requests.

Old requests said with `is_for_good` that a training was deleted rather than suspended. What is closed says so as its
reason now.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from alembic import op
from sqlalchemy import Column, Text

from bot.store.migrations.rewriting import StoredRow, rewrite

revision = "0018"
down_revision = "0017"

_DELETED = "it was deleted, as Kueue would have resumed it"


def upgrade() -> None:
    op.add_column("plans", Column("ended_at", Text, nullable=False, server_default=""))
    op.create_index("plans_by_ended_at", "plans", ["ended_at"])
    rewrite("plans", _plan)
    rewrite("reclaim_requests", lambda row: _request(row.document))


def _plan(plan: StoredRow) -> None:
    if (ended_at := plan.document.get("ended_at")) is not None:
        moment = datetime.fromisoformat(ended_at).astimezone(UTC)
        plan.columns["ended_at"] = moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    for request in _requests_in(plan.document):
        _request(request)


def _requests_in(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for stage in plan.get("stages", ()):
        for step in stage.get("steps", ()):
            if step.get("table") == "reclaim_requests":
                yield from (step[name] for name in ("row", "before") if step.get(name) is not None)


def _request(request: dict[str, Any]) -> None:
    if request.pop("is_for_good", False) and request.get("state") == "freed":
        request.setdefault("keep_reason", "")
        request["keep_reason"] = request["keep_reason"] or _DELETED
