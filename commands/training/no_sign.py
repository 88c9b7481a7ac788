"""A training whose controller gives no sign: its kind is served, and whatever acts on it may not run. Pure."""

from datetime import datetime, timedelta

from collectors.facts.sentences import sentence
from collectors.facts.workload_keys import shown_kind
from collectors.trainings.training import Training

SIGN_WITHIN = timedelta(seconds=30)


def no_sign(training: Training, since: datetime | None, now: datetime) -> str:
    """Return what is said of a training that nobody has taken up since then; empty if somebody has, or may yet."""
    if training.has_sign or training.state.is_over or since is None or now - since < SIGN_WITHIN:
        return ""
    return sentence(
        "no controller of {kind}s has picked it up within {time}: it may not run in this cluster",
        kind=shown_kind(training.kind),
        time=SIGN_WITHIN,
    )
