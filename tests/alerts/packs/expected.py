"""The alert that a case expects."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """An alert that must fire: exactly these labels besides alertname, and this summary.

    `texts`: what its sample says besides, for people; None where a case does not look at it.
    """

    labels: Mapping[str, str]
    summary: str
    texts: tuple[str, ...] | None = None


class WrittenAlert(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Such an alert as a file of cases has it."""

    labels: dict[str, str]
    summary: str
    texts: tuple[str, ...] | None = None

    def read(self) -> Fired:
        return Fired(labels=self.labels, summary=self.summary, texts=self.texts)
