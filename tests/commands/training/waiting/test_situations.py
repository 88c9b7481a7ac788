"""Trainings that wait: written situations of three queues, and what is said of each."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEFAULT_KINDS
from collectors.cluster.resources import requested
from collectors.facts.clock import duration
from collectors.facts.results import SourceError
from collectors.gpu_activity import Activity, IdleSearch, PodGpus
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.wait_reasons import WaitKind
from commands.execution.object_refs import ObjectRef
from commands.training.queue_objects import queue_objects
from commands.training.start_time import EarlierRun, earlier_runs
from commands.training.why_card import why_card
from commands.training.why_waiting import WaitInputs, WhyWaiting, why_waiting
from tests.commands.training.waiting.worlds import objects_of
from tests.support.objects import NOW, inventory, read
from tests.support.quick_yaml import from_yaml
from tests.support.yard import text_of

_FOLDER = Path(__file__).parent
_MOMENT = re.compile(r"<([+-])(\d\w*)>")
_TYPES = {(kind.api, kind.kind): kind.type for kind in DEFAULT_KINDS}


def _situations(file: str) -> Sequence[Mapping[str, Any]]:
    text = _MOMENT.sub(
        lambda found: f'"{_at(found):%Y-%m-%dT%H:%M:%SZ}"', (_FOLDER / file).read_text(encoding="utf-8")
    )
    found: Sequence[Mapping[str, Any]] = from_yaml(text)["situations"]
    return found


def _at(found: re.Match[str]) -> datetime:
    ago = duration(found[2])
    return NOW + ago if found[1] == "+" else NOW - ago


@dataclass
class WrittenReader:
    """Answers with the objects of a situation. A kind that it has none of is not served."""

    objects: Sequence[Mapping[str, Any]]

    async def read(self, ref: ObjectRef, subresource: str = "") -> dict[str, Any] | None:
        return next((dict(one) for one in self._of(ref) if one["metadata"]["name"] == ref.name), None)

    async def listing(
        self, ref: ObjectRef, *, fields: str = "", labels: str = ""
    ) -> Sequence[dict[str, Any]]:
        found = [dict(one) for one in self._of(ref)]
        if not found and "." in ref.api.partition("/")[0]:
            raise SourceError("the server could not find the requested resource", status=404)
        return found

    def _of(self, ref: ObjectRef) -> Sequence[Mapping[str, Any]]:
        return [
            one
            for one in self.objects
            if (one["apiVersion"], one["kind"]) == (ref.api, ref.kind)
            and ref.namespace in ("", one["metadata"].get("namespace", ""))
        ]


async def waiting_of(situation: Mapping[str, Any]) -> tuple[WhyWaiting, str]:
    """Return what is found of a situation, and what people read."""
    objects = objects_of(situation)
    seen = inventory(
        *(
            read(of, tree)
            for tree in objects
            if (of := _TYPES.get((tree["apiVersion"], tree["kind"]))) is not None
        )
    )
    trainings = read_trainings(seen)
    (training,) = [one for one in trainings if one.shown == situation["training"]]
    runs = tuple(
        EarlierRun(name=one["name"], gpus=one["gpus"], lasted=timedelta(minutes=one["minutes"]))
        for one in situation.get("runs", ())
    )
    looked = WaitInputs(
        training=training,
        trainings=trainings,
        inventory=seen,
        objects=await queue_objects(training, seen, WrittenReader(objects)),
        now=NOW,
        runs=(*runs, *earlier_runs(trainings)),
        idle=_idle(situation, seen),
    )
    found = why_waiting(looked)
    return found, text_of(why_card(training, found, NOW, may={}))


def _idle(situation: Mapping[str, Any], seen: Inventory) -> IdleSearch | None:
    """Return the search of metrics that found these pods idle; None where the situation names none."""
    if "idle" not in situation:
        return None
    pods = {}
    for key in situation["idle"]:
        pod = seen.pods[key]
        namespace, name = pod.metadata.namespace, pod.metadata.name
        gpus = {"nvidia.com/gpu": requested(pod.spec, "nvidia.com/gpu")}
        pods[namespace, name] = PodGpus(
            namespace=namespace, pod=name, node=pod.spec.node_name, gpus=gpus, activity=Activity.IDLE
        )
    return IdleSearch(at=NOW, after=timedelta(minutes=50), pods=pods)


SITUATIONS = [
    one
    for file in ("situations.yaml", "unseen.yaml", "strangers.yaml")
    if (_FOLDER / file).exists()
    for one in _situations(file)
]


@pytest.mark.parametrize("situation", SITUATIONS, ids=[one["name"] for one in SITUATIONS])
async def test_the_reason_is_right_and_no_start_is_invented(situation: Mapping[str, Any]) -> None:
    found, said = await waiting_of(situation)
    assert found.kind is WaitKind(situation["reason"]), [f"{one.kind}: {one.text}" for one in found.reasons]
    for words in situation.get("says", ()):
        assert words in said
    for words in situation.get("never", ()):
        assert words not in said
    at = f"{found.start.at:%Y-%m-%dT%H:%M:%SZ}" if found.start.at is not None else "unknown"
    assert at == situation["start"], found.start.basis
    assert found.start.basis
    if "before" in situation:
        assert found.line.before is not None
        assert len(found.line.before) == situation["before"]


def test_there_are_situations_of_three_queues() -> None:
    assert len(SITUATIONS) >= 45
    apis = {str(one["apiVersion"]).partition("/")[0] for each in SITUATIONS for one in objects_of(each)}
    assert {"kueue.x-k8s.io", "scheduling.volcano.sh", "scheduling.k8s.io"} <= apis
    assert sum(each["start"] == "unknown" for each in SITUATIONS) >= 20
