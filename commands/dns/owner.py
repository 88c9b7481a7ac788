"""The owner of the replica count of the cluster's DNS: an autoscaler's ConfigMap, an HPA, or none."""

from dataclasses import dataclass, field

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Deployment
from collectors.dns.autoscaler import Autoscaler, autoscaler_of
from collectors.dns.deployment import dns_deployment, wanted_replicas
from collectors.dns.names import size_of
from collectors.facts.dns_load import by_names, required
from collectors.facts.proportional import LINEAR, Linear, read_config
from collectors.facts.sentences import said_by, sentence
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.execution.object_refs import ObjectReader, ObjectRef

LADDER = "ladder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dns:
    """The current DNS Deployment: `wanted` replicas in its spec, `ready` ones in its status."""

    ref: ObjectRef
    wanted: int
    ready: int
    deployment: Deployment


@dataclass(frozen=True, slots=True, kw_only=True)
class ProportionalOwner:
    """cluster-proportional-autoscaler: it reverts a change of the Deployment at its next poll, within 10 s."""

    config: ObjectRef
    document: str
    linear: Linear
    autoscaler: Autoscaler = field(default_factory=Autoscaler)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenOwner:
    """An autoscaler that keeps the replicas as they are, as it cannot use its ConfigMap. `problem` is a sentence."""

    config: ObjectRef
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HpaOwner:
    ref: ObjectRef
    min: int
    max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoOwner:
    """No autoscaler: the Deployment's own replica count applies. `managed_by` (Helm, Argo CD) may restore it."""

    managed_by: str = ""


Owner = ProportionalOwner | BrokenOwner | HpaOwner | NoOwner


def find_dns(context: CommandContext) -> Dns:
    """Return the Deployment of the cluster's DNS, found by its selector and not by its name."""
    policy = context.defaults
    found = dns_deployment(
        context.cluster.inventory(), namespace=policy.dns_namespace, selector=policy.dns_selector
    )
    if found is None:
        wanted = ", ".join(f"{key}={value}" for key, value in policy.dns_selector.items())
        raise UnusableError(
            sentence(
                "There is no Deployment in {namespace} whose selector has {labels}.",
                namespace=policy.dns_namespace,
                labels=wanted,
            )
        )
    meta = found.metadata
    ref = ObjectRef(api="apps/v1", kind="Deployment", namespace=meta.namespace, name=meta.name, uid=meta.uid)
    return Dns(ref=ref, wanted=wanted_replicas(found), ready=found.status.ready_replicas, deployment=found)


async def find_owner(dns: Dns, inventory: Inventory, reader: ObjectReader) -> Owner:
    """Return what sets the replica count, found by what autoscalers target, not by their names."""
    autoscaler = autoscaler_of(inventory, dns.deployment)
    if autoscaler is not None:
        return await _proportional(autoscaler, reader)
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


async def _proportional(autoscaler: Autoscaler, reader: ObjectReader) -> Owner:
    namespace, _, name = autoscaler.config.partition("/")
    config = ObjectRef(api="v1", kind="ConfigMap", namespace=namespace, name=name)
    found = await reader.read(config)
    if found is None:
        problem = sentence(
            "The autoscaler's {config} does not exist, so the autoscaler does nothing.", config=str(config)
        )
        if autoscaler.creates_config:
            problem = sentence(
                "The autoscaler's {config} does not exist; the autoscaler creates it at its next poll.",
                config=str(config),
            )
        return BrokenOwner(config=config, problem=problem)
    content = found.get("data") or {}
    if LADDER in content:
        problem = sentence(
            "The autoscaler's {config} has mode `ladder`, which is not supported: edit it by hand.",
            config=str(config),
        )
        return BrokenOwner(config=config, problem=problem)
    try:
        linear = read_config(content)
    except ValueError as error:
        problem = sentence(
            "The autoscaler's {config} is invalid, so the autoscaler does nothing: {error}. Fix it first.",
            config=str(config),
            error=said_by(error),
        )
        return BrokenOwner(config=config, problem=problem)
    return ProportionalOwner(
        config=ObjectRef(
            api="v1", kind="ConfigMap", namespace=namespace, name=name, uid=found["metadata"]["uid"]
        ),
        document=content[LINEAR],
        linear=linear,
        autoscaler=autoscaler,
    )


_WITHOUT_AUTOSCALER = Linear(nodes_per_replica=10)  # what is advised where none says otherwise


def requirement(owner: Owner, inventory: Inventory) -> int | None:
    """Return how many replicas nodes and names require; None where no autoscaler says how many a replica serves."""
    if not isinstance(owner, ProportionalOwner):
        return None
    return required(owner.linear, size_of(inventory, owner.autoscaler))


def recommended(dns: Dns, owner: Owner, inventory: Inventory) -> int:
    """Return 1.5 times the current number, at most `max`; more if the cluster's nodes or names require it."""
    more = max(dns.wanted + 1, round(dns.wanted * 1.5))
    if not isinstance(owner, ProportionalOwner):
        names = size_of(inventory, Autoscaler()).names
        return max(more, by_names(_WITHOUT_AUTOSCALER, names))
    linear = owner.linear
    least = requirement(owner, inventory) or 0
    return max(least, min(more, linear.max) if linear.max > dns.wanted else more)
