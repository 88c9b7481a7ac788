"""Cases of the rule on a volume that is formatted although it is not new."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from collectors.check import CheckInput
from collectors.cluster.base import KubernetesObject
from collectors.cluster.objects import PersistentVolume, PersistentVolumeClaim, Pod
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.support.objects import NOW, inventory, node, pod, read

_NO_METRICS = Blind(source="prometheus", at=NOW, reason="it does not answer")


def _stamp(minutes: float) -> str:
    return (NOW - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _volume(name: str, *, age: float, image: str = "") -> tuple[KubernetesObject, ...]:
    """Return a volume and its claim, made that many minutes ago."""
    meta: dict[str, Any] = {"creationTimestamp": _stamp(age)}
    spec = {"rbd": {"image": image or name}, "claimRef": {"namespace": "vision", "name": name}}
    claim = {"metadata": {"name": name, "namespace": "vision", **meta}, "spec": {"volumeName": f"pv-{name}"}}
    return (
        read(PersistentVolume, {"metadata": {"name": f"pv-{name}", **meta}, "spec": spec}),
        read(PersistentVolumeClaim, claim),
    )


def _writer(claim: str, *, on: str = "gpu-a01", started: float | None = None, restarts: int = 0) -> Pod:
    """Return a pod that mounts the claim: one that waits, or one that started that many minutes ago."""
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]
    status: dict[str, Any] = {"phase": "Pending", "startTime": _stamp(100)}
    if started is not None:
        running = {"startedAt": _stamp(0 if restarts else started)}
        containers = [{"name": "main", "restartCount": restarts, "state": {"running": running}}]
        status = {"phase": "Running", "startTime": _stamp(100), "containerStatuses": containers}
    return pod(f"{claim}-{on}", "vision", spec={"nodeName": on, "volumes": volumes}, status=status)


def _formatted(*devices: str, on: str = "gpu-a01") -> tuple[Sample, ...]:
    return tuple(Sample(labels=Labels({"node": on, "device": device}), value=1) for device in devices)


def _measured(*claims: str) -> tuple[Sample, ...]:
    return tuple(
        Sample(labels=Labels({"namespace": "vision", "persistentvolumeclaim": claim}), value=2e11)
        for claim in claims
    )


def _inputs(
    *things: KubernetesObject,
    lines: Sequence[Sample] = (),
    metrics: Sequence[Sample] | Blind = _NO_METRICS,
) -> CheckInput:
    return check_input(
        inventory(node("gpu-a01"), node("gpu-a02"), *things),
        logs=(lines or _formatted("/dev/rbd1"),),
        metrics=metrics,
    )


def _fired(severity: str, summary: str, claim: str = "") -> tuple[Fired, ...]:
    named = {"namespace": "vision", "persistentvolumeclaim": claim} if claim else {}
    history = {"critical": "mounted", "warning": "unknown"}[severity]
    labels = {"node": "gpu-a01", "history": history, "severity": severity, **named}
    return (Fired(labels=labels, summary=summary),)


_LOST = "DATA LOSS on gpu-a01: vision/samples was in use before, and was formatted."
_NOT_KNOWN = "The kubelet on gpu-a01 formats a volume that is not new: whether it held data is not known."


def _case(description: str, inputs: CheckInput, fired: tuple[Fired, ...] = ()) -> CheckCase:
    return CheckCase(rule="VolumeReformatted", description=description, inputs=inputs, fired=fired)


FORMAT_CHECK_CASES: Sequence[CheckCase] = (
    _case(
        "the kubelet measured the claim before",
        _inputs(*_volume("samples", age=9000), _writer("samples"), metrics=_measured("samples", "other")),
        _fired("critical", _LOST, "samples"),
    ),
    _case(
        "its pod started two minutes ago",
        _inputs(*_volume("samples", age=9000), _writer("samples", started=2), metrics=_measured("samples")),
        _fired("critical", _LOST, "samples"),
    ),
    _case(
        "a reader elsewhere still has the image mounted, and nothing is measured",
        _inputs(
            *_volume("samples", age=9000), _writer("samples"), _writer("samples", on="gpu-a02", started=60)
        ),
        _fired("critical", _LOST, "samples"),
    ),
    _case(
        "nothing says whether it was mounted before",
        _inputs(*_volume("samples", age=16), _writer("samples")),
        _fired("warning", _NOT_KNOWN, "samples"),
    ),
    _case(
        "two devices, and one new volume explains only one of them",
        _inputs(
            *_volume("samples", age=9000),
            *_volume("ckpt", age=1),
            *(_writer("samples"), _writer("ckpt")),
            lines=_formatted("/dev/rbd1", "/dev/rbd2"),
            metrics=_measured("samples"),
        ),
        _fired("critical", _LOST, "samples"),
    ),
    _case(
        "one of two volumes that were in use",
        _inputs(
            *(*_volume("samples", age=9000), *_volume("ckpt", age=9000)),
            *(_writer("samples"), _writer("ckpt")),
            metrics=_measured("samples", "ckpt"),
        ),
        _fired("critical", "DATA LOSS on gpu-a01: a volume that was in use before was formatted."),
    ),
    _case("a claim that is minutes old", _inputs(*_volume("ckpt", age=14), _writer("ckpt"))),
    _case(
        "an old claim that is mounted for the first time",
        _inputs(*_volume("ckpt", age=9000), _writer("ckpt"), metrics=_measured("samples")),
    ),
    _case(
        "a new volume starts beside an old one, and one device is formatted",
        _inputs(
            *(*_volume("samples", age=9000), *_volume("ckpt", age=1)),
            *(_writer("samples", started=2), _writer("ckpt", started=2)),
            metrics=_measured("samples"),
        ),
    ),
    _case(
        "the old volume is on another node, and on this one a container of its pod was only restarted",
        _inputs(
            *(*_volume("samples", age=9000), *_volume("data", age=9000)),
            *(_writer("samples", on="gpu-a02"), _writer("data", started=60, restarts=3)),
            metrics=_measured("samples", "data"),
        ),
    ),
    _case(
        "nothing is formatted",
        check_input(inventory(*_volume("samples", age=9000), _writer("samples")), logs=((),)),
    ),
)
