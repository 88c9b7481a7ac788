"""Alembic's environment: runs the migrations on the given connection, in its transaction."""

from collections.abc import Callable
from typing import Any

import structlog
from alembic import context
from alembic.migration import MigrationContext


def _log_version(*, step: Any, **_kwargs: Any) -> None:
    if not is_new:
        structlog.get_logger().info("store migrated", revision=step.up_revision_id)


on_version_apply: Callable[..., None] = _log_version
connection = context.config.attributes["connection"]
is_new = not MigrationContext.configure(connection).get_current_heads()  # nothing in it is migrated
context.configure(connection=connection, transactional_ddl=True, on_version_apply=on_version_apply)
context.run_migrations()
