"""Keys of workloads and trainings: how they are made and taken apart, in indexes, catalogues and rows. Pure.

A key is `namespace/Kind.group/name`; the kinds of Kubernetes itself have no group. It names one object of one
cluster: a row has the cluster in a column beside it, and what stands alone has it in front (`prod-a/vision/Job/bert`).

Two APIs may share a kind and a group, and differ by the version alone, each with a controller of its own. The later one
has its version in keys, as kubectl takes it: `MPIJob.v2beta1.kubeflow.org`. Keys of the earlier one are as they were.
"""

import re
from typing import NamedTuple

# Kubernetes' own groups of workloads and of what owns them: their kinds have distinct names.
BUILT_IN_GROUPS = frozenset(("", "apps", "batch", "autoscaling", "policy"))
BUILT_IN_KINDS = frozenset(
    (
        "CronJob",
        "DaemonSet",
        "Deployment",
        "Job",
        "Namespace",
        "Node",
        "Pod",
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
    )
)


# The APIs that have the version in keys: its kind, version and group.
APART = frozenset((("MPIJob", "v2beta1", "kubeflow.org"),))
_WITH_VERSION = re.compile(r"[^.]+\.v[0-9]+(?:(?:alpha|beta)[0-9]+)?\..+")


class WorkloadKey(NamedTuple):
    """A key taken apart. `kind` has its group behind a dot, unless it is one of Kubernetes' own."""

    namespace: str
    kind: str
    name: str

    @property
    def object_key(self) -> str:
        """The key of the object among those of its kind."""
        return f"{self.namespace}/{self.name}"

    @property
    def shown(self) -> str:
        """`PyTorchJob vision/resnet`."""
        return f"{shown_kind(self.kind)} {self.object_key}"


def kind_with_group(kind: str, group: str, version: str = "") -> str:
    """Return the kind as it stands in keys: `Job`, `Job.batch.volcano.sh`, `MPIJob.v2beta1.kubeflow.org`."""
    if (kind, version, group) in APART:
        return f"{kind}.{version}.{group}"
    return kind if group in BUILT_IN_GROUPS else f"{kind}.{group}"


def shown_kind(kind: str) -> str:
    """Return a kind as people read it: with its group, as kubectl takes it, only beside another kind of its name."""
    bare = bare_kind(kind)
    return kind if bare in BUILT_IN_KINDS or _WITH_VERSION.fullmatch(kind) else bare


def bare_kind(kind: str) -> str:
    """Return a kind without its group and its version, as its objects have it."""
    return kind.partition(".")[0]


def workload_key(namespace: str, kind: str, name: str) -> str:
    """Return the key. `kind` is one of `kind_with_group`."""
    return f"{namespace}/{kind}/{name}"


def plain_workload(key: str) -> str:
    """Return the key with its kind as people read it, as labels and matchers have it: `vision/PyTorchJob/resnet`."""
    if not is_workload_key(key):
        return key
    namespace, kind, name = parse_workload(key)
    return workload_key(namespace, shown_kind(kind), name)


def is_workload_key(text: str) -> bool:
    """Whether the text is a key: a name that is typed has one slash at most."""
    return text.count("/") == 2


def parse_workload(key: str) -> WorkloadKey:
    """Take a key apart. Raises ValueError for another text."""
    namespace, kind, name = key.split("/")
    return WorkloadKey(namespace, kind, name)
