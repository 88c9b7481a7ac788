"""Create the tables of what was said of windows, of what rules do by themselves, and of breakers."""

from bot.store.migrations.rewriting import create_table

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    create_table("window_notices", "window", "at")
    create_table("remediations", "cluster", "rule", "state", "at")
    create_table("breakers", "cluster", "state")
