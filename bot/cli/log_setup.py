"""The process's own log: one JSON object per line, or coloured lines in a terminal, without secrets.

Lines of libraries, warnings and tracebacks are entries like our own.
"""

import logging
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, cast

import structlog

from bot.cli.log_stream import LogStream
from collectors.facts.redaction import redacted

_log = structlog.get_logger()


class Stream(Protocol):
    """What the log is written to."""

    def write(self, text: str, /) -> Any: ...
    def flush(self) -> Any: ...


class EntryFormatter(logging.Formatter):
    """Formats what a library logs as an entry. It may repeat what a server sent, so it is redacted as ours are."""

    def __init__(self, processors: list[structlog.typing.Processor]) -> None:
        super().__init__()
        self._processors = processors

    def format(self, record: logging.LogRecord) -> str:
        entry: Any = {"event": record.getMessage(), "logger": record.name}
        if record.exc_info:
            entry["exc_info"] = record.exc_info
        for process in self._processors:
            entry = process(None, record.levelname.lower(), entry)
        return cast(str, entry)


def redact_event(_logger: Any, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Remove secrets from all texts of an entry, tracebacks included."""
    return {name: _redacted(value) for name, value in event.items()}


def configure_logs(stream: Stream | None = None) -> logging.Formatter:
    """Write the log to the stream, or else to stderr. Return what formats the lines of libraries.

    Libraries that log without a handler are formatted too.
    """
    stream = stream or sys.stderr
    is_terminal = sys.stderr.isatty()
    processors: list[structlog.typing.Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        redact_event,
        structlog.dev.ConsoleRenderer() if is_terminal else structlog.processors.JSONRenderer(),
    ]
    structlog.configure(
        processors=processors,
        logger_factory=structlog.WriteLoggerFactory(cast(Any, stream)),
    )
    formatter = EntryFormatter([*processors])  # its own, as tests that capture entries change the other list
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(formatter)
    return formatter


@contextmanager
def logs_of_the_service() -> Iterator[LogStream]:
    """Log through a thread meanwhile, all that anything in this process has to say, and flush it at the end.

    This is for the whole life of a process: it takes what Python would print for uncaught errors and warnings.
    """
    stream = LogStream(_descriptor())
    handler = logging.StreamHandler(cast(Any, stream))
    handler.setFormatter(configure_logs(stream))
    logging.getLogger().addHandler(handler)
    logging.captureWarnings(True)
    sys.excepthook = _crashed(sys.excepthook, stream.finish)
    sys.unraisablehook = lambda one: _log.error(
        "error that nobody caught", of=repr(one.object), exc_info=one.exc_value
    )
    threading.excepthook = lambda one: _log.error("a thread ended with an error", exc_info=one.exc_value)
    try:
        yield stream
    finally:
        stream.finish()


def _descriptor() -> int:
    """Return the descriptor of the standard error. What another program puts in its place may have none."""
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError):
        return 2


def _crashed(before: Callable[..., Any], finish: Callable[[], None]) -> Callable[..., None]:
    def hook(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if isinstance(error, KeyboardInterrupt):
            before(kind, error, trace)
            return
        _log.critical("yardmaster crashed", exc_info=error)
        finish()

    return hook


def _redacted(value: Any) -> Any:
    match value:
        case str():
            return redacted(value)
        case Mapping():
            return {name: _redacted(one) for name, one in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_redacted(one) for one in value]
        case None | bool() | int() | float():
            return value
        case _:  # JSONRenderer writes its repr
            return redacted(repr(value))
