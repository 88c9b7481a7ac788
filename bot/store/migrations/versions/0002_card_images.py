"""Create the table of the charts on cards."""

from alembic import op
from sqlalchemy import Column, Integer, Text

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    _rows("card_images", "cluster", "card")


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
