"""Create the table of cordons of single GPUs."""

from bot.store.migrations.rewriting import create_table

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    create_table("gpu_leases", "cluster", "node", "remind_at")
