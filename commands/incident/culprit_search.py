"""The pods that are probably behind an incident of a node: those in trouble there, and those that use the most."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from alerts.cards.culprits import CULPRITS_SHOWN, Culprit, wanted_culprits
from alerts.incidents.incident import Incident
from alerts.rules import Culprits, Rule
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Pod
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import QueryResult, SourceError
from collectors.trainings.training import Training
from commands.core.pod_usage import ENDED, POD_CPUS, POD_MEMORY, cpus, measured_use, size, trouble
from commands.incident.seen_cluster import SeenCluster

# What the kinds that are measured ask Prometheus, and how the figure of a pod is written.
MEASURED_USE: Mapping[Culprits, tuple[str, Callable[[float], str]]] = {
    Culprits.MEMORY: (POD_MEMORY, size),
    Culprits.CPU: (POD_CPUS, cpus),
}


def in_trouble(
    incident: Incident, rules: Mapping[str, Rule], seen: SeenCluster | None
) -> tuple[Culprit, ...]:
    """Return the pods in trouble on the incident's node, those first that its log lines name; none if not known."""
    node = wanted_culprits(incident, rules, Culprits.TROUBLE)
    if not node or seen is None:
        return ()
    try:
        inventory = seen.inventory()
    except SourceError:
        return ()
    found = [pod for pod in _running(inventory, node) if trouble(pod)]
    lines = "\n".join(line for member in incident.standing for line in member.texts)
    found.sort(key=lambda pod: (pod.metadata.name not in lines, -_restarts(pod), pod.key))
    shown = found[:CULPRITS_SHOWN]
    owners = pod_owners(shown, seen)
    return tuple(
        Culprit(kind=Culprits.TROUBLE, pod=pod.key, figure=trouble(pod), owner=owners.get(pod.key, ""))
        for pod in shown
    )


async def with_most(
    kind: Culprits, node: str, seen: SeenCluster, query: Callable[[PromQLQuery], Awaitable[QueryResult]]
) -> tuple[Culprit, ...]:
    """Return the pods that use the most of this on a node, as far as it is known. Raises SourceError."""
    template, figure = MEASURED_USE[kind]
    pods = _running(seen.inventory(), node)
    used, _ = await measured_use(template, pods, query) if pods else ({}, "")
    most = sorted((pod for pod in pods if used.get(pod.key)), key=lambda pod: -used[pod.key])
    owners = pod_owners(most[:CULPRITS_SHOWN], seen)
    return tuple(
        Culprit(kind=kind, pod=pod.key, figure=figure(used[pod.key]), owner=owners.get(pod.key, ""))
        for pod in most[:CULPRITS_SHOWN]
    )


def pod_owners(pods: Sequence[Pod], seen: SeenCluster) -> Mapping[str, str]:
    """Return the owners of the trainings whose pods these are, by the pod's key."""
    wanted = {pod.key for pod in pods}
    try:
        trainings: Sequence[Training] = seen.trainings() if wanted else ()
    except SourceError:
        return {}
    return {
        key: one.owner
        for one in trainings
        if one.owner
        for rank in one.ranks
        if (key := f"{one.namespace}/{rank.pod}") in wanted
    }


def _running(inventory: Inventory, node: str) -> list[Pod]:
    return [pod for pod in inventory.pods_on(node) if pod.status.phase not in ENDED]


def _restarts(pod: Pod) -> int:
    return max((one.restart_count for one in pod.status.container_statuses or ()), default=0)
