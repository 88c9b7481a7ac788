"""The check of pods whose GPUs are idle, as `gpu idle` lists them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample, Seen
from collectors.gpu_activity import IDLE_AFTER, Activity, activity, each_pod


def _idle_pods(inputs: CheckInput, after: timedelta) -> Found:
    """Yield a sample for each pod whose GPUs are all idle: for how many seconds at least.

    What is not known neither begins nor ends it.
    """
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.metrics, Blind)
    answer = Seen(source="prometheus", at=inputs.at, samples=tuple(inputs.metrics))
    standing = {(labels.get("namespace", ""), labels.get("pod", "")) for labels in inputs.standing}
    for pod in each_pod(inputs.inventory, answer, now=inputs.at, after=after):
        yield None
        if pod is None:
            continue
        goes_on = pod.activity is Activity.UNKNOWN and (pod.namespace, pod.pod) in standing
        if pod.activity is Activity.IDLE or goes_on:
            labels = Labels({"namespace": pod.namespace, "pod": pod.pod, "node": pod.node})
            yield Sample(labels=labels, value=after.total_seconds())


def gpus_idle(after: timedelta) -> ClusterCheck:
    """Return the check for GPUs that did no work for so long."""

    def run(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
        return _idle_pods(inputs, after)

    return ClusterCheck(
        name="gpus-idle",
        summary="a pod holds GPUs, and none of them worked for as long as `commands.idle_after` says",
        needs=frozenset({"inventory", "metrics"}),
        run=run,
        metrics=activity(after),
    )


CHECKS = (gpus_idle(IDLE_AFTER),)
