"""Checks of objects that wait or were left: Services without an address, namespaces of ended trainings."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck
from collectors.cluster.kinds import NAMESPACES, SERVICES
from collectors.cluster.resources import holds_resources
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample

_TEXTS = 5  # names of one sample


@partial(
    ClusterCheck,
    name="load-balancer-pending",
    summary="a Service of type LoadBalancer has no address",
    kinds={"services"},
)
def load_balancer_pending(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each Service of type LoadBalancer without an address: for how many seconds it exists."""
    assert not isinstance(inputs.inventory, Blind)
    found = []
    for service in inputs.inventory.all(SERVICES).values():
        if service.spec.type != "LoadBalancer" or service.status.load_balancer.ingress:
            continue
        created = service.metadata.creation_timestamp
        seconds = (inputs.at - created).total_seconds() if created else 0
        labels = Labels({"namespace": service.metadata.namespace, "service": service.metadata.name})
        found.append(Sample(labels=labels, value=seconds))
    return found


@partial(
    ClusterCheck,
    name="namespaces-left",
    summary="namespaces of trainings that ended long ago are still there",
    needs={"inventory", "trainings"},
    parameters={"days": 1.0, "above": 20.0},
    kinds={"namespaces"},
)
def namespaces_left(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return one sample if more than `above` namespaces of trainings stay that ended over `days` ago: how many."""
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.trainings, Blind)
    start = inputs.at - timedelta(days=float(parameters["days"]))
    kept = {one.namespace for one in inputs.trainings if not one.state.is_over}
    left = {
        one.namespace
        for one in inputs.trainings
        if one.has_namespace and one.state.is_over and one.finished is not None and one.finished < start
    }
    left = {name for name in left - kept if name in inputs.inventory.all(NAMESPACES)}
    if len(left) <= float(parameters["above"]):
        return []
    text = ", ".join(sorted(left)[:_TEXTS])
    return [Sample(labels=Labels({"component": "apiserver"}), value=len(left), texts=(text,))]


@partial(
    ClusterCheck,
    name="namespaces-not-ending",
    summary="a namespace was deleted long ago and is still there",
    parameters={"minutes": 15.0},
    kinds={"namespaces"},
)
def namespaces_not_ending(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each namespace that was deleted over `minutes` ago and is still there: for how many seconds.

    Its texts are what the namespace controller says. Where pods still run in it, their own check tells.
    """
    assert not isinstance(inputs.inventory, Blind)
    before = inputs.at - timedelta(minutes=float(parameters["minutes"]))
    since = {
        name: deleted
        for name, one in inputs.inventory.all(NAMESPACES).items()
        if (deleted := one.metadata.deletion_timestamp) is not None and deleted <= before
    }
    if not since:
        return []
    busy = {key.partition("/")[0] for key, pod in inputs.inventory.pods.items() if holds_resources(pod)}
    found = []
    for name in since.keys() - busy:
        conditions = inputs.inventory.all(NAMESPACES)[name].status.conditions or ()
        texts = tuple(
            f"{one.type}: {one.message}" for one in conditions if one.status == "True" and one.message
        )
        seconds = (inputs.at - since[name]).total_seconds()
        found.append(Sample(labels=Labels({"namespace": name}), value=seconds, texts=texts[:_TEXTS]))
    return sorted(found, key=lambda sample: sample.labels["namespace"])


CHECKS = (namespaces_not_ending, load_balancer_pending, namespaces_left)
