"""The cause of a failure, in words. Pure."""

from collections.abc import Mapping

from collectors.facts.sentences import word
from commands.training.failure_signs import FailureKind

_WORDS: Mapping[str, str] = {
    FailureKind.GPU: "a GPU of its node is broken",
    FailureKind.NODE: "its node was lost, or evicted it",
    FailureKind.MEMORY: "it had too little memory",
    FailureKind.USER: "its own program ended with an error",
    FailureKind.DNS: "names were not resolved (DNS)",
    FailureKind.NETWORK: "the network between its tasks",
    FailureKind.VOLUME: "its storage failed, or could not be mounted",
    FailureKind.IMAGE: "its image could not be pulled",
    FailureKind.PREEMPTION: "it was preempted by others with a higher priority or claim",
}


def cause_words(kind: str) -> str:
    """Return the sentence about a FailureKind, without a full stop; empty where the cause is not known."""
    found = _WORDS.get(kind)
    return word(found) if found else ""
