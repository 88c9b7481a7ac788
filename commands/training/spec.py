"""The spec of a training to launch: its roles, and what each task of them asks for. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from collectors.cluster.resources import gpu_resource
from collectors.facts.sentences import Sentence, counted, sentence
from collectors.facts.workload_keys import workload_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """What each task mounts: a claim in the training's namespace, or else an empty place of this size on its node."""

    name: str
    path: str
    claim: str = ""
    size: str = ""
    is_read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRole:
    """Equal tasks of a training. Amounts are Kubernetes quantities of each task; empty: not requested.

    `cpu` and `memory` may be ranges, `4..8`: what is requested, and the limit.
    """

    name: str  # worker, ps, ...
    replicas: int  # the most, of an elastic role
    least: int = 0  # so many are enough, of an elastic role; 0: it has all or none
    gpus: float = 0  # in devices or slices
    gpu_resource: str = "nvidia.com/gpu"
    cpu: str = ""
    memory: str = ""
    command: tuple[str, ...] = ()  # empty: the image's own
    arguments: tuple[str, ...] = ()
    image: str = ""  # where it is not the training's
    is_server: bool = False  # it runs until it is stopped: the training is over without its end

    @property
    def gpu_amount(self) -> str:
        """The GPU request of one task, in the unit of the resource: one device may be 100 units."""
        meaning = gpu_resource(self.gpu_resource)
        return f"{self.gpus * (meaning.units if meaning else 1):g}"

    @property
    def resources(self) -> dict[str, str]:
        """The requests of each task, by resource name."""
        gpus = {self.gpu_resource: self.gpu_amount} if self.gpus else {}
        given = (("cpu", self.cpu), ("memory", self.memory))
        return {**gpus, **{name: one.partition(RANGE)[0] for name, one in given if one}}

    @property
    def limits(self) -> dict[str, str]:
        """The limits of each task, by resource name: CPU has one only as the end of a range."""
        gpus = {self.gpu_resource: self.gpu_amount} if self.gpus else {}
        cpu, memory = (one.rpartition(RANGE)[2] for one in (self.cpu, self.memory))
        return {
            **gpus,
            **({"cpu": cpu} if RANGE in self.cpu else {}),
            **({"memory": memory} if memory else {}),
        }

    @property
    def tolerates(self) -> frozenset[str]:
        """The taint keys that it tolerates: GPU nodes are often tainted with the resource name."""
        return frozenset({self.gpu_resource}) if self.gpus else frozenset()

    @property
    def needed(self) -> int:
        """How many must run, so that the training does."""
        return self.least or self.replicas

    def text(self) -> Sentence:
        """Return a text like `4 workers, each with 8 nvidia.com/gpu`."""
        tasks = tasks_text(self.replicas, self.name)
        if self.least:
            tasks = sentence("{least} to {tasks}", least=self.least, tasks=tasks)
        if not self.gpus:
            return tasks
        return sentence(
            "{tasks}, each with {gpus:g} {resource}", tasks=tasks, gpus=self.gpus, resource=self.gpu_resource
        )


def tasks_text(number: int, role: str) -> Sentence:
    """Return a text like `4 workers`."""
    if role.endswith("s"):
        return sentence("{number} {role}", number=number, role=role)
    return counted("{count} {role}", "{count} {role}s", count=number, role=role)


RANGE = ".."  # between the ends of a range
KUEUE, VOLCANO = "Kueue", "Volcano"  # what has queues


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSpec:
    """A training to launch, of any kind. The first role does the work, and its first task is the master."""

    name: str
    namespace: str
    image: str
    roles: tuple[TrainingRole, ...]
    script_text: str = ""  # of an uploaded script, which the commands run
    team: str = ""
    owner: str = ""
    launched_by: str = ""  # the person
    priority_class: str = ""  # of the pods
    queue: str = ""
    queue_system: str = ""  # KUEUE or VOLCANO; empty until it is known, and without a queue
    queue_priority: str = ""  # the class by which Kueue orders its queue
    max_duration: timedelta | None = None
    backoff: int = 0
    runtime: str = ""  # that describes what it runs, for a kind that has runtimes; empty: the kind's own
    node_selector: Mapping[str, str] = field(default_factory=dict)
    not_on: tuple[str, ...] = ()  # nodes that must run none of its tasks
    tolerations: tuple[str, ...] = ()  # keys of taints, beyond those of GPU nodes
    env: Mapping[str, str] = field(default_factory=dict)  # beyond what describes the training
    volumes: tuple[Volume, ...] = ()
    service_per_task: bool = False
    metrics_port: int = 8080
    pull_secret: str = ""  # namespace/name of the Secret to copy

    @property
    def id(self) -> str:
        """The name of the training."""
        return f"{self.namespace}/{self.name}"

    @property
    def key(self) -> str:
        """The key of the training: that of its namespace, which is created for it."""
        return workload_key(self.namespace, "Namespace", self.namespace)

    @property
    def workers(self) -> TrainingRole:
        return self.roles[0]
