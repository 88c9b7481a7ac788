"""Create the first tables."""

from alembic import op
from sqlalchemy import Column, Integer, Text

revision = "0001"
down_revision = None


def upgrade() -> None:
    _rows("alerts", "cluster", "rule", "state")
    _rows("incidents", "cluster", "state", "group_key", "resolved_at")
    _rows("silences", "cluster")
    _rows("cards", "cluster", "state", "kind", "row_id", "channel")
    _rows("replies", "cluster", "state", "card")
    _rows("plans", "cluster", "state", "incident", "actor")
    _rows("steps", "cluster", "plan", "state")
    _rows("audit", "cluster", "actor", "plan", "at")
    _rows("agenda", "cluster", "at")
    _rows("leases", "cluster", "node")
    _rows("reclaim_requests", "cluster", "state", "training")
    _rows("launches", "cluster", "state")
    _rows("progress", "cluster")
    _rows("handled_requests", "at")
    _rows("interactions")
    op.create_table(
        "numbers", Column("name", Text, primary_key=True), Column("last", Integer, nullable=False)
    )


def _rows(name: str, *columns: str) -> None:
    op.create_table(
        name,
        Column("id", Text, primary_key=True),
        Column("seq", Integer, nullable=False),
        *(Column(column, Text, nullable=False) for column in columns),
        Column("over_at", Text),
        Column("document", Text, nullable=False),
    )
    for column in ("seq", "over_at", *columns):
        op.create_index(f"{name}_by_{column}", name, [column])
