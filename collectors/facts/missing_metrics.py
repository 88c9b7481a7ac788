"""Metrics that rules need and that have no series now, by the exporter that gives them."""

from dataclasses import dataclass
from enum import StrEnum


class MissingCause(StrEnum):
    """Why there are no series."""

    NO_TARGET = "no-target"  # nothing of the exporter is scraped, and no target of it is down
    TARGET_DOWN = "target-down"  # Prometheus scrapes it, and gets nothing from any target
    NOT_EXPORTED = "not-exported"  # the exporter gives other metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingMetrics:
    """What rules miss of one exporter. `exporter` is empty for metrics of an exporter that is not known.

    `lost` are those that were there in the last days, and do not come and go by themselves. `always` are those that
    the exporter can give wherever it runs. `lines` make it export them. `jobs` are its targets that are down.
    `is_control_plane`: a managed control plane may keep them to itself.
    """

    exporter: str
    metrics: tuple[str, ...]
    rules: tuple[str, ...]
    cause: MissingCause
    lost: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    needs: tuple[tuple[str, tuple[str, ...]], ...] = ()  # each rule with those that it misses itself
    fix: str = ""
    lines: tuple[str, ...] = ()
    is_optional: bool = False
    is_control_plane: bool = False
