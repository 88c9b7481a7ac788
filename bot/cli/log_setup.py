"""The process's own log: one JSON object per line, or coloured lines in a terminal, without secrets."""

import logging
import sys
from collections.abc import Mapping
from typing import Any

import structlog

from collectors.facts.redaction import redacted


class RedactingFormatter(logging.Formatter):
    """Formats what libraries log, which may repeat what a server sent."""

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


def redact_event(_logger: Any, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Remove secrets from all texts of an entry, tracebacks included."""
    return {name: _redacted(value) for name, value in event.items()}


def configure_logs() -> None:
    """Write structured logs to stderr, and warnings of libraries beside them."""
    renderer = structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            redact_event,
            renderer,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(RedactingFormatter())


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
