"""Cases of the rules on nodes, and on what is placed on them, as the API shows it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from collectors.cluster.objects import Event, Node, Pod
from collectors.trainings.training import Training, TrainingState
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.support.objects import NOW, gpus, inventory, node, pod, read

_SHORT = "The node was low on resource: ephemeral-storage. Container main was using 91Gi, request is 0."
_OVER = "Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. "


def _stamp(ago: timedelta) -> str:
    return (NOW - ago).strftime("%Y-%m-%dT%H:%M:%SZ")


def _with(name: str, *types: str, status: str = "True") -> Node:
    found = [{"type": one, "status": status, "reason": "Reported", "message": "in words"} for one in types]
    return node(name, status={"conditions": [{"type": "Ready", "status": "True"}, *found]})


def _evicted(name: str, message: str, *, ago: timedelta = timedelta(minutes=3)) -> Pod:
    ended = {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": _stamp(ago)}
    status = {"phase": "Failed", "reason": "Evicted", "message": message, "conditions": [ended]}
    return pod(name, "vision-detr", spec={"nodeName": "gpu-a01"}, status=status)


def _deleted(name: str, *, ago: timedelta, on: str = "gpu-a01", phase: str = "Running") -> Pod:
    return pod(name, "vision", deletionTimestamp=_stamp(ago), spec={"nodeName": on}, status={"phase": phase})


def _event(name: str, count: int, *, reason: str = "FailedCreatePodSandBox", **parts: Any) -> Event:
    tree = {
        "metadata": {"name": name, "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": name},
        "source": {"component": "kubelet", "host": "gpu-a01"},
        "type": "Warning",
        "reason": reason,
        "message": "failed to create containerd task",
        "count": count,
        "firstTimestamp": _stamp(timedelta(minutes=9)),
        "lastTimestamp": _stamp(timedelta(minutes=1)),
        **parts,
    }
    return read(Event, tree)


def _host_event(reason: str, message: str, *, on: str = "gpu-a01", ago: float = 1) -> Event:
    moment = _stamp(timedelta(minutes=ago))
    about = {"involvedObject": {"kind": "Node", "name": on}, "source": {"host": on}}
    return _event(
        f"{on}.{reason}",
        1,
        reason=reason,
        message=message,
        firstTimestamp=moment,
        lastTimestamp=moment,
        **about,
    )


def _sized(name: str, **quantities: str) -> Node:
    return node(name, status={"capacity": quantities, "allocatable": quantities})


def _limited(name: str, limits: dict[str, str], requests: dict[str, str]) -> Pod:
    main = {"name": "main", "resources": {"limits": limits, "requests": requests}}
    return pod(name, spec={"nodeName": "infra-01", "containers": [main]})


def _waiting(
    name: str, *, tasks: int, each: int = 8, state: TrainingState = TrainingState.QUEUED
) -> Training:
    return Training(
        id=f"vision-{name}/{name}",
        kind="Job",
        namespace=f"vision-{name}",
        name=name,
        state=state,
        wanted=tasks,
        gpus_wanted=tasks * each,
        created=NOW - timedelta(hours=1),
    )


def _holding(name: str, on: str, count: int) -> Pod:
    return pod(name, spec={"nodeName": on, "containers": [gpus(count)]})


def _idle_case(
    description: str, *trainings: Training, things: Sequence[Node | Pod] = (), **parts: Any
) -> CheckCase:
    nodes = [node(f"gpu-a0{number}") for number in (1, 2, 3)]
    return CheckCase(
        rule="NodesIdleWhileGangWaits",
        description=description,
        inputs=check_input(inventory(*nodes, *things), trainings=trainings),
        **parts,
    )


def _on(
    name: str, severity: str, summary: str, *, texts: tuple[str, ...] | None = None, **labels: str
) -> Fired:
    return Fired(labels={"node": name, "severity": severity, **labels}, summary=summary, texts=texts)


_STARTED = pod(
    "just-started",
    spec={"nodeName": "gpu-a01"},
    status={
        "phase": "Running",
        "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": _stamp(timedelta(minutes=3))}
        ],
    },
)
_GANG = Fired(
    labels={"namespace": "vision-big", "training": "vision-big/big", "severity": "warning"},
    summary="2 GPU nodes are idle while vision-big/big waits for more.",
)

NODE_CHECK_CASES: Sequence[CheckCase] = (
    CheckCase(
        rule="KubeletCannotFreeDisk",
        description="it says so twice",
        inputs=check_input(
            inventory(
                node("gpu-a01"),
                _event("gc", 1, reason="ImageGCFailed"),
                _event("full", 1, reason="FreeDiskSpaceFailed"),
            )
        ),
        fired=(_on("gpu-a01", "warning", "The kubelet of gpu-a01 cannot free enough of its disk."),),
    ),
    CheckCase(
        rule="KubeletCannotFreeDisk",
        description="once, as its kubelet starts",
        inputs=check_input(inventory(node("gpu-a01"), _event("gc", 1, reason="ImageGCFailed"))),
    ),
    CheckCase(
        rule="KubeletCannotFreeDisk",
        description="a little less than a quarter of an hour ago",
        inputs=check_input(
            inventory(
                node("gpu-a01"),
                _event(
                    "gc",
                    9,
                    reason="ImageGCFailed",
                    firstTimestamp=_stamp(timedelta(minutes=14)),
                    lastTimestamp=_stamp(timedelta(minutes=13)),
                ),
            )
        ),
        fired=(_on("gpu-a01", "warning", "The kubelet of gpu-a01 cannot free enough of its disk."),),
    ),
    CheckCase(
        rule="KubeletCannotFreeDisk",
        description="more than a quarter of an hour ago",
        inputs=check_input(
            inventory(
                node("gpu-a01"),
                _event(
                    "gc",
                    9,
                    reason="ImageGCFailed",
                    firstTimestamp=_stamp(timedelta(minutes=20)),
                    lastTimestamp=_stamp(timedelta(minutes=15, seconds=30)),
                ),
            )
        ),
    ),
    CheckCase(
        rule="NodeSystemOOM",
        description="the kubelet of one says so, the problem detector of another",
        inputs=check_input(
            inventory(
                *(node(name) for name in ("gpu-a01", "gpu-a02")),
                _host_event("SystemOOM", "System OOM encountered, victim process: python", ago=9),
                _host_event("OOMKilling", "Out of memory: Killed process 4242 (python)", on="gpu-a02"),
            )
        ),
        fired=tuple(
            _on(name, "critical", f"{name} ran out of memory and killed processes.")
            for name in ("gpu-a01", "gpu-a02")
        ),
    ),
    CheckCase(
        rule="NodeSystemOOM",
        description="more than ten minutes ago, and the memory of a container",
        inputs=check_input(
            inventory(
                node("gpu-a01"),
                _host_event("SystemOOM", "System OOM encountered, victim process: python", ago=11),
                _host_event("OOMKilling", "Memory cgroup out of memory: Killed process 4242 (python)"),
            )
        ),
    ),
    CheckCase(
        rule="KubeNodePressure",
        description="two kinds of pressure are two alerts of one node",
        inputs=check_input(inventory(_with("gpu-a01", "DiskPressure", "MemoryPressure"), node("gpu-a02"))),
        fired=tuple(
            _on("gpu-a01", "warning", f"gpu-a01 reports {kind}.", condition=kind)
            for kind in ("DiskPressure", "MemoryPressure")
        ),
    ),
    CheckCase(
        rule="KubeNodePressure",
        description="conditions that are False, unknown to a silent kubelet, or about something else",
        inputs=check_input(
            inventory(
                _with("gpu-a01", "DiskPressure", status="False"),
                _with("gpu-a02", "PIDPressure", status="Unknown"),
                _with("gpu-a03", "NetworkUnavailable"),
            )
        ),
    ),
    CheckCase(
        rule="KubeNodeProblem",
        description="some conditions of the problem detector are worse than others",
        inputs=check_input(inventory(_with("gpu-a01", "KernelDeadlock", "FrequentContainerdRestart"))),
        fired=(
            _on(
                "gpu-a01",
                "critical",
                "gpu-a01 reports a problem: KernelDeadlock.",
                condition="KernelDeadlock",
            ),
            _on(
                "gpu-a01",
                "warning",
                "gpu-a01 reports a problem: FrequentContainerdRestart.",
                condition="FrequentContainerdRestart",
            ),
        ),
    ),
    CheckCase(
        rule="KubeNodeProblem",
        description="a condition of some other controller may mean that all is well",
        inputs=check_input(
            inventory(
                _with("gpu-a01", "GpuDriverReady", "SriovConfigured", "EtcdIsVoter", "DiskPressure"),
                _with("gpu-a02", "GPUErrors", "LinkNotReady", "Frozen", status="False"),
                _with("gpu-a03", "GPUErrors", "AcceleratedHardwareReady", status="Unknown"),
            )
        ),
    ),
    CheckCase(
        rule="KubeNodeProblem",
        description="types that nobody knows: True is a problem, and of what is well False is",
        inputs=check_input(
            inventory(
                _with("gpu-a01", "NTPProblem", "LinkNotReady"),
                _with("gpu-a02", "AcceleratedHardwareReady", "LinkHealthy", status="False"),
                _with("gpu-a03", "GPUMissing"),
            )
        ),
        fired=(
            *(
                _on(name, severity, f"{name} reports a problem: {shown}.", condition=shown, texts=texts)
                for name, severity, shown in (
                    ("gpu-a01", "warning", "NTPProblem"),
                    ("gpu-a01", "warning", "LinkNotReady"),
                    ("gpu-a02", "critical", "AcceleratedHardwareReady=False"),
                    ("gpu-a02", "warning", "LinkHealthy=False"),
                    ("gpu-a03", "critical", "GPUMissing"),
                )
                for texts in ((f"{shown}: Reported: in words",),)
            ),
        ),
    ),
    CheckCase(
        rule="KubeNodeProblem",
        description="a type that says neither: what half of the nodes have is usual, what one has is not",
        inputs=check_input(
            inventory(
                _with("gpu-a01", "Blessed", "Cursed"),
                _with("gpu-a02", "Blessed"),
                _with("gpu-a03", "Blessed", "Cursed", status="False"),
                _with("gpu-a04", "Blessed", "Cursed", status="False"),
                _with("gpu-a05", "NTPProblem"),
                _with("gpu-a06", "NTPProblem"),
            )
        ),
        fired=(
            _on("gpu-a01", "warning", "gpu-a01 reports a problem: Cursed.", condition="Cursed"),
            _on("gpu-a05", "warning", "gpu-a05 reports a problem: NTPProblem.", condition="NTPProblem"),
            _on("gpu-a06", "warning", "gpu-a06 reports a problem: NTPProblem.", condition="NTPProblem"),
        ),
    ),
    CheckCase(
        rule="NodePressureEviction",
        description="the kubelet evicted two pods for disk space, nearly half an hour ago",
        inputs=check_input(
            inventory(node("gpu-a01"), *(_evicted(one, _SHORT, ago=timedelta(minutes=29)) for one in "ab"))
        ),
        fired=(
            _on("gpu-a01", "critical", "The kubelet of gpu-a01 evicted pods because the node ran short."),
        ),
    ),
    CheckCase(
        rule="NodePressureEviction",
        description="objects of evictions stay for days, and a pod over its own limit is not the node's fault",
        inputs=check_input(
            inventory(
                node("gpu-a01"),
                _evicted("a", _SHORT, ago=timedelta(minutes=31)),
                _evicted("b", _OVER),
                pod("c", spec={"nodeName": "gpu-a01"}, status={"phase": "Failed", "reason": "NodeLost"}),
            )
        ),
    ),
    CheckCase(
        rule="NodePodsNotEnding",
        description="two ranks were deleted, and their processes hang on dead storage",
        inputs=check_input(
            inventory(
                _with("gpu-a01"),
                _deleted("b", ago=timedelta(minutes=10)),
                _deleted("a", ago=timedelta(minutes=19)),
            )
        ),
        fired=(
            _on(
                "gpu-a01",
                "warning",
                "gpu-a01 cannot end pods: the oldest should have ended 19m 0s ago.",
                texts=("vision/a, vision/b",),
            ),
        ),
    ),
    CheckCase(
        rule="NodePodsNotEnding",
        description="one ends soon, one has ended and waits for a finalizer, one is on a node that is gone",
        inputs=check_input(
            inventory(
                _with("gpu-a01"),
                _deleted("a", ago=timedelta(minutes=9, seconds=59)),
                _deleted("b", ago=timedelta(hours=2), phase="Succeeded"),
                _deleted("c", ago=timedelta(hours=2), on="gpu-a02"),
                _deleted("d", ago=timedelta(hours=2), on="gpu-a03"),
                node("gpu-a03", status={"conditions": [{"type": "Ready", "status": "Unknown"}]}),
            )
        ),
    ),
    CheckCase(
        rule="PodEphemeralStorageExceeded",
        description="a worker wrote its checkpoints into emptyDir, nearly half an hour ago",
        inputs=check_input(
            inventory(node("gpu-a01"), _evicted("detr-worker-0", _OVER, ago=timedelta(minutes=29)))
        ),
        fired=(
            Fired(
                labels={"namespace": "vision-detr", "pod": "detr-worker-0", "severity": "warning"},
                summary="vision-detr/detr-worker-0 was evicted: it wrote more to local disk than it may.",
            ),
        ),
    ),
    CheckCase(
        rule="PodEphemeralStorageExceeded",
        description="a pod that its node evicted, one that was evicted more than half an hour ago, and one that runs",
        inputs=check_input(
            inventory(
                node("gpu-a01"),
                _evicted("a", _SHORT),
                _evicted("b", _OVER, ago=timedelta(minutes=31)),
                _STARTED,
            )
        ),
    ),
    CheckCase(
        rule="KubeletTooManyPods",
        description="20 of 20 pods",
        inputs=check_input(
            inventory(
                _sized("infra-01", pods="20"),
                *(pod(f"p{number}", spec={"nodeName": "infra-01"}) for number in range(20)),
            )
        ),
        fired=(_on("infra-01", "info", "infra-01 has 100% of the pods that its kubelet takes."),),
    ),
    CheckCase(
        rule="KubeletTooManyPods",
        description="19 of 20, besides finished pods that take no place",
        inputs=check_input(
            inventory(
                _sized("infra-01", pods="20"),
                *(pod(f"p{number}", spec={"nodeName": "infra-01"}) for number in range(19)),
                *(
                    pod(f"q{number}", spec={"nodeName": "infra-01"}, status={"phase": "Succeeded"})
                    for number in range(9)
                ),
            )
        ),
    ),
    CheckCase(
        rule="NodeOvercommitted",
        description="the limits of two pods are a little more than three times the CPUs, and fit its memory",
        inputs=check_input(
            inventory(
                _sized("infra-01", cpu="16", memory="64Gi"),
                *(
                    _limited(name, {"cpu": "25", "memory": "32Gi"}, {"cpu": "4", "memory": "8Gi"})
                    for name in ("a", "b")
                ),
            )
        ),
        fired=(
            _on(
                "infra-01",
                "info",
                "The limits of the pods on infra-01 are 3.1 times its cpu.",
                resource="cpu",
                texts=("limits are 312% of its cpu, requests 50%",),
            ),
        ),
    ),
    CheckCase(
        rule="NodeOvercommitted",
        description="a little more than half more than the memory",
        inputs=check_input(
            inventory(
                _sized("infra-01", cpu="16", memory="64Gi"),
                _limited("a", {"cpu": "8", "memory": "100Gi"}, {"cpu": "4", "memory": "8Gi"}),
            )
        ),
        fired=(
            _on(
                "infra-01",
                "info",
                "The limits of the pods on infra-01 are 1.6 times its memory.",
                resource="memory",
            ),
        ),
    ),
    CheckCase(
        rule="NodeOvercommitted",
        description="within reason: three times the CPUs and half more than the memory",
        inputs=check_input(
            inventory(
                _sized("infra-01", cpu="16", memory="64Gi"),
                _limited("a", {"cpu": "48", "memory": "96Gi"}, {"cpu": "4", "memory": "8Gi"}),
                _limited("no-limits", {}, {"cpu": "4"}),
            )
        ),
    ),
    CheckCase(
        rule="ContainerRuntimeFailing",
        description="events of several pods, one of which has failed for days, and of one pod again and again",
        inputs=check_input(
            inventory(
                node("gpu-a01"),
                pod("b", spec={"nodeName": "gpu-a01"}),
                _event("a", 2),
                _event("b", 2, reason="FailedKillPod", firstTimestamp=None, source={}),
                _event("c", 9, firstTimestamp=_stamp(timedelta(days=2))),
            )
        ),
        fired=(_on("gpu-a01", "warning", "The container runtime of gpu-a01 fails: 5 events in 10 minutes."),),
    ),
    CheckCase(
        rule="ContainerRuntimeFailing",
        description="four events, others before, other reasons, and one that has repeated for a day and is rare",
        inputs=check_input(
            inventory(
                node("gpu-a01"),
                _event("a", 2),
                _event("b", 90, reason="Pulled"),
                _event("c", 90, firstTimestamp=_stamp(timedelta(days=2))),
                _event(
                    "newer-style",
                    1,
                    firstTimestamp=None,
                    lastTimestamp=None,
                    eventTime=f"{_stamp(timedelta(days=2)).rstrip('Z')}.000000Z",
                    series={"count": 90, "lastObservedTime": _stamp(timedelta(minutes=1))},
                ),
                _event(
                    "d",
                    9,
                    firstTimestamp=_stamp(timedelta(minutes=15)),
                    lastTimestamp=_stamp(timedelta(minutes=11)),
                ),
            )
        ),
    ),
    _idle_case(
        "a gang of three waits: one of the nodes has a small pod",
        _waiting("big", tasks=3),
        things=[_holding("notebook", "gpu-a03", 1)],
        fired=(replace(_GANG, texts=("2 of its 3 tasks of 8 GPUs would fit on what is free",)),),
    ),
    _idle_case(
        "beside a gang of three waits what would fit, and what would not",
        _waiting("big", tasks=3),
        _waiting("small", tasks=1),
        _waiting("larger", tasks=1, each=9),
        things=[_holding("notebook", "gpu-a03", 1)],
        fired=(
            replace(
                _GANG,
                texts=(
                    "2 of its 3 tasks of 8 GPUs would fit on what is free",
                    "what would fit as a whole: vision-small/small",
                ),
            ),
        ),
    ),
    _idle_case(
        "no node is idle, nothing waits, or a single task waits for something else",
        _waiting("one", tasks=1),
        _waiting("runs", tasks=9, state=TrainingState.RUNNING),
    ),
    _idle_case(
        "a gang of two waits for GPUs that two nodes have",
        _waiting("big", tasks=2),
        things=[_holding("notebook", "gpu-a03", 1)],
        fired=(
            replace(
                _GANG,
                texts=(
                    "there are GPUs for all of its 2 tasks: its queue, taints or another resource hold it",
                ),
            ),
        ),
    ),
    _idle_case("three tasks without GPUs wait for CPUs", _waiting("cpu", tasks=3, each=0)),
    _idle_case(
        "all nodes are used, cordoned, without GPUs, or have slices only",
        _waiting("big", tasks=3),
        things=[
            *(_holding(f"w-{number}", f"gpu-a0{number}", 4) for number in (1, 2, 3)),
            node("gpu-a04", spec={"unschedulable": True}),
            _sized("infra-01", cpu="64"),
            _sized("mig-01", **{"nvidia.com/mig-1g.10gb": "7"}),
        ],
    ),
)
