"""The alert that a case expects."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """An alert that must fire: exactly these labels besides alertname, and this summary.

    `texts`: what its sample says besides, for people; None where a case does not look at it.
    """

    labels: Mapping[str, str]
    summary: str
    texts: tuple[str, ...] | None = None
