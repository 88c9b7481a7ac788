"""Create the table of the Jobs that plans run on nodes."""

from bot.store.migrations.rewriting import create_table

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    create_table("job_runs", "cluster", "node", "plan", "remove_at")
