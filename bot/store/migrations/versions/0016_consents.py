"""Let a reclaim request be one of a plan, which waits for its answer: the columns by which it is found."""

from alembic import op
from sqlalchemy import Column, Text

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    for name in ("for_plan", "look_at"):
        op.add_column("reclaim_requests", Column(name, Text, nullable=False, server_default=""))
        op.create_index(f"reclaim_requests_by_{name}", "reclaim_requests", [name])
