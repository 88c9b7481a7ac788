"""The table of what is seen: reported failures, hot spots, pains and demands, and the rules and commands for each."""

from enum import StrEnum
from pathlib import Path

import msgspec

from docs.headed_tables import headed_tables, read_rows

COVERAGE = Path(__file__).parent / "coverage.yaml"


class ReportKind(StrEnum):
    FAILURE = "failure"
    HOT_SPOT = "hot spot"
    PAIN = "pain"
    CAUSE = "cause"
    LIMIT = "limit"
    DEMAND = "demand"


class Report(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was reported, the rules and commands for it, why nothing sees it, and what is not there yet."""

    what: str
    kind: ReportKind
    rules: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    unseen: str = ""
    later: str = ""

    @property
    def is_answered(self) -> bool:
        return bool(self.rules or self.commands or self.unseen or self.later)


def read_coverage(path: Path = COVERAGE) -> dict[str, tuple[Report, ...]]:
    """Return the reports by their area. Raises msgspec.ValidationError, which says where the file is wrong."""
    return read_rows(path, Report)


def coverage_part() -> str:
    """A table per area."""
    columns = ("Reported", "Kind", "Seen by", "Answered by", "Not there")
    return headed_tables(read_coverage(), columns, _cells)


def _cells(report: Report) -> tuple[str, ...]:
    missing = [f"cannot be seen: {report.unseen}"] if report.unseen else []
    missing += [f"not yet: {report.later}"] if report.later else []
    return (
        report.what,
        report.kind.value,
        ", ".join(report.rules),
        ", ".join(f"`{name}`" for name in report.commands),
        "; ".join(missing),
    )
