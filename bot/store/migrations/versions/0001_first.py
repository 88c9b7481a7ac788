"""Create the first tables."""

from alembic import op
from sqlalchemy import Column, Integer, Text

from bot.store.migrations.rewriting import create_table

revision = "0001"
down_revision = None


def upgrade() -> None:
    create_table("alerts", "cluster", "rule", "state")
    create_table("incidents", "cluster", "state", "group_key", "resolved_at")
    create_table("silences", "cluster")
    create_table("cards", "cluster", "state", "kind", "row_id", "channel")
    create_table("replies", "cluster", "state", "card")
    create_table("plans", "cluster", "state", "incident", "actor")
    create_table("steps", "cluster", "plan", "state")
    create_table("audit", "cluster", "actor", "plan", "at")
    create_table("agenda", "cluster", "at")
    create_table("leases", "cluster", "node")
    create_table("reclaim_requests", "cluster", "state", "training")
    create_table("launches", "cluster", "state")
    create_table("progress", "cluster")
    create_table("handled_requests", "at")
    create_table("interactions")
    op.create_table(
        "numbers", Column("name", Text, primary_key=True), Column("last", Integer, nullable=False)
    )
