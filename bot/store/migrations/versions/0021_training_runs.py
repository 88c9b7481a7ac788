"""Create the table of trainings' runs that have ended."""

from bot.store.migrations.rewriting import create_table

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    create_table("training_runs", "cluster", "like", "at")
