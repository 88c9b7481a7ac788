"""This file makes the table of how far each cluster's rules were judged."""

from alembic import op
from sqlalchemy import Column, Integer, Text

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "progress",
        Column("id", Text, primary_key=True),
        Column("seq", Integer, nullable=False),
        Column("cluster", Text, nullable=False),
        Column("over_at", Text),
        Column("document", Text, nullable=False),
    )
    for column in ("seq", "over_at", "cluster"):
        op.create_index(f"progress_by_{column}", "progress", [column])
