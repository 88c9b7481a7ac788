"""A check of pods that should have ended: what hangs in the kernel of their node keeps them, and what they hold."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.resources import holds_resources
from collectors.facts.labels import Labels
from collectors.facts.one_line import some_of
from collectors.facts.results import Blind, Sample

_TEXTS = 3  # names of one sample


@partial(
    ClusterCheck,
    name="pods-not-ending",
    summary="pods of a ready node are still there long after their grace period",
    parameters={"minutes": 10.0},
)
def pods_not_ending(inputs: CheckInput, parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each ready node with pods more than `minutes` past their grace period: seconds of the oldest.

    A node that is not ready cannot end any, which is left to its own check. Of a pod that has ended, a finalizer may
    keep the object: it holds nothing.
    """
    assert not isinstance(inputs.inventory, Blind)
    before = inputs.at - timedelta(minutes=float(parameters["minutes"]))
    overdue: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
    for key, pod in inputs.inventory.pods.items():
        yield None
        due = pod.metadata.deletion_timestamp  # the API server adds the grace period to it
        if due is not None and due <= before and pod.spec.node_name and holds_resources(pod):
            overdue[pod.spec.node_name].append((due, key))
    for name, pods in overdue.items():
        node = inputs.inventory.nodes.get(name)
        if node is None or is_node_ready(node) is not True:
            continue
        pods.sort()
        named = some_of([key for _, key in pods], _TEXTS)
        yield Sample(
            labels=Labels({"node": name}), value=(inputs.at - pods[0][0]).total_seconds(), texts=(named,)
        )


CHECKS = (pods_not_ending,)
