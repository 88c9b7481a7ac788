"""Create the table that says up to which body of the inbox of alerts the effects are stored."""

from bot.store.migrations.rewriting import create_table

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    create_table("inbox_marks", "cluster")
