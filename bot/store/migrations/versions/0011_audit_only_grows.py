"""Refuse to change or delete an entry of the audit."""

from bot.store.migrations.rewriting import refuse_changes

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    refuse_changes("audit")
