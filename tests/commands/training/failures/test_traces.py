"""Failures of trainings: written traces of whole failures, and what is found of each."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from collectors.cluster.objects import Event, Job, Namespace, Node, Pod
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import Training
from commands.core.pod_lines import TimedLine
from commands.training.failure_finding import FailureEvidence, FoundFailure, find_failure, rank_name
from commands.training.failure_signs import FailureKind
from tests.alerts.packs.shipped import shipped_rules
from tests.support.objects import NOW, gpus, inventory, read
from tests.support.quick_yaml import from_yaml

_FOLDER = Path(__file__).parent
_WRITTEN, _BY_OTHERS = (
    from_yaml((_FOLDER / name).read_text(encoding="utf-8"))["traces"]
    for name in ("traces.yaml", "traces_by_others.yaml")
)
_TRACES: list[Mapping[str, Any]] = [*_WRITTEN, *_BY_OTHERS]
_RULES = shipped_rules()
_STARTED = NOW - timedelta(hours=2)
_NAMESPACE = "vision"


def _moment(seconds: float) -> datetime:
    return _STARTED + timedelta(seconds=seconds)


def _stamp(seconds: float) -> str:
    return f"{_moment(seconds):%Y-%m-%dT%H:%M:%SZ}"


def _pod(name: str, rank: Mapping[str, Any]) -> Pod:
    role, _, index = name.rpartition("-")
    phase = rank.get("phase", "Failed")
    status: dict[str, Any] = {"phase": phase, "startTime": _stamp(0)}
    if "end" in rank:
        reason = rank.get("reason", "Error")
        ended = {
            "exitCode": rank["code"],
            "reason": reason,
            "startedAt": _stamp(1),
            "finishedAt": _stamp(rank["end"]),
        }
        status["containerStatuses"] = [{"name": "main", "state": {"terminated": ended}}]
    if "sidecar" in rank:
        at, code, reason = rank["sidecar"]
        ended = {"exitCode": code, "reason": reason, "startedAt": _stamp(1), "finishedAt": _stamp(at)}
        beside = {"name": "tensorboard", "restartCount": 1, "state": {"running": {}}}
        status["containerStatuses"].append({**beside, "lastState": {"terminated": ended}})
    if "waiting" in rank:
        reason, message = rank["waiting"]
        status["containerStatuses"] = [
            {"name": "main", "state": {"waiting": {"reason": reason, "message": message}}}
        ]
    if "disrupted" in rank:
        at, reason, message = rank["disrupted"]
        disrupted = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}
        status["conditions"] = [{**disrupted, "lastTransitionTime": _stamp(at)}]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": role, "uid": f"j-{role}", "controller": True}
    return read(
        Pod,
        {
            "metadata": {
                "name": name,
                "namespace": _NAMESPACE,
                "labels": {"batch.kubernetes.io/job-completion-index": index},
                "ownerReferences": [owner],
            },
            "spec": {"nodeName": rank["node"], "containers": [gpus(8)]},
            "status": status,
        },
    )


def _job(role: str, ranks: list[str]) -> Job:
    failed = {
        "type": "Failed",
        "status": "True",
        "reason": "BackoffLimitExceeded",
        "lastTransitionTime": _stamp(4000),
    }
    return read(
        Job,
        {
            "metadata": {
                "name": role,
                "namespace": _NAMESPACE,
                "uid": f"j-{role}",
                "annotations": {"yardmaster.io/role": role},
            },
            "spec": {
                "parallelism": len(ranks),
                "completions": len(ranks),
                "template": {"spec": {"containers": [gpus(8)]}},
            },
            "status": {"conditions": [failed], "startTime": _stamp(0)},
        },
    )


def _event(one: Mapping[str, Any], number: int) -> Event:
    kind, _, name = one["about"].partition("/")
    return read(
        Event,
        {
            "metadata": {"name": f"e{number}", "namespace": _NAMESPACE},
            "involvedObject": {"kind": kind, "name": name, "namespace": _NAMESPACE},
            "reason": one["reason"],
            "message": one["message"],
            "lastTimestamp": _stamp(one["at"]),
        },
    )


def _lines(written: list[list[Any]]) -> tuple[TimedLine, ...]:
    return tuple(TimedLine(at=_moment(at), text=text) for at, text in written)


def found_in(trace: Mapping[str, Any]) -> tuple[Training, FoundFailure]:
    ranks = trace["ranks"]
    roles: dict[str, list[str]] = {}
    for name in ranks:
        roles.setdefault(name.rpartition("-")[0], []).append(name)
    own = {"name": _NAMESPACE, "annotations": {"yardmaster.io/training": "detr"}}
    namespace = read(Namespace, {"metadata": own})
    nodes = [read(Node, {"metadata": {"name": one["node"]}}) for one in ranks.values()]
    seen = inventory(
        namespace,
        *nodes,
        *(_job(role, of) for role, of in roles.items()),
        *(_pod(name, one) for name, one in ranks.items()),
    )
    (training,) = read_trainings(seen)
    evidence = FailureEvidence(
        output={name: _lines(one.get("log", [])) for name, one in ranks.items()},
        hosts={node: _lines(lines) for node, lines in trace.get("kernel", {}).items()},
        events=[_event(one, number) for number, one in enumerate(trace.get("events", []))],
    )
    return training, find_failure(training, evidence, _RULES)


@pytest.mark.parametrize("trace", _TRACES, ids=[one["name"] for one in _TRACES])
def test_the_first_rank_its_line_and_the_cause_are_found(trace: Mapping[str, Any]) -> None:
    _, found = found_in(trace)
    assert (rank_name(found.rank) if found.rank else "") == trace["first"]
    lines = trace["line"] if isinstance(trace["line"], list) else [trace["line"]]
    assert any(line in found.line for line in lines), found.line
    assert found.kind is FailureKind(trace["cause"])


def test_the_end_of_the_first_pod_alone_would_name_another_rank_in_a_quarter_of_them() -> None:
    wrong = [
        trace["name"]
        for trace in _WRITTEN
        if (first := found_in(trace)[0].first_failure) is None or rank_name(first) != trace["first"]
    ]
    assert len(_WRITTEN) == 24
    assert len(wrong) >= 6
