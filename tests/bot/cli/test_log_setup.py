"""The process's own log holds no secret: not in its words, its values, nor the traceback of an error."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from bot.cli.log_setup import RedactingFormatter, configure_logs
from collectors.internal_errors import InternalErrors

SECRET = "hunter2-Zq"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    structlog.reset_defaults()
    configure_logs()
    yield written
    structlog.reset_defaults()


def test_a_value_of_an_entry_is_redacted(log: io.StringIO) -> None:
    values = {
        "url": f"http://ana:{SECRET}@db",
        "of": [f"password={SECRET}"],
        "by": {"x": f"password={SECRET}"},
    }
    structlog.get_logger().warning(f"refused: password={SECRET}", **values, count=3)
    entry = json.loads(log.getvalue())
    assert SECRET not in log.getvalue()
    assert (entry["url"], entry["count"]) == ("http://ana:[redacted]@db", 3)


def test_a_traceback_is_redacted(log: io.StringIO) -> None:
    try:
        raise RuntimeError(f"no such host: postgresql://yard:{SECRET}@db/yard")
    except RuntimeError as error:
        InternalErrors().contain(error, "source")
    assert "postgresql://yard:[redacted]@db/yard" in log.getvalue()
    assert SECRET not in log.getvalue()


def test_what_a_library_logs_is_redacted() -> None:
    record = logging.LogRecord("a", logging.WARNING, "a.py", 1, "GET %s", (f"http://a:{SECRET}@b",), None)
    assert RedactingFormatter().format(record) == "GET http://a:[redacted]@b"
    assert logging.lastResort is not None
    assert isinstance(logging.lastResort.formatter, RedactingFormatter)
