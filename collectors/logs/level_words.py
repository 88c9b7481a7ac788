"""The words and numbers by which lines and shippers say how bad a line is."""

from collections.abc import Iterable, Mapping

from collectors.facts.queries import LogLevel

KLOG = {LogLevel.FATAL: "f", LogLevel.ERROR: "e", LogLevel.WARNING: "w", LogLevel.INFO: "i"}
LEADING = {  # words that are a level at the start of a line: `[ERROR] plugin/errors: …`, `panic: …`
    LogLevel.FATAL: ("fatal", "panic"),
    LogLevel.ERROR: ("error", "err"),
    LogLevel.WARNING: ("warning", "warn"),
    LogLevel.INFO: ("info", "debug"),
}
KEYS = (
    "level",
    "severity",
    "lvl",
    "levelname",
    "log.level",
    "log_level",
)  # `"level":"error"`, `level=error`
# Priorities of the journal and syslog.
SYSLOG = {LogLevel.FATAL: (0, 1, 2), LogLevel.ERROR: (3,), LogLevel.WARNING: (4,), LogLevel.INFO: (5, 6, 7)}
BUNYAN = {LogLevel.FATAL: (60,), LogLevel.ERROR: (50,), LogLevel.WARNING: (40,), LogLevel.INFO: (30, 20, 10)}
_WORDS: Mapping[LogLevel, tuple[str, ...]] = {
    LogLevel.FATAL: ("fatal", "critical", "crit", "panic", "dpanic", "alert", "emerg", "emergency"),
    LogLevel.ERROR: ("error", "err", "eror", "severe"),
    LogLevel.WARNING: ("warning", "warn"),
    LogLevel.INFO: ("info", "notice", "debug", "trace"),
}


def level_words(levels: Iterable[LogLevel]) -> list[str]:
    """Return the words of these levels, as a field or a key of a line has them."""
    return [word for one in levels for word in _WORDS[one]]


def level_numbers(table: Mapping[LogLevel, tuple[int, ...]], levels: Iterable[LogLevel]) -> list[int]:
    """Return the numbers of these levels in SYSLOG or BUNYAN."""
    return [number for one in levels for number in table[one]]
