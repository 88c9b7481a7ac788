"""Activity of GPUs that pods hold, from Prometheus over a whole window: the one definition of idle.

A GPU counts as idle only if there are samples for the whole window; otherwise it is busy, too young or not known.
Sources: DCGM's field identifiers; MIG slices have no DCGM_FI_DEV_GPU_UTIL, only the profiling fields.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Pod
from collectors.cluster.resources import gpu_resource, holds_resources
from collectors.facts.clock import format_duration
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import QueryResult, Sample, Seen
from collectors.facts.sentences import counted, sentence
from collectors.facts.topology import PodKey

UTIL, ENGINE, MEMORY = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_DEV_FB_USED"
ENGINE_IDLE_BELOW = 0.01  # share of the time: the background work of a slice is below
MEMORY_HELD_ABOVE = 1024.0  # MiB: the driver alone uses less
STEPS = 30  # evaluation steps in the window; each needs a sample
SHORTEST = timedelta(minutes=5)
IDLE_AFTER = timedelta(minutes=30)  # unless the settings say otherwise
MEASURE = "measure"  # the label that says what a sample of `activity` is

DeviceKey = tuple[str, str, str, str]  # namespace, pod, UUID, GPU instance


class Activity(StrEnum):
    IDLE = "idle"
    BUSY = "busy"
    YOUNG = "young"  # started within the window
    UNKNOWN = sentence("not known")


@dataclass(frozen=True, slots=True, kw_only=True)
class PodGpus:
    """A pod that holds GPUs (or slices), by resource name, and their activity. `memory` is in use, in MiB."""

    namespace: str
    pod: str
    node: str
    gpus: Mapping[str, float]
    activity: Activity
    reason: str = ""  # why the activity is not known
    memory: float = 0

    @property
    def count(self) -> float:
        return sum(self.gpus.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleSearch:
    """The activity of all pods with GPUs in the window `after` up to `at`. If `blind`, none is known."""

    at: datetime
    after: timedelta
    pods: Mapping[PodKey, PodGpus] = field(default_factory=dict)
    blind: str = ""


def most(metric: str, after: timedelta) -> str:
    """Query for the maximum of each GPU in the window, by the pod that held it."""
    return _by_pod(f"max_over_time({_held(metric)}[{format_duration(after)}])")


def seen(metric: str, after: timedelta) -> str:
    """Query for how many of STEPS steps in the window have a sample of the GPU with that pod, from any exporter."""
    window = f"[{format_duration(after)}:{format_duration(after / STEPS)}]"
    return f"count_over_time(({_by_pod(_held(metric))}){window})"


def newest(metric: str) -> str:
    return _by_pod(_held(metric))


def activity(after: timedelta) -> PromQLQuery:
    """Query for all that tells whether GPUs are idle, in one: another moment might tell something else."""
    parts = {
        (UTIL, "most"): most(UTIL, after),
        (UTIL, "seen"): seen(UTIL, after),
        (ENGINE, "most"): most(ENGINE, after),
        (ENGINE, "seen"): seen(ENGINE, after),
    }
    named = (
        f'label_replace({expr}, "{MEASURE}", "{metric}/{what}", "", "")'
        for (metric, what), expr in parts.items()
    )
    return PromQLQuery(expr=" or ".join(named), of_pack=True)


def _held(metric: str) -> str:
    return f'{metric}{{exported_pod!=""}}'


def _by_pod(vector: str) -> str:
    return f"max by (exported_namespace, exported_pod, UUID, GPU_I_ID) ({vector})"


def classify_pods(
    inventory: Inventory,
    answer: Seen,
    *,
    memory: QueryResult | None = None,
    now: datetime,
    after: timedelta,
) -> IdleSearch:
    """Return the activity of each pod with GPUs from the result of `activity`. Pure. Without `memory` it is 0."""
    held: dict[PodKey, float] = {}
    for (namespace, name, _, _), used in _values(memory.samples if isinstance(memory, Seen) else ()).items():
        held[namespace, name] = held.get((namespace, name), 0.0) + used
    found = {
        (pod.namespace, pod.pod): replace(pod, memory=held.get((pod.namespace, pod.pod), 0.0))
        for pod in each_pod(inventory, answer, now=now, after=after)
        if pod is not None
    }
    return IdleSearch(at=now, after=after, pods=found)


def each_pod(
    inventory: Inventory, answer: Seen, *, now: datetime, after: timedelta
) -> Iterator[PodGpus | None]:
    """Yield the activity of each pod with GPUs, and None at each other pod: there may be 50,000."""
    by_util, by_engine = _measured(answer, UTIL), _measured(answer, ENGINE)
    for pod in inventory.pods.values():
        gpus = inventory.gpus_of(pod) if holds_resources(pod) and pod.spec.node_name else {}
        if not gpus:
            yield None
            continue
        state, reason = _activity(pod, gpus, by_util, by_engine, now - after)
        yield PodGpus(
            namespace=pod.metadata.namespace,
            pod=pod.metadata.name,
            node=pod.spec.node_name,
            gpus=gpus,
            activity=state,
            reason=reason,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """One metric over the window: the maximum of each device, and the number of steps with a sample."""

    metric: str
    most: Mapping[DeviceKey, float]
    seen: Mapping[DeviceKey, float]
    _of_pod: dict[PodKey, dict[DeviceKey, float]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for key, value in self.most.items():
            self._of_pod.setdefault(key[:2], {})[key] = value

    def of(self, pod: PodKey) -> Mapping[DeviceKey, float]:
        return self._of_pod.get(pod, {})


def _activity(
    pod: Pod, gpus: Mapping[str, float], util: _Measured, engine: _Measured, since: datetime
) -> tuple[Activity, str]:
    began = pod.status.start_time or pod.metadata.creation_timestamp
    if began is None or began > since:
        return Activity.YOUNG, ""
    key = (pod.metadata.namespace, pod.metadata.name)
    is_sliced = any((meaning := gpu_resource(name)) and meaning.is_slice for name in gpus)
    measured = engine if is_sliced or not util.of(key) else util
    devices = measured.of(key)
    limit = 0.0 if measured is util else ENGINE_IDLE_BELOW
    if any(not value <= limit for value in devices.values()):  # NaN does not prove idleness
        return Activity.BUSY, ""
    wanted = ceil(sum(gpus.values()))
    if len(devices) < wanted:
        return Activity.UNKNOWN, counted(
            "only {count} of {gpus} GPUs reports {metric}",
            "only {count} of {gpus} GPUs report {metric}",
            count=len(devices),
            gpus=wanted,
            metric=measured.metric,
        )
    gaps = sum(measured.seen.get(device, 0) < STEPS - 1 for device in devices)
    if gaps:
        return Activity.UNKNOWN, counted(
            "{count} of {gpus} GPUs has gaps in its samples",
            "{count} of {gpus} GPUs have gaps in their samples",
            count=gaps,
            gpus=len(devices),
        )
    return Activity.IDLE, ""


def _measured(answer: Seen, metric: str) -> _Measured:
    def values(what: str) -> dict[DeviceKey, float]:
        return _values(one for one in answer.samples if one.labels.get(MEASURE) == f"{metric}/{what}")

    return _Measured(metric=metric, most=values("most"), seen=values("seen"))


def _values(samples: Iterable[Sample]) -> dict[DeviceKey, float]:
    """Return the values by device; of duplicates the larger one counts."""
    found: dict[DeviceKey, float] = {}
    for sample in samples:
        labels = sample.labels
        key = (
            labels.get("exported_namespace", ""),
            labels.get("exported_pod", ""),
            labels.get("UUID", ""),
            labels.get("GPU_I_ID", ""),
        )
        found[key] = max(sample.value, found.get(key, sample.value))
    return found
