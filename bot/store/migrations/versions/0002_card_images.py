"""Create the table of the charts on cards."""

from bot.store.migrations.rewriting import create_table

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    create_table("card_images", "cluster", "card")
