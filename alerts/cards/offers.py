"""Suggestions of an incident's card: of what its rules suggest, the actions that are possible and still to do. Pure.

Buttons and the line "Next:" both show what is judged here. What the cluster does not show is suggested: it may not
have been done.
"""

from collections.abc import Callable, Mapping

from alerts.cards.cluster_now import ClusterNow
from alerts.cards.incident_context import IncidentContext
from alerts.cards.suggested_actions import Suggestion, label_of, suggestions
from alerts.incidents.incident import Incident

_Judge = Callable[[Suggestion, ClusterNow], bool]  # whether there is still something to do


def _has_no_cordon(one: Suggestion, cluster: ClusterNow) -> bool:
    return one.object not in cluster.cordoned


def _has_one_gpu_to_cordon(one: Suggestion, cluster: ClusterNow) -> bool:
    """Whether that GPU can be kept from pods by itself, and takes some now."""
    return (
        one.object in cluster.with_devices - cluster.cordoned
        and (one.object, one.gpu) not in cluster.cordoned_gpus
    )


def _has_something_to_hold(one: Suggestion, cluster: ClusterNow) -> bool:
    return one.object not in cluster.frozen


def _writes(one: Suggestion, cluster: ClusterNow) -> bool:
    """Whether the training runs, and writes to the volume if it is to be stopped for one."""
    if one.object in cluster.over:
        return False
    return not one.volume or one.object in cluster.writers.get(one.volume, frozenset({one.object}))


def _holds_gpus(one: Suggestion, cluster: ClusterNow) -> bool:
    return one.object not in cluster.over | cluster.idle


_JUDGES: Mapping[str, _Judge] = {  # other commands only show something
    "node cordon": _has_no_cordon,
    "gpu cordon": _has_one_gpu_to_cordon,
    "volume freeze": _has_something_to_hold,
    "training stop": _writes,
    "gpu free": _holds_gpus,
}
_STARTED = frozenset({"confirmed", "waiting", "running", "done", "unknown"})


def offers(incident: Incident, context: IncidentContext) -> tuple[str, ...]:
    """Return the command lines to suggest, the most important first, one for each label."""
    started = started_labels(context)
    found: dict[str, str] = {}
    for one in suggestions(incident, context.rules):
        label = label_of(one.line)
        if label not in started and is_open(one, context.cluster):
            found.setdefault(label, one.line)  # two rules may suggest one action for different reasons
    return tuple(found.values())


def is_open(one: Suggestion, cluster: ClusterNow) -> bool:
    """Whether the action is possible, and what it is for is not so yet."""
    if {one.object, one.node} & cluster.missing:
        return False
    judge = _JUDGES.get(one.command)
    return judge is None or judge(one, cluster)


def started_labels(context: IncidentContext) -> set[str]:
    """Return the labels of the actions that somebody has started for the incident."""
    return {label_of(action.line) for action in context.actions if action.state in _STARTED}
