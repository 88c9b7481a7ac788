"""The owner of the replica count of the cluster's DNS: an autoscaler's ConfigMap, an HPA, or none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from collectors.cluster.kinds import DEPLOYMENTS
from collectors.cluster.objects import Deployment
from collectors.facts.proportional import Linear, read_linear
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.plans.object_refs import ObjectReader, ObjectRef

_TARGET = re.compile(r"--target[= ](?P<targets>\S+)", re.IGNORECASE)
_CONFIGMAP = re.compile(r"--configmap[= ](?P<name>\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dns:
    """The current DNS Deployment: `wanted` replicas in its spec, `ready` ones in its status."""

    ref: ObjectRef
    wanted: int
    ready: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProportionalOwner:
    """cluster-proportional-autoscaler: it reverts a change of the Deployment at its next poll, within 10 s."""

    config: ObjectRef
    document: str
    linear: Linear


@dataclass(frozen=True, slots=True, kw_only=True)
class HpaOwner:
    ref: ObjectRef
    min: int
    max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoOwner:
    """No autoscaler: the Deployment's own replica count applies. `managed_by` (Helm, Argo CD) may restore it."""

    managed_by: str = ""


Owner = ProportionalOwner | HpaOwner | NoOwner


def find_dns(context: CommandContext) -> Dns:
    """Return the Deployment of the cluster's DNS, found by its selector and not by its name."""
    policy = context.defaults
    for deployment in context.cluster.inventory().all(DEPLOYMENTS).values():
        labels = deployment.spec.selector.match_labels or {}
        in_namespace = deployment.metadata.namespace == policy.dns_namespace
        if in_namespace and all(labels.get(key) == value for key, value in policy.dns_selector.items()):
            return _dns(deployment)
    wanted = ", ".join(f"{key}={value}" for key, value in policy.dns_selector.items())
    raise UnusableError(f"There is no Deployment in {policy.dns_namespace} whose selector has {wanted}.")


def _dns(deployment: Deployment) -> Dns:
    meta = deployment.metadata
    ref = ObjectRef(api="apps/v1", kind="Deployment", namespace=meta.namespace, name=meta.name, uid=meta.uid)
    wanted = 1 if deployment.spec.replicas is None else deployment.spec.replicas
    return Dns(ref=ref, wanted=wanted, ready=deployment.status.ready_replicas)


async def find_owner(dns: Dns, reader: ObjectReader) -> Owner:
    """Return what sets the replica count, found by what autoscalers target, not by their names."""
    for found in await reader.listing(
        ObjectRef(api="apps/v1", kind="Deployment", namespace=dns.ref.namespace, name="")
    ):
        if (config := _config_of(found, dns.ref)) is not None:
            return await _proportional(
                ObjectRef(api="v1", kind="ConfigMap", namespace=dns.ref.namespace, name=config), reader
            )
    scalers = ObjectRef(
        api="autoscaling/v2", kind="HorizontalPodAutoscaler", namespace=dns.ref.namespace, name=""
    )
    for found in await reader.listing(scalers):
        target = found["spec"]["scaleTargetRef"]
        if target.get("kind") == "Deployment" and target.get("name") == dns.ref.name:
            meta = found["metadata"]
            ref = ObjectRef(
                api=scalers.api,
                kind=scalers.kind,
                namespace=meta["namespace"],
                name=meta["name"],
                uid=meta["uid"],
            )
            return HpaOwner(
                ref=ref, min=found["spec"].get("minReplicas", 1), max=found["spec"]["maxReplicas"]
            )
    deployment = await reader.read(dns.ref)
    labels = (deployment or {}).get("metadata", {}).get("labels") or {}
    return NoOwner(managed_by=labels.get("app.kubernetes.io/managed-by", ""))


def _config_of(deployment: dict[str, Any], target: ObjectRef) -> str | None:
    """Return the name of the ConfigMap if this Deployment is a running autoscaler of `target`."""
    if deployment["spec"].get("replicas", 1) == 0:
        return None
    for container in deployment["spec"]["template"]["spec"]["containers"]:
        line = " ".join([*container.get("command", ()), *container.get("args", ())])
        targets = _TARGET.search(line)
        config = _CONFIGMAP.search(line)
        wanted = f"{target.kind}/{target.name}".lower()
        if targets and config and wanted in _split(targets["targets"]):
            return config["name"]
    return None


def _split(targets: str) -> Sequence[str]:
    return [one.strip().lower() for one in targets.split(",")]


async def _proportional(config: ObjectRef, reader: ObjectReader) -> ProportionalOwner:
    found = await reader.read(config)
    data = (found or {}).get("data") or {}
    if found is None or "linear" not in data:
        problem = "has mode `ladder`, which is not supported" if "ladder" in data else "has no mode `linear`"
        raise UnusableError(f"The autoscaler's {config} {problem}: edit it by hand.")
    try:
        linear = read_linear(data["linear"])
    except ValueError as error:
        raise UnusableError(
            f"The autoscaler's {config} is invalid, so the autoscaler does nothing: {error}. Fix it first."
        ) from error
    ref = ObjectRef(
        api="v1", kind="ConfigMap", namespace=config.namespace, name=config.name, uid=found["metadata"]["uid"]
    )
    return ProportionalOwner(config=ref, document=data["linear"], linear=linear)
