"""The disruption by a plan, and whether it is more than was shown. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts.topology import shown_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Disruption:
    """One training or workload that a plan disrupts."""

    name: str  # its key
    shown: str = ""  # as people read it
    owner: str = ""
    gpus: float = 0
    text: str = ""  # how much of it: `2 of 6 ranks`

    def __str__(self) -> str:
        owner = f" of {self.owner}" if self.owner else ""
        amounts = [self.text] if self.text else []
        amounts += [f"{self.gpus:g} GPUs"] if self.gpus else []
        return f"{self.shown or shown_name(self.name)}{owner}" + (
            f": {', '.join(amounts)}" if amounts else ""
        )


def worse_than_shown(shown: Sequence[Disruption], now: Sequence[Disruption]) -> list[str]:
    """Return what is disrupted more than was shown: a workload, an owner, or a GPU."""
    before = {one.name: one for one in shown}
    worse: list[str] = []
    for one in now:
        old = before.get(one.name)
        if old is None or old.owner != one.owner or one.gpus > old.gpus:
            worse.append(str(one))
    return worse
