"""`training list` with 2,000 trainings of all kinds: as fast as reading them from the cache."""

import json
from dataclasses import dataclass, replace
from time import process_time
from typing import Any, cast

import msgspec
import pytest

from collectors.cluster.base import KubernetesObject
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEFAULT_KINDS
from collectors.cluster.memo import Memo
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import Training
from commands.core.command import Answer
from commands.core.context import CommandContext, Defaults
from commands.core.request import Actor
from commands.execution.steps import Create
from commands.training.commands import ListTrainings, listing
from commands.training.spec import TrainingRole, TrainingSpec
from commands.training.training_kinds import KINDS
from commands.training.writing_kind import WritingKind
from tests.support.objects import NOW, inventory, pod
from tests.support.yard import text_of

TRAININGS, RANKS, TRIES = 2_000, 4, 3
API = {(kind.api, kind.kind): kind for kind in DEFAULT_KINDS}


def a_training(number: int, kind: WritingKind) -> list[KubernetesObject]:
    """Return the objects of a launch, each in a shared namespace, with pods that run and are the object's own."""
    name, space = f"t{number}", f"team-{number % 20}"
    role = TrainingRole(name="worker", replicas=RANKS, gpus=8, command=("python",), arguments=("train.py",))
    assert kind.launching is not None
    spec = TrainingSpec(name=name, namespace=space, image="registry.example/m:1", roles=(role,), owner="ana")
    made: list[KubernetesObject] = []
    for step in kind.launching.steps(spec):
        if isinstance(step, Create) and (step.ref.api, step.ref.kind) == (
            kind.objects.api,
            kind.objects.kind,
        ):
            tree = {**step.manifest, "metadata": {**step.manifest["metadata"], "uid": f"uid-{number}"}}
            made.append(msgspec.json.decode(json.dumps(tree), type=kind.objects.type))
    (top,) = made
    owner = {
        "apiVersion": kind.objects.api,
        "kind": kind.objects.kind,
        "name": top.metadata.name,
        "uid": top.metadata.uid,
        "controller": True,
    }
    return [
        *made,
        *(
            pod(f"{name}-{rank}", space, ownerReferences=[owner], spec={"nodeName": f"n{rank}"})
            for rank in range(RANKS)
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """What the command asks of a cluster. Its trainings are read from the cache each time."""

    seen: Inventory
    name: str = "prod-a"

    def inventory(self) -> Inventory:
        return self.seen

    def trainings(self) -> tuple[Training, ...]:
        return read_trainings(self.seen)


@pytest.fixture(scope="module")
def seen() -> Inventory:
    kinds = [kind for kind in KINDS.values() if kind.launching]
    return inventory(
        *(one for number in range(TRAININGS) for one in a_training(number, kinds[number % len(kinds)]))
    )


async def listed(seen: Inventory) -> Answer:
    context: Any = CommandContext(
        actor=Actor(id="U", name="ana"),
        now=NOW,
        cluster=cast(Any, Cluster(seen=seen)),
        store=cast(Any, None),
        defaults=Defaults(),
    )
    return await listing(ListTrainings(team="", all=True), context)


async def test_a_list_of_many_takes_at_most_twice_the_time_of_reading_them(seen: Inventory) -> None:
    reading: list[float] = []
    listing_them: list[float] = []
    for _ in range(TRIES):
        cold = replace(seen, memo=Memo())
        start = process_time()
        assert len(read_trainings(cold)) == TRAININGS
        reading.append(process_time() - start)
        cold = replace(seen, memo=Memo())
        start = process_time()
        answer = await listed(cold)
        listing_them.append(process_time() - start)
        assert f"{TRAININGS} trainings" in text_of(answer.message).replace(",", "")
    assert min(listing_them) <= 2 * min(reading), f"{min(listing_them):.2f} s, and {min(reading):.2f} s"
