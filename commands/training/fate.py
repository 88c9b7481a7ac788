"""The outcome for a training that loses pods, by the retries that its objects say it has left. Pure."""

from math import inf

from collectors.facts.sentences import Sentence, counted, sentence
from collectors.trainings.training import Training


def fate_of(training: Training, lost: int) -> Sentence:
    """Return whether it goes on after the loss of so many ranks, or fails for good."""
    retries = training.retries
    if retries is None:
        return sentence("Whether its controller starts it again, or it fails for good, is not known.")
    if not retries.survives(lost):
        return sentence("It fails for good: it has no retry left for that.")
    if retries.pods == inf:
        return sentence(
            "Its controller starts the evicted ranks again: a disruption does not count as a failure."
        )
    if lost <= retries.pods:
        return counted(
            "Its controller starts the evicted ranks again: {count:g} retry is left.",
            "Its controller starts the evicted ranks again: {count:g} retries are left.",
            count=retries.pods,
        )
    return counted(
        "Its controller starts it again as a whole: {count} restart is left.",
        "Its controller starts it again as a whole: {count} restarts are left.",
        count=retries.whole,
    )
