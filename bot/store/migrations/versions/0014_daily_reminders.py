"""Create the table of the daily reminders of cordons."""

from bot.store.migrations.rewriting import create_table

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    create_table("daily_reminders", "owner", "due_at")
