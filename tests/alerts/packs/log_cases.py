"""Cases of log rules, which are data: lines that fire them, lines that leave them quiet, and why.

In `log-cases/*.yaml`, one file for each pack. The demo writes the lines of an event that has a `what`; `LogEvent` has
the fields.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from tests.alerts.packs.expected import WrittenAlert
from tests.alerts.packs.log_case import LogCase, LogEvent
from tests.support.quick_yaml import from_yaml

LOG_CASES_FOLDER = Path(__file__).with_name("log-cases")


class _WrittenCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: str
    case: str
    lines: tuple[LogEvent, ...]
    fires: tuple[WrittenAlert, ...] = ()  # none: the rule stays quiet


class _CaseFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cases: tuple[_WrittenCase, ...]


def log_cases_of(text: str) -> Iterator[LogCase]:
    """Return the cases that a file has."""
    for one in msgspec.convert(from_yaml(text), _CaseFile).cases:
        fired = tuple(alert.read() for alert in one.fires)
        yield LogCase(rule=one.rule, description=one.case, events=one.lines, fired=fired)


LOG_CASES: Sequence[LogCase] = tuple(
    case
    for path in sorted(LOG_CASES_FOLDER.glob("*.yaml"))
    for case in log_cases_of(path.read_text(encoding="utf-8"))
)
