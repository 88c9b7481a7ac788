"""Idle trainings and workloads: the GPU activity of pods, joined with whose they are and with the owner. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from alerts.cards.message import Table
from collectors.facts.sentences import counted, sentence
from collectors.facts.topology import Topology, WorkloadFacts, shown_name
from collectors.facts.workload_keys import parse_workload, plain_workload, shown_kind, workload_key
from collectors.gpu_activity import MEMORY_HELD_ABOVE, Activity, IdleSearch, PodGpus
from collectors.gpu_workloads import BARE_POD
from collectors.trainings.training import Training

NAMED = 4  # workloads that are not trainings

# One busy pod makes its training busy.
_PRECEDENCE = (Activity.BUSY, Activity.YOUNG, Activity.UNKNOWN, Activity.IDLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingGpus:
    """The pods with GPUs of one training, or of another workload (`training` is None)."""

    training: Training | None
    pods: tuple[PodGpus, ...]
    workload: WorkloadFacts | None = None

    @property
    def id(self) -> str:
        """The key of the training or of the workload."""
        if self.training is not None:
            return self.training.id
        first = self.pods[0]
        return self.workload.id if self.workload else workload_key(first.namespace, BARE_POD, first.pod)

    @property
    def name(self) -> str:
        """Its name as people read it."""
        return self.training.shown if self.training is not None else shown_name(self.id)

    @property
    def names(self) -> tuple[str, ...]:
        """What people may call it: as it is shown, by its id, with its namespace, or alone."""
        namespace, _, rest = self.id.partition("/")
        short = rest.rpartition("/")[2]
        return self.name, self.id, plain_workload(self.id), f"{namespace}/{short}", short

    @property
    def owner(self) -> str:
        of = self.training or self.workload
        return of.owner if of else ""

    @property
    def team(self) -> str:
        of = self.training or self.workload
        return of.team if of else ""

    @property
    def activity(self) -> Activity:
        return next(
            activity for activity in _PRECEDENCE if any(pod.activity is activity for pod in self.pods)
        )

    @property
    def reason(self) -> str:
        return next((pod.reason for pod in self.pods if pod.reason), "")

    @property
    def idle(self) -> float:
        """Idle GPUs; a training may have idle and busy ones."""
        return sum(pod.count for pod in self.pods if pod.activity is Activity.IDLE)

    @property
    def count(self) -> float:
        return sum(pod.count for pod in self.pods)

    @property
    def memory(self) -> float:
        """MiB in use on idle GPUs; what the driver alone may use counts as 0."""
        used = sum(pod.memory for pod in self.pods if pod.activity is Activity.IDLE)
        return used if used > MEMORY_HELD_ABOVE else 0.0


def by_training(
    look: IdleSearch, trainings: Sequence[Training], topology: Topology
) -> tuple[TrainingGpus, ...]:
    """Return the trainings that hold GPUs, most idle first, then the other workloads."""
    by_pod = {(training.namespace, rank.pod): training for training in trainings for rank in training.ranks}
    groups: dict[str, list[PodGpus]] = {}
    by_id = {training.id: training for training in trainings}
    others: dict[str, list[PodGpus]] = {}
    for key, pod in sorted(look.pods.items()):
        if (training := by_pod.get(key)) is not None:
            groups.setdefault(training.id, []).append(pod)
        else:
            facts = topology.pods.get(key)
            workload = facts.workload if facts else ""
            others.setdefault(workload or workload_key(pod.namespace, BARE_POD, pod.pod), []).append(pod)
    found = [TrainingGpus(training=by_id[id], pods=tuple(pods)) for id, pods in groups.items()]
    found += [
        TrainingGpus(
            training=None, workload=topology.workloads.get(id) or WorkloadFacts(id=id), pods=tuple(pods)
        )
        for id, pods in others.items()
    ]
    return tuple(sorted(found, key=lambda one: (one.training is None, -one.idle, -one.count)))


def evidence(of: TrainingGpus, look: IdleSearch) -> str:
    """Return a text like `no work on any of 32 GPUs for 30 min, 1.2 TiB of their memory in use`."""
    nothing = counted(
        "no work on its {count:g} GPU for {lasting}",
        "no work on any of {count:g} GPUs for {lasting}",
        count=of.count,
        lasting=look.after,
    )
    if not of.memory:
        return nothing
    return sentence("{no_work}; memory in use: {memory}", no_work=nothing, memory=format_memory(of.memory))


def idle_table(found: Sequence[TrainingGpus]) -> Table:
    """Return a row per training or other workload that holds idle GPUs."""
    rows = tuple(
        (
            one.name,
            one.owner or "?",
            one.team or "?",
            _resources(one),
            sentence("{idle:g} of {held:g}", idle=one.idle, held=one.count),
            format_memory(one.memory) if one.memory else "none",
            ", ".join(sorted({pod.node for pod in one.pods if pod.activity is Activity.IDLE})[:4]),
        )
        for one in found
    )
    heading = ("held by", "owner", "team", "resource", "idle", "memory in use", "nodes")
    return Table(heading=heading, rows=rows[:40], more=max(0, len(rows) - 40))


def format_memory(mebibytes: float) -> str:
    return f"{mebibytes / 1024**2:.1f} TiB" if mebibytes >= 1024**2 else f"{mebibytes / 1024:.0f} GiB"


def _resources(one: TrainingGpus) -> str:
    return ", ".join(sorted({resource for pod in one.pods for resource in pod.gpus}))


def way_to_free(one: TrainingGpus) -> str:
    """Return how the GPUs of a workload that is not a training are freed: its owner stops it, not Yardmaster."""
    namespace, kind, name = parse_workload(one.id)
    if kind == BARE_POD:
        return sentence(
            "it is a pod without a controller, `kubectl -n {namespace} delete pod {name}` ends it for good",
            namespace=namespace,
            name=name,
        )
    if kind in ("Deployment", "StatefulSet", "ReplicaSet"):
        return sentence(
            "`kubectl -n {namespace} scale {kind} {name} --replicas=0` ends its pods",
            namespace=namespace,
            kind=kind.lower(),
            name=name,
        )
    kind = shown_kind(kind).lower()
    return sentence(
        "only its own controller can stop it, see `kubectl -n {namespace} describe {kind} {name}`",
        namespace=namespace,
        kind=kind,
        name=name,
    )


def ways_to_free(found: Sequence[TrainingGpus]) -> list[str]:
    """Return a line for each workload that is not a training: what its owner can do, a few of them by name."""
    others = [one for one in found if one.training is None]
    lines: list[str] = [
        sentence("{workload} is not a training: {way}", workload=one.name, way=way_to_free(one))
        for one in others[:NAMED]
    ]
    return (
        [
            *lines,
            counted(
                "{count} more workload is not a training",
                "{count} more workloads are not trainings",
                count=len(others) - NAMED,
            ),
        ]
        if len(others) > NAMED
        else lines
    )
