"""This file has what a case expects: an alert, exactly."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """An alert that must be there, exactly: all of its labels without alertname, and its summary."""

    labels: Mapping[str, str]
    summary: str
