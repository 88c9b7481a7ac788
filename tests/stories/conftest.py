"""This file keeps the bot's log of a story short: one plain line an entry, no colours, no local variables."""

from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def _plain_log() -> Iterator[None]:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["level", "event"]),
        ]
    )
    yield
    structlog.reset_defaults()
