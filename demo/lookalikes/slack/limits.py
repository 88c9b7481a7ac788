"""This file reads what Slack allows (`limits.yaml`): values, their pages, and the tier of each method."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One documented limit."""

    name: str
    value: int
    #: What is counted: characters, items, seconds, bytes.
    unit: str
    #: Where Slack (or the people who measured it) says so.
    page: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """All limits of one file."""

    named: Mapping[str, Limit]
    #: Calls a minute by tier name.
    per_minute: Mapping[str, int]
    tier_page: str
    #: The tier of each method.
    tiers: Mapping[str, str]

    def __getitem__(self, name: str) -> int:
        return self.named[name].value

    def calls_per_minute(self, method: str) -> int:
        """How often `method` may be called in a minute by one app in one workspace."""
        return self.per_minute[self.tiers.get(method, "tier3")]


@cache
def documented() -> Limits:
    """The limits as Slack documents them."""
    read = yaml.safe_load((Path(__file__).parent / "limits.yaml").read_text(encoding="utf-8"))
    return Limits(
        named={name: Limit(name=name, **fields) for name, fields in read["limits"].items()},
        per_minute=read["tiers"]["per_minute"],
        tier_page=read["tiers"]["page"],
        tiers=read["methods"],
    )
