"""Words of `nvidia-smi` in place of an answer, whoever asked: the driver refuses, or a GPU is lost. Pure.

Sources: the manual page of drivers 470 to 580, and the strings of NVML's `nvmlErrorString`.
"""

from dataclasses import dataclass

from collectors.acceptance.readings import NextStep
from collectors.facts.sentences import Sentence, sentence

_LOST = ("[gpu is lost]", "[unknown error]", "unknown error", "err!", "[gpu requires reset]")


@dataclass(frozen=True, slots=True, kw_only=True)
class SmiRefusal:
    """An answer that is none. `said`: what it means, where its own words do not say it; `is_lost`: of one GPU."""

    words: str
    next_step: NextStep
    said: Sentence | None = None
    is_lost: bool = False


_REFUSALS = (
    SmiRefusal(words="GPU is lost", next_step=NextStep.REBOOT, is_lost=True),
    SmiRefusal(words="fallen off the bus", next_step=NextStep.REBOOT, is_lost=True),
    SmiRefusal(words="Unable to determine the device handle", next_step=NextStep.REBOOT, is_lost=True),
    SmiRefusal(words="requires reset", next_step=NextStep.RESET),
    SmiRefusal(words="No devices were found", next_step=NextStep.REBOOT, said=sentence("no GPU is there")),
    SmiRefusal(
        words="couldn't communicate with the NVIDIA driver",
        next_step=NextStep.CONFIGURE,
        said=sentence("the driver is not loaded"),
    ),
    SmiRefusal(
        words="Driver/library version mismatch",
        next_step=NextStep.REBOOT,
        said=sentence("the driver was updated and the node was not rebooted"),
    ),
    SmiRefusal(
        words="Failed to initialize NVML",
        next_step=NextStep.CONFIGURE,
        said=sentence("the driver does not answer (NVML)"),
    ),
)


def refusal_in(text: str) -> SmiRefusal | None:
    """Return the first refusal whose words are in the text; None if there is none."""
    lowered = text.lower()
    return next((one for one in _REFUSALS if one.words.lower() in lowered), None)


def is_lost(value: str) -> bool:
    """Whether the value of a column says that the GPU does not answer."""
    return value.lower() in _LOST
