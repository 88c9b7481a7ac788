"""Controllers of others that are built with Go, unchanged: a row of CONTROLLERS each.

This folder uses only the standard library: the installer runs before the project's environment exists.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.real.parts import layout


@dataclass(frozen=True, kw_only=True)
class FixedPlace:
    """A text of the upstream's main that says a place on the machine, and what is compiled instead of it."""

    file: str
    text: str
    instead: str


@dataclass(frozen=True, kw_only=True)
class Controller:
    """A part. `programs` are by their names: the packages that are built in our module of the part's name.

    `files` are copied from the upstream's module `source`: their paths in it, and their names in the part. With
    `fixed` the only program is the upstream's main with one text replaced. One that is `for_soak` takes long to build,
    and only tests of `make soak` run it.
    """

    part: str
    version: str  # the one that our go.mod requires
    source: str
    programs: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    fixed: FixedPlace | None = None
    for_soak: bool = False

    @property
    def module(self) -> Path:
        """The folder of our Go module."""
        return layout.KUBE_MODULE.with_name(self.part.replace("-", "_"))

    @property
    def folder(self) -> Path:
        """The folder of the part, whether it exists or not. Other sources have another folder."""
        salt = self.fixed.instead if self.fixed is not None else ""
        return layout.cache() / f"{self.part}-{self.version}-{layout.digest(self.module, salt)}"

    def present(self) -> tuple[Path, ...]:
        """Return the files of the part, whether they exist or not: the programs first."""
        return tuple(self.folder / name for name in (*self.programs, *self.files.values()))


def _definitions(folder: str, group: str, *plurals: str) -> dict[str, str]:
    return {f"{folder}/{group}_{plural}.yaml": f"{plural}.yaml" for plural in plurals}


_JOBSET = "sigs.k8s.io/jobset"
_TRAINING_OPERATOR = "github.com/kubeflow/training-operator"
_TRAINER = "github.com/kubeflow/trainer/v2"
_KUEUE = "sigs.k8s.io/kueue"
_VOLCANO = "volcano.sh/volcano"
_VOLCANO_DEFINITIONS = "config/crd/volcano/bases"
_WEBHOOKS = "webhooks.yaml"

JOBSET = Controller(
    part="jobset",
    version="0.12.0",
    source=_JOBSET,
    programs={"jobset": _JOBSET},
    files={
        "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml": "definition.yaml",
        "config/components/webhook/manifests.yaml": _WEBHOOKS,
    },
)
TRAINING_OPERATOR = Controller(
    part="training-operator",
    version="1.9.3",
    source=_TRAINING_OPERATOR,
    programs={"training-operator": "./cmd/training-operator"},
    files=_definitions("manifests/base/crds", "kubeflow.org", "tfjobs", "pytorchjobs", "mpijobs"),
)
TRAINER = Controller(
    part="trainer",
    version="2.3.0",
    source=_TRAINER,
    programs={"trainer": f"{_TRAINER}/cmd/trainer-controller-manager"},
    files={
        **_definitions(
            "manifests/base/crds",
            "trainer.kubeflow.org",
            "trainjobs",
            "trainingruntimes",
            "clustertrainingruntimes",
        ),
        "manifests/base/webhook/manifests.yaml": _WEBHOOKS,
        "manifests/base/runtimes/torch_distributed.yaml": "torch.yaml",
    },
)
MPI_OPERATOR = Controller(
    part="mpi-operator",
    version="0.8.0",
    source="github.com/kubeflow/mpi-operator",
    programs={"mpi-operator": "./cmd/mpi-operator"},
    files=_definitions("manifests/base", "kubeflow.org", "mpijobs"),
)
KUBERAY = Controller(
    part="kuberay",
    version="1.4.2",
    source="github.com/ray-project/kuberay/ray-operator",
    programs={"ray-operator": "./cmd/ray-operator"},
    files=_definitions("config/crd/bases", "ray.io", "rayclusters", "rayjobs"),
)
KUEUE = Controller(
    part="kueue",
    version="0.19.2",
    source=_KUEUE,
    programs={"kueue": _KUEUE},
    files={
        **_definitions(
            "config/components/crd/bases",
            "kueue.x-k8s.io",
            "admissionchecks",
            "clusterqueues",
            "cohorts",
            "localqueues",
            "multikueueclusters",
            "multikueueconfigs",
            "provisioningrequestconfigs",
            "resourceflavors",
            "topologies",
            "workloadpriorityclasses",
            "workloads",
        ),
        "config/components/webhook/manifests.yaml": _WEBHOOKS,
    },
    fixed=FixedPlace(
        file="cmd/kueue/main.go",
        text='"/etc/kueue/metrics/certs"',
        instead='os.Getenv("KUEUE_METRICS_CERTS")',
    ),
)
VOLCANO = Controller(
    part="volcano",
    version="1.10.0",
    source=_VOLCANO,
    programs={name: f"{_VOLCANO}/cmd/{name}" for name in ("controller-manager", "scheduler")},
    files={
        **_definitions(_VOLCANO_DEFINITIONS, "batch.volcano.sh", "jobs"),
        **_definitions(_VOLCANO_DEFINITIONS, "bus.volcano.sh", "commands"),
        **_definitions(_VOLCANO_DEFINITIONS, "scheduling.volcano.sh", "podgroups", "queues"),
        **_definitions(_VOLCANO_DEFINITIONS, "nodeinfo.volcano.sh", "numatopologies"),
    },
    for_soak=True,
)
CONTROLLERS = (JOBSET, TRAINER, TRAINING_OPERATOR, MPI_OPERATOR, KUBERAY, KUEUE, VOLCANO)
