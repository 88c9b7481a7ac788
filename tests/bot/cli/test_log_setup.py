"""The process's own log, which holds no secret in its words, its values, or the traceback of an error."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest
import structlog

from collectors.internal_errors import InternalErrors
from tests.support.own_log import own_log

SECRET = "hunter2-Zq"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    with own_log(monkeypatch) as written:
        yield written


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


def test_what_a_library_logs_is_an_entry_and_redacted(log: io.StringIO) -> None:
    assert logging.lastResort is not None
    record = logging.LogRecord("a.b", logging.WARNING, "a.py", 1, "GET %s", (f"http://a:{SECRET}@b",), None)
    entry = json.loads(logging.lastResort.format(record))
    assert (entry["event"], entry["logger"], entry["level"]) == (
        "GET http://a:[redacted]@b",
        "a.b",
        "warning",
    )


LOUD = """
import asyncio, gc, logging, threading, warnings
from bot.cli.log_setup import logs_of_the_service

class Untidy:
    def __del__(self):
        raise ValueError("password=hunter2-Zq")

async def loud():
    for name in ("slack_bolt.app", "slack_sdk.web", "aiohttp.server", "kubernetes.client", "yardmaster.slack"):
        logging.getLogger(name).warning("Failed to connect (error: %s); Retrying...", name)
    warnings.warn("this is old")
    asyncio.get_running_loop().call_exception_handler({"message": "socket.accept() out of system resource"})
    Untidy()
    gc.collect()
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    raise RuntimeError("two\\nlines, and password=hunter2-Zq")

with logs_of_the_service():
    asyncio.run(loud())
"""


def test_every_line_that_a_process_writes_is_an_entry() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", LOUD], capture_output=True, text=True, timeout=60, check=False
    )
    entries = [json.loads(line) for line in done.stderr.splitlines()]
    assert done.returncode == 1
    assert [entry.get("logger") for entry in entries[:5]] == [
        "slack_bolt.app",
        "slack_sdk.web",
        "aiohttp.server",
        "kubernetes.client",
        "yardmaster.slack",
    ]
    assert "this is old" in entries[5]["event"]
    assert "out of system resource" in entries[6]["event"]
    assert [entry["event"] for entry in entries[7:]] == [
        "error that nobody caught",
        "a thread ended with an error",
        "yardmaster crashed",
    ]
    assert "RuntimeError" in entries[-1]["exception"]
    assert SECRET not in done.stderr
