"""Create the table of the logs that somebody follows."""

from bot.store.migrations.rewriting import create_table

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    create_table("log_follows", "cluster", "state", "next_at")
