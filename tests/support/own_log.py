"""The log of the test's own process, read back as text."""

import io
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import structlog

from bot.cli.log_setup import configure_logs


@contextmanager
def own_log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Yield it, configured as the command line does."""
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    structlog.reset_defaults()
    configure_logs()
    yield written
    structlog.reset_defaults()
