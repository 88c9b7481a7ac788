"""Create the table of acceptances of nodes."""

from bot.store.migrations.rewriting import create_table

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    create_table("acceptances", "cluster", "node", "model", "state", "plan", "at")
