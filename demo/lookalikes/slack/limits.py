"""Slack's documented limits, from `limits.yaml`: values, source pages, and the rate tier of each method."""

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
    #: The page that documents it: Slack's own, or a report by people who measured it.
    page: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """All limits from one file."""

    named: Mapping[str, Limit]
    #: Calls per minute, by tier name.
    per_minute: Mapping[str, int]
    tier_page: str
    #: The tier of each method.
    tiers: Mapping[str, str]

    def __getitem__(self, name: str) -> int:
        return self.named[name].value

    def calls_per_minute(self, method: str) -> int:
        """Return how many calls of `method` one app may make per minute in one workspace."""
        return self.per_minute[self.tiers.get(method, "tier3")]


@cache
def documented() -> Limits:
    """Return the limits as Slack documents them."""
    content = yaml.safe_load((Path(__file__).parent / "limits.yaml").read_text(encoding="utf-8"))
    return Limits(
        named={name: Limit(name=name, **fields) for name, fields in content["limits"].items()},
        per_minute=content["tiers"]["per_minute"],
        tier_page=content["tiers"]["page"],
        tiers=content["methods"],
    )
