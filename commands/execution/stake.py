"""The stake of one workload that a plan ends: its figures, and how people read them. Pure."""

from dataclasses import dataclass

from collectors.facts.sentences import Sentence, counted, sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Stake:
    """The loss of one training or workload if it is ended. None is not known, and never counts as nothing.

    `gpu_hours`: of a training, the work of its GPUs since the last checkpoint. `left`: of a service, the replicas that
    are ready without those that end, of the `replicas` that it should have.
    """

    name: str  # its key
    shown: str  # as people read it
    owner: str = ""
    team: str = ""
    gpus: float = 0  # that end
    is_training: bool = False
    gpu_hours: float | None = None
    replicas: int | None = None
    left: int | None = None

    @property
    def said(self) -> Sentence:
        """`vision/detr of ana: 12.5 GPU-hours since its last checkpoint`."""
        who: str = self.shown
        if self.owner:
            who = sentence("{workload} of {owner}", workload=self.shown, owner=self.owner)
        if self.is_training and self.gpu_hours is not None:
            hours = round(self.gpu_hours, 1)
            return counted(
                "{who}: {count:g} GPU-hour since its last checkpoint",
                "{who}: {count:g} GPU-hours since its last checkpoint",
                who=who,
                count=hours,
            )
        if self.is_training:
            return sentence("{who}: GPU-hours since its last checkpoint unknown", who=who)
        if self.left is not None and self.replicas is not None:
            return counted(
                "{who}: {left} of {count} replica left",
                "{who}: {left} of {count} replicas left",
                who=who,
                left=self.left,
                count=self.replicas,
            )
        return sentence("{who}: remaining replicas unknown", who=who)
