"""Create the table of the alerts of incidents that have many.

A document that was written before keeps all of its alerts until the incident changes.
"""

from bot.store.migrations.rewriting import create_table

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    create_table("members", "incident")
