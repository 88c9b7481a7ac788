"""This file has what checks look at, and what a check is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from collectors.cluster.inventory import Inventory
from collectors.facts.results import Blind, Sample
from collectors.trainings.training import Training


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """How one source is. `blind_for` is None while it answers whole; `rules` are blind though their source is not."""

    source: str
    blind_for: timedelta | None = None
    reason: str = ""
    rules: Mapping[str, str] = field(default_factory=dict)  # rule name -> why


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckInput:
    """The cluster at one moment, as checks see it. An input that could not be had is Blind."""

    at: datetime
    inventory: Inventory | Blind
    trainings: Sequence[Training] | Blind
    configs: Mapping[str, Mapping[str, str]] | Blind  # ConfigMaps that are cached: namespace/name -> data
    sources: Sequence[SourceState]


INPUTS = frozenset({"inventory", "trainings", "configs", "sources"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCheck:
    """A check: what it needs of the scene, the parameters it knows with their defaults, and the function.

    `run` gets the scene and the parameters; the inputs it declared in `needs` are not Blind when it is called, and
    none of the cached `kinds` is missing from the inventory.
    """

    name: str
    summary: str
    needs: frozenset[str]
    run: Callable[[CheckInput, Mapping[str, Any]], Sequence[Sample]]
    parameters: Mapping[str, object] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()  # beside nodes and pods, without which there is no inventory

    def __post_init__(self) -> None:
        if unknown := self.needs - INPUTS:
            raise ValueError(f"{self.name}: no input is called {', '.join(sorted(unknown))}")
