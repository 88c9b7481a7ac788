"""Create the table of what was known of nodes before they were touched."""

from bot.store.migrations.rewriting import create_table

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    create_table("node_evidence", "cluster", "node", "plan", "incident")
