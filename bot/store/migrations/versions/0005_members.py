"""Create the table of the alerts of incidents that have many.

A document that was written before keeps all of its alerts until the incident changes.
"""

from alembic import op
from sqlalchemy import Column, Integer, Text

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    _rows("members", "incident")


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
