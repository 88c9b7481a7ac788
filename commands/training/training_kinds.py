"""The kinds of training that commands can change. To add a kind, add a file and a line here."""

from collectors.facts.sentences import listed, sentence
from collectors.facts.workload_keys import shown_kind
from collectors.trainings.training import Training
from commands.core.command import UnusableError
from commands.training import job, jobset, mpijob, mpijobv2, pytorchjob, rayjob, tfjob, trainjob, vcjob
from commands.training.writing_kind import WritingKind

DEFAULT_KIND = job.KIND
_WRITTEN = (
    job.KIND,
    jobset.KIND,
    pytorchjob.KIND,
    tfjob.KIND,
    mpijob.KIND,
    mpijobv2.KIND,
    trainjob.KIND,
    vcjob.KIND,
    rayjob.KIND,
)
KINDS = {kind.name: kind for kind in _WRITTEN}
BY_OPTION = {kind.option: kind for kind in KINDS.values() if kind.launching}  # those that can be launched


def writing_kind_of(training: Training) -> WritingKind:
    """Return the kind that can change this training. Raises UnusableError if there is none."""
    if (kind := KINDS.get(training.kind)) is None:
        raise UnusableError(only_read(training))
    return kind


def only_read(training: Training) -> str:
    """Return why a training of a kind without a file here cannot be changed."""
    return sentence(
        "{training} is of kind {kind}, which can only be read. These can be changed: {kinds}.",
        training=training.shown,
        kind=shown_kind(training.kind),
        kinds=listed(map(shown_kind, KINDS)),
    )
