"""Checks of the metrics that rules need: those that went away, and those that the cluster shows should be there."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from collectors.checks.check import CheckInput, ClusterCheck
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import PERSISTENT_VOLUMES
from collectors.cluster.resources import nvidia_gpus
from collectors.facts.labels import Labels
from collectors.facts.missing_metrics import MissingCause, MissingMetrics
from collectors.facts.results import Blind, Sample

_SHOWN = 6


def lost_metrics(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each exporter whose metrics rules relied on, and that are gone: how many rules see nothing.

    A target that is down is for the rules about targets. What was lost stays lost until it is back, although after
    some weeks no server remembers it.
    """
    standing = {labels.get("component", "") for labels in inputs.standing if labels.get("extent") == "all"}
    found = []
    for missing in _missing(inputs):
        is_whole = missing.cause is not MissingCause.NOT_EXPORTED
        is_still_gone = is_whole and missing.exporter in standing
        is_down = missing.cause is MissingCause.TARGET_DOWN
        if is_still_gone or (missing.lost and not is_down):
            found.append(_sample(missing, extent="all" if is_whole else "some"))
    return found


def metrics_never_there(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each exporter that the cluster shows should be scraped, and never was: how many rules wait.

    Of an exporter that gives others it is about those that it can give wherever it runs.
    """
    assert not isinstance(inputs.inventory, Blind)
    found = []
    for missing in _missing(inputs):
        if missing.lost:
            continue
        if missing.cause is MissingCause.NOT_EXPORTED:
            if missing.always:
                found.append(_sample(missing))
        elif _EXPECTED.get(missing.exporter, _never)(inputs.inventory):
            found.append(_sample(missing))
    return found


def _missing(inputs: CheckInput) -> Sequence[MissingMetrics]:
    assert not isinstance(inputs.missing, Blind)
    return [one for one in inputs.missing if one.exporter]


def _sample(missing: MissingMetrics, **labels: str) -> Sample:
    rest = len(missing.rules) - _SHOWN
    rules = ", ".join(missing.rules[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
    return Sample(
        labels=Labels({"component": missing.exporter, **labels}),
        value=len(missing.rules),
        texts=(rules, *(missing.lines or missing.metrics)[:_SHOWN]),
    )


def _never(_inventory: Inventory) -> bool:
    return False


def _has_gpus(inventory: Inventory) -> bool:
    return any(nvidia_gpus(node.status.capacity or {}) for node in inventory.nodes.values())


def _runs(*parts: str) -> Callable[[Inventory], bool]:
    """Whether a pod runs an image whose name, without its registry and tag, has one of these parts."""

    def runs(inventory: Inventory) -> bool:
        images = {one.image for pod in inventory.pods.values() for one in pod.spec.containers or ()}
        return any(part in _name(image) for image in images for part in parts)

    return runs


def _name(image: str) -> str:
    return image.rpartition("/")[2].partition("@")[0].partition(":")[0]


def _uses_ceph(inventory: Inventory) -> bool:
    return any(_is_ceph(volume.spec.csi.driver) for volume in _csi_volumes(inventory))


def _csi_volumes(inventory: Inventory) -> Iterable[Any]:
    return (one for one in inventory.all(PERSISTENT_VOLUMES).values() if one.spec.csi is not None)


def _is_ceph(driver: str) -> bool:
    return driver.endswith(("rbd.csi.ceph.com", "cephfs.csi.ceph.com"))


# What of the cluster shows that an exporter's metrics should be there. Others may not be in use, or not be given.
_EXPECTED: Mapping[str, Callable[[Inventory], bool]] = {
    "dcgm-exporter": _has_gpus,
    "node_exporter": _runs("node-exporter", "node_exporter"),
    "kube-state-metrics": _runs("kube-state-metrics"),
    "CoreDNS": _runs("coredns"),
    "node-problem-detector": _runs("node-problem-detector"),
    "Ceph's manager": _uses_ceph,
}

CHECKS = (
    ClusterCheck(
        name="metrics-lost",
        summary="metrics that rules need had series in the last 14 days, and have none now",
        needs=frozenset({"missing"}),
        run=lost_metrics,
    ),
    ClusterCheck(
        name="metrics-never-there",
        summary="the cluster runs what metrics of rules are about, and Prometheus never had them",
        needs=frozenset({"inventory", "missing"}),
        run=metrics_never_there,
    ),
)
