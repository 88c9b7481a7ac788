"""The disruption by a plan, and whether it is more than was shown. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts.sentences import Sentence, counted, listed, sentence
from collectors.facts.topology import shown_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Disruption:
    """One training or workload that a plan disrupts."""

    name: str  # its key
    shown: str = ""  # as people read it
    owner: str = ""
    team: str = ""
    gpus: float = 0
    pods: int | None = None  # of them that run, and end; None: not known
    ends: bool = False  # running work is lost, and its owner did not agree to that
    asks: str = ""  # the person whose answer the plan waits for before it ends this
    text: str = ""  # how much of it: `2 of 6 ranks`

    @property
    def label(self) -> str:
        return self.shown or shown_name(self.name)

    def __str__(self) -> str:
        return str(self.said)

    @property
    def said(self) -> Sentence:
        """`vision-detr/detr of ana: 2 of 6 ranks, 16 GPUs`."""
        what: str = self.label
        if self.owner:
            what = sentence("{workload} of {owner}", workload=what, owner=self.owner)
        gpus = counted("{count:g} GPU", "{count:g} GPUs", count=self.gpus) if self.gpus else ""
        amounts = listed(filter(None, (self.text, gpus)))
        return listed(filter(None, (what, amounts)), ":")


def worse_than_shown(shown: Sequence[Disruption], now: Sequence[Disruption]) -> list[str]:
    """Return what is disrupted more than was shown: a workload, an owner, a GPU, or running work."""
    before = {one.name: one for one in shown}
    worse: list[str] = []
    for one in now:
        old = before.get(one.name)
        if (
            old is None
            or old.owner != one.owner
            or one.gpus > old.gpus
            or one.ends > old.ends
            or one.asks != old.asks
        ):
            worse.append(one.said)
    return worse
