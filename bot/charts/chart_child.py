"""The child process that draws charts: one at a time, until its standard input ends."""

import os
import resource
import sys
from typing import BinaryIO

import msgspec

from bot.charts.line_chart import Chart

MOST_MEMORY = 768 << 20  # bytes: matplotlib, numpy and a chart need about 150 MB
REPLY_SIZE = 8  # bytes, big-endian, before each picture


def serve_charts(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer each line of `requests`, a chart, with its picture. An error ends the process."""
    from bot.charts.drawing import draw

    for line in requests:
        picture = draw(msgspec.json.decode(line, type=Chart))
        replies.write(len(picture).to_bytes(REPLY_SIZE, "big"))
        replies.write(picture)
        replies.flush()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    os.nice(10)  # the rules come first
    serve_charts(sys.stdin.buffer, sys.stdout.buffer)
