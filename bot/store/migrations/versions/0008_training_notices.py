"""Create the table of what owners of trainings were notified of."""

from bot.store.migrations.rewriting import create_table

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    create_table("training_notices", "cluster", "training", "at")
