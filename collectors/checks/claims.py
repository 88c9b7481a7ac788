"""Checks of claims that get no volume or lose it, and of volumes that fail without one."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck
from collectors.cluster.indexes import by_claim, by_involved_object
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import (
    EVENTS,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
)
from collectors.cluster.objects import PersistentVolumeClaim, StorageClass
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample
from collectors.facts.sentences import listed, sentence

_WAITS = "WaitForFirstConsumer"
# The scheduler has placed a pod: now the volume is to be provisioned.
_SELECTED = "volume.kubernetes.io/selected-node"
_IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_SHOWN = 5
_REASONS = ("ProvisioningFailed", "FailedBinding", "ExternalProvisioning")


@partial(
    ClusterCheck,
    name="claims-pending",
    summary="a claim gets no volume, and its class does not wait for a pod",
    kinds={PERSISTENT_VOLUME_CLAIMS.name, STORAGE_CLASSES.name},
)
def claims_pending(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each claim that is pending: for how many seconds, and what its events say.

    A class that waits for the first consumer leaves a claim pending by design until a pod is placed.
    """
    assert not isinstance(inputs.inventory, Blind)
    found = []
    for claim in inputs.inventory.all(PERSISTENT_VOLUME_CLAIMS).values():
        if claim.metadata.deletion_timestamp is not None:
            continue  # nobody waits for it
        if claim.status.phase == "Pending" and not _waits_by_design(claim, inputs.inventory):
            created = claim.metadata.creation_timestamp
            seconds = (inputs.at - created).total_seconds() if created else 0
            found.append(
                Sample(labels=_labels(claim), value=seconds, texts=_explained(claim, inputs.inventory))
            )
    return found


@partial(
    ClusterCheck,
    name="claims-not-ending",
    summary="a claim was deleted long ago, and is still there",
    parameters={"minutes": 15.0},
    kinds={PERSISTENT_VOLUME_CLAIMS.name},
)
def claims_not_ending(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each claim that was deleted over `minutes` ago and is still there: for how many seconds.

    Its texts are what keeps it: the pods that use it, as Kubernetes protects those, or its finalizers.
    """
    assert not isinstance(inputs.inventory, Blind)
    before = inputs.at - timedelta(minutes=float(parameters["minutes"]))
    found = []
    for key, claim in inputs.inventory.all(PERSISTENT_VOLUME_CLAIMS).items():
        deleted = claim.metadata.deletion_timestamp
        if deleted is None or deleted > before:
            continue
        pods = [pod.key for pod in inputs.inventory.select(PODS, by_claim, key)]
        text = sentence("no pod uses it: a finalizer keeps it")
        if pods:
            text = sentence("in use by {pods}", pods=listed(pods, ",", most=_SHOWN))
        seconds = (inputs.at - deleted).total_seconds()
        found.append(Sample(labels=_labels(claim), value=seconds, texts=(text,)))
    return found


@partial(
    ClusterCheck,
    name="claims-lost",
    summary="a claim's volume is gone or has failed",
    kinds={PERSISTENT_VOLUME_CLAIMS.name, PERSISTENT_VOLUMES.name},
)
def claims_lost(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each claim whose volume is gone or has failed; the value is 1."""
    assert not isinstance(inputs.inventory, Blind)
    volumes = inputs.inventory.all(PERSISTENT_VOLUMES)
    found = []
    for claim in inputs.inventory.all(PERSISTENT_VOLUME_CLAIMS).values():
        volume = volumes.get(claim.spec.volume_name)
        has_failed = volume is not None and volume.status.phase == "Failed"
        if claim.status.phase == "Lost" or has_failed:
            reason = sentence("its volume has failed") if has_failed else sentence("its volume is gone")
            found.append(Sample(labels=_labels(claim), value=1, texts=(reason,)))
    return found


@partial(
    ClusterCheck,
    name="volumes-failed",
    summary="a volume has failed, and its claim is gone",
    kinds={PERSISTENT_VOLUME_CLAIMS.name, PERSISTENT_VOLUMES.name},
)
def volumes_failed(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each failed volume whose claim is gone, mostly as it could not be deleted: the value is 1."""
    assert not isinstance(inputs.inventory, Blind)
    claims = inputs.inventory.all(PERSISTENT_VOLUME_CLAIMS)
    found = []
    for name, volume in sorted(inputs.inventory.all(PERSISTENT_VOLUMES).items()):
        of = volume.spec.claim_ref
        if volume.status.phase == "Failed" and (of is None or f"{of.namespace}/{of.name}" not in claims):
            text = ": ".join(filter(None, (name, volume.status.reason, volume.status.message)))
            found.append(Sample(labels=Labels({"persistentvolume": name}), value=1, texts=(text,)))
    return found


def _labels(claim: PersistentVolumeClaim) -> Labels:
    meta = claim.metadata
    return Labels({"namespace": meta.namespace, "persistentvolumeclaim": meta.name})


def _waits_by_design(claim: PersistentVolumeClaim, inventory: Inventory) -> bool:
    if _SELECTED in (claim.metadata.annotations or {}):
        return False
    of = _class_of(claim, inventory)
    return of is not None and of.volume_binding_mode == _WAITS


def _class_of(claim: PersistentVolumeClaim, inventory: Inventory) -> StorageClass | None:
    classes = inventory.all(STORAGE_CLASSES)
    name = claim.spec.storage_class_name
    if name is not None:
        return classes.get(name)
    defaults = (
        one for one in classes.values() if (one.metadata.annotations or {}).get(_IS_DEFAULT) == "true"
    )
    return next(defaults, None)


def _explained(claim: PersistentVolumeClaim, inventory: Inventory) -> tuple[str, ...]:
    """Return the latest of its events that say why."""
    meta, kind = claim.metadata, type(claim).__name__
    events = [
        event
        for event in inventory.select(EVENTS, by_involved_object, f"{meta.namespace}/{kind}/{meta.name}")
        if event.reason in _REASONS and event.last_seen is not None
    ]
    latest = max(events, key=lambda event: (event.last_seen, event.metadata.name), default=None)
    return (f"{latest.reason}: {latest.message}",) if latest is not None else ()


CHECKS = (claims_pending, claims_not_ending, volumes_failed, claims_lost)
