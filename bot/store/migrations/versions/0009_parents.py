"""Create the table of parent incidents, and the column by which their members are found."""

from alembic import op
from sqlalchemy import Column, Text

from bot.store.migrations.rewriting import create_table

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    create_table("parents", "cluster", "state", "key", "resolved_at", "unanswered_since")
    op.add_column("incidents", Column("parent", Text, nullable=False, server_default=""))
    op.create_index("incidents_by_parent", "incidents", ["parent"])
