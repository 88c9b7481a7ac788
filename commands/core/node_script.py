"""Scripts that run on a node as a Job, repairs made of them, and what the settings say of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

NAMESPACE = "yardmaster-jobs"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuClaim:
    """GPUs of the node that dynamic resource allocation gives the script's pod: one by its UUID, or all of them."""

    driver: str
    uuid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeScript:
    """A script of the fixed list.

    on_host: it runs in the namespaces of the host's first process, as root there; its pod is privileged. Otherwise it
    runs in its image. by_scheduler: the scheduler places its pod, as it must where it asks for `resources`; otherwise
    the kubelet gets it directly, whatever is wrong with the node.
    """

    name: str  # `repair/nvidia-uvm`
    text: str
    image: str = ""  # empty: the setting `node_jobs.images` of its name, or `node_jobs.image`
    shell: str = "/bin/sh"
    on_host: bool = False
    privileged: bool = False
    host_network: bool = False
    by_scheduler: bool = False
    within: timedelta = timedelta(minutes=5)
    resources: Mapping[str, str] = field(default_factory=dict)
    claim: GpuClaim | None = None
    memory: str = ""  # size of /dev/shm, which NCCL needs: `8Gi`
    log_bytes: int = 65_536
    is_read: bool = False  # as NodeJob.is_read


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A repair of the list.

    `needs`: what must hold first. `second_person`: why another person has to confirm it. `relieves`: patterns of alerts
    that it ends.
    """

    name: str
    summary: str
    script: NodeScript
    needs: tuple[str, ...] = ()
    second_person: str = ""
    is_for_gpus: bool = False  # for nodes with NVIDIA GPUs only
    has_index: bool = False  # it is about one GPU
    relieves: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeJobDefaults:
    """Where Jobs on nodes run, and with which images. Without an image none runs."""

    namespace: str = NAMESPACE
    image: str = ""
    images: Mapping[str, str] = field(default_factory=dict)  # by the name of the script
    pull_secrets: tuple[str, ...] = ()
    start_within: timedelta = timedelta(minutes=3)
