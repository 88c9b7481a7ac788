"""The stream of the log: a thread writes it, so that code that logs never waits for the reader."""

import json
import os
import threading
from collections import deque
from collections.abc import Callable

MOST_BYTES = 4 << 20  # that wait to be written
FLUSH_WITHIN = 2.0  # seconds, at the end


class LogStream:
    """Takes lines at once, and writes them in their order to a file descriptor.

    When nobody reads them and MOST_BYTES wait, further lines are dropped. How many is written once there is room, and
    reported to the listener, who may be called from any thread.
    """

    def __init__(self, descriptor: int, *, most: int = MOST_BYTES) -> None:
        self._descriptor = descriptor
        self._most = most
        self._waiting: deque[bytes] = deque()
        self._bytes = 0  # of what waits, and of what is being written
        self._dropped = 0  # since it was last written
        self._on_dropped: Callable[[], None] = lambda: None
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name="log", daemon=True).start()

    def listen(self, on_dropped: Callable[[], None]) -> None:
        """Call the listener for each line that is dropped."""
        self._on_dropped = on_dropped

    def write(self, text: str) -> int:
        """Take lines, each with its end."""
        line = text.encode("utf-8", "backslashreplace")
        with self._changed:
            is_full = self._bytes + len(line) > self._most
            if is_full:
                self._dropped += 1
            else:
                self._waiting.append(line)
                self._bytes += len(line)
                self._changed.notify_all()
        if is_full:
            self._on_dropped()
        return len(text)

    def flush(self) -> None:
        """Do nothing: `finish` waits."""

    def finish(self) -> None:
        """Wait until everything is written, but not long."""
        with self._changed:
            self._changed.wait_for(lambda: not self._bytes, FLUSH_WITHIN)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting))
                lines = b"".join(self._waiting)
                self._waiting.clear()
            self._write(lines)
            with self._changed:
                self._bytes -= len(lines)
                if self._dropped:
                    words = {"event": "log lines dropped: nobody read them", "level": "warning"}
                    said = json.dumps({"lines": self._dropped, **words}).encode() + b"\n"
                    self._dropped = 0
                    self._waiting.append(said)
                    self._bytes += len(said)
                self._changed.notify_all()

    def _write(self, lines: bytes) -> None:
        left = memoryview(lines)
        while left:
            try:
                left = left[os.write(self._descriptor, left) :]
            except OSError:  # the reader is gone, or its disk is full: there is nowhere to say so
                return
