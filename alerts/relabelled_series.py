"""Alerts whose series name the same thing by other labels: an exporter was relabelled, or we were upgraded. Pure."""

from collections import Counter
from collections.abc import Callable, Mapping

from alerts.alert import Alert
from alerts.present_series import PresentSeries
from collectors.facts.label_mapping import NAMING_LABELS
from collectors.facts.labels import AlertKey, Labels
from collectors.facts.subjects import Subject

_TRAINING = "training"
_COMPARED = ("cluster", "node", "gpu", "uuid", "namespace", "pod")


def carried_over(
    known: Mapping[AlertKey, Alert],
    found: Mapping[AlertKey, Labels],
    subject_of: Callable[[Labels], Subject],
) -> Mapping[AlertKey, AlertKey]:
    """Return which found labels are of which known alert, though they differ: they are about the same thing.

    `subject_of` returns the completed subject of labels. Where it is not clear which is which, nothing is carried over.
    """
    lost: dict[tuple[str, ...], list[Alert]] = {}
    for key, alert in known.items():
        if key not in found:
            for word in _words(alert.subject):
                lost.setdefault(word, []).append(alert)
    pairs: set[tuple[AlertKey, AlertKey]] = set()
    for key in [key for key in found if key not in known] if lost else ():
        labels, subject = found[key], subject_of(found[key])
        near = (alert for word in _words(subject) for alert in lost.get(word, ()))
        pairs.update(
            (key, alert.key)
            for alert in near
            if is_same(subject, alert.subject) and _unnamed(labels) == _unnamed(alert.labels)
        )
    of_new, of_lost = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    return {one: other for one, other in pairs if of_new[one] == of_lost[other] == 1}


def renamed_trainings(
    known: Mapping[AlertKey, Alert],
    found: Mapping[AlertKey, Labels],
    subject_of: Callable[[Labels], Subject],
) -> Mapping[AlertKey, AlertKey]:
    """Return which found labels are of which known alert of a check, though the label `training` differs.

    It is the name of a training, and its key as long as another one has the name too; all other labels are equal.
    """
    lost = {
        (alert.subject.training, alert.labels.without(_TRAINING)): key
        for key, alert in known.items()
        if key not in found and _TRAINING in alert.labels
    }
    if not lost:
        return {}
    return {
        key: before
        for key, labels in found.items()
        if key not in known
        and _TRAINING in labels
        and (before := lost.get((subject_of(labels).training, labels.without(_TRAINING)))) is not None
    }


def is_same(one: Subject, other: Subject) -> bool:
    """Whether both are the same GPU, pod or node: what both have is equal, and it names one."""
    if not _agree(one, other):
        return False
    if one.uuid and other.uuid:
        return True
    if one.pod or other.pod:
        return one.pod == other.pod
    return bool(one.node) and (one.node, one.gpu) == (other.node, other.gpu)


def is_among(alert: Alert, present: PresentSeries, subject_of: Callable[[Labels], Subject]) -> bool:
    """Whether something that is watched is the alert's subject, or is where it is."""
    words = [word for word in (alert.subject.uuid, alert.subject.node, alert.subject.pod) if word]
    other = _unnamed(alert.labels)
    return any(
        all(other.get(name, value) == value for name, value in _unnamed(labels).items())
        and _agree(subject_of(labels), alert.subject)
        for labels in present.near(words)
    )


def _agree(one: Subject, other: Subject) -> bool:
    """Whether nothing that both have differs. A GPU is the same by its UUID, however its node is named."""
    if one.uuid and other.uuid:
        return one.uuid == other.uuid
    both = ((getattr(one, name), getattr(other, name)) for name in _COMPARED)
    return all(mine == theirs for mine, theirs in both if mine and theirs)


def _words(subject: Subject) -> list[tuple[str, ...]]:
    """Return what a subject can be found by: two that are the same share one of these."""
    words: list[tuple[str, ...]] = [("uuid", subject.uuid), ("pod", subject.pod)]
    if not subject.pod:
        words.append(("node", subject.node, subject.gpu))
    return [word for word in words if word[1]]


def _unnamed(labels: Labels) -> Labels:
    """Return the labels that say something else than what the series is about."""
    return labels.without(*NAMING_LABELS)
