"""The stream of the log: code that logs never waits for the reader."""

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from bot.cli.log_stream import LogStream

PIPE = 4096  # bytes, the smallest
LINE = "x" * 99 + "\n"


@dataclass(frozen=True, slots=True)
class Pipe:
    reader: int
    writer: int

    def read_lines(self, count: int) -> list[str]:
        """Read until so many lines have come."""
        read = b""
        while read.count(b"\n") < count:
            read += os.read(self.reader, 1 << 16)
        return read.decode().splitlines()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE)
    yield Pipe(reader, writer)
    os.close(reader)
    os.close(writer)


def test_lines_that_nobody_reads_wait_and_come_in_order(pipe: Pipe) -> None:
    stream = LogStream(pipe.writer)
    for number in range(1_000):
        stream.write(f"{number} {LINE}")
    stream.finish()  # it does not wait for ever
    assert [line.split()[0] for line in pipe.read_lines(1_000)] == [str(number) for number in range(1_000)]


def test_lines_beyond_the_limit_are_dropped_counted_and_reported(pipe: Pipe) -> None:
    dropped: list[int] = []
    os.write(pipe.writer, b"y" * (PIPE - 1) + b"\n")  # it is full
    stream = LogStream(pipe.writer, most=20_000)
    stream.listen(lambda: dropped.append(1))
    for _ in range(1_000):
        stream.write(LINE)
    assert len(dropped) == 800
    lines = pipe.read_lines(1 + 200 + 1)
    assert json.loads(lines[-1]) == {
        "lines": 800,
        "event": "log lines dropped: nobody read them",
        "level": "warning",
    }
    stream.write(LINE)
    assert pipe.read_lines(1) == [LINE.strip()]


def test_a_reader_that_is_gone_ends_nothing() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    stream = LogStream(writer)
    for _ in range(3):
        stream.write(LINE)
        stream.finish()
    assert [one.name for one in threading.enumerate()].count("log") >= 1
    os.close(writer)
