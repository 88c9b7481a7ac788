"""The use that pods make of memory and CPUs, from Prometheus, and their troubles, from the cluster."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from collectors.cluster.objects import Pod
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import QueryResult, Seen
from collectors.facts.sentences import Sentence, counted, listed, sentence

ENDED = ("Succeeded", "Failed")
POD_MEMORY = "sum by (namespace, pod) (container_memory_working_set_bytes{PODS})"
POD_CPUS = "sum by (namespace, pod) (rate(container_cpu_usage_seconds_total{PODS}[2m]))"
_SIZES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"))


async def measured_use(
    template: str, pods: Sequence[Pod], query: Callable[[PromQLQuery], Awaitable[QueryResult]]
) -> tuple[Mapping[str, float], str]:
    """Return what each of the pods uses, by its key, or why nobody knows.

    Exporters name nodes in many ways, and pods in one.
    """
    names = "|".join(sorted({pod.metadata.name.replace(".", "[.]") for pod in pods}))
    seen = await query(
        PromQLQuery(expr=template.replace("PODS", f'container!="",namespace!="",pod=~"{names}"'))
    )
    if not isinstance(seen, Seen):
        return {}, seen.reason
    labels = ((one.labels, one.value) for one in seen.samples)
    return {f"{of.get('namespace', '')}/{of.get('pod', '')}": value for of, value in labels}, ""


def size(used: float) -> str:
    """Return bytes as people read them: `412 GiB`."""
    unit, name = next((one for one in _SIZES if used >= one[0]), _SIZES[-1])
    return f"{used / unit:.1f} {name}" if used < 10 * unit else f"{used / unit:.0f} {name}"


def cpus(used: float) -> str:
    """Return CPUs as people read them: `1.5 CPUs`, `48 CPUs`."""
    shown = f"{used:.1f}".removesuffix(".0") if used < 10 else f"{used:.0f}"
    return sentence("1 CPU") if shown == "1" else sentence("{shown} CPUs", shown=shown)


def trouble(pod: Pod) -> str:
    """Return why a container of the pod waits, and how often it was started again; empty for one that runs."""
    for one in pod.status.container_statuses or ():
        if one.state.waiting is not None and one.state.waiting.reason:
            restarts: Sentence = counted("{count} restart", "{count} restarts", count=one.restart_count)
            return (
                listed((one.state.waiting.reason, restarts))
                if one.restart_count
                else one.state.waiting.reason
            )
    return ""
