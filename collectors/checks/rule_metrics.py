"""Checks of the metrics that rules need: those that went away, and those that the cluster shows should be there."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import PERSISTENT_VOLUMES
from collectors.facts.labels import Labels
from collectors.facts.missing_metrics import MissingCause, MissingMetrics
from collectors.facts.one_line import some_of
from collectors.facts.results import Blind, Sample

_SHOWN = 6
# Parts of the names of images: where such a pod runs, its metrics should be there. Beside these it is GPUs and volumes
# that show it; other exporters may not be in use, or not be given.
_IMAGES: Mapping[str, tuple[str, ...]] = {
    "node_exporter": ("node-exporter", "node_exporter"),
    "kube-state-metrics": ("kube-state-metrics",),
    "CoreDNS": ("coredns",),
    "node-problem-detector": ("node-problem-detector",),
}


@partial(
    ClusterCheck,
    name="metrics-lost",
    summary="metrics that rules need had series in the last 14 days, and have none now",
    needs={"missing"},
)
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


@partial(
    ClusterCheck,
    name="metrics-never-there",
    summary="the cluster runs a component whose metrics the rules need, and Prometheus never had them",
    needs={"inventory", "missing"},
)
def metrics_never_there(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each exporter that the cluster shows should be scraped, and never was: how many rules wait.

    Of an exporter that gives others it is about those that it can give wherever it runs.
    """
    assert not isinstance(inputs.inventory, Blind)
    never = [missing for missing in _missing(inputs) if not missing.lost]
    running = set[str]()
    if any(missing.exporter in _IMAGES for missing in never):
        for pod in inputs.inventory.pods.values():
            running.update(_name(one.image) for one in pod.spec.containers or ())
            yield None
    for missing in never:
        if missing.cause is MissingCause.NOT_EXPORTED:
            yield _of_its_own(missing)
        elif _is_expected(missing, running, inputs.inventory):
            yield _sample(missing)


def _is_expected(missing: MissingMetrics, running: Iterable[str], inventory: Inventory) -> bool:
    if missing.exporter == "dcgm-exporter":
        return _has_gpus(inventory)
    if missing.exporter == "Ceph's manager":
        return _uses_ceph(inventory)
    return any(part in image for image in running for part in _IMAGES.get(missing.exporter, ()))


def _missing(inputs: CheckInput) -> Sequence[MissingMetrics]:
    assert not isinstance(inputs.missing, Blind)
    return [one for one in inputs.missing if one.exporter]


def _of_its_own(missing: MissingMetrics) -> Sample | None:
    """Return the sample of what the exporter gives wherever it runs, as if the rest were not missing.

    What it leaves out by default is not a fault of the cluster: the doctor has the lines for it.
    """
    rules = tuple(rule for rule, needed in missing.needs if not set(needed).isdisjoint(missing.always))
    lines = tuple(line for line in missing.lines if line.partition(",")[0] in missing.always)
    if not missing.always:
        return None
    return _sample(replace(missing, metrics=missing.always, rules=rules or missing.rules, lines=lines))


def _sample(missing: MissingMetrics, **labels: str) -> Sample:
    return Sample(
        labels=Labels({"component": missing.exporter, **labels}),
        value=len(missing.rules),
        texts=(some_of(missing.rules, _SHOWN), *(missing.lines or missing.metrics)[:_SHOWN]),
    )


def _has_gpus(inventory: Inventory) -> bool:
    return any(map(inventory.nvidia_gpus_on, inventory.nodes))


def _name(image: str) -> str:
    return image.rpartition("/")[2].partition("@")[0].partition(":")[0]


def _uses_ceph(inventory: Inventory) -> bool:
    return any(_is_ceph(volume.spec.csi.driver) for volume in _csi_volumes(inventory))


def _csi_volumes(inventory: Inventory) -> Iterable[Any]:
    return (one for one in inventory.all(PERSISTENT_VOLUMES).values() if one.spec.csi is not None)


def _is_ceph(driver: str) -> bool:
    return driver.endswith(("rbd.csi.ceph.com", "cephfs.csi.ceph.com"))


CHECKS = (lost_metrics, metrics_never_there)
