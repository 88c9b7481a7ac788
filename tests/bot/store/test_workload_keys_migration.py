"""Rows of before workloads and trainings had keys: they are found, and show what they did."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from alerts.cards.posted import CardKind, PostedCard, ThreadReply, card_id, reply_id
from alerts.incidents.incident import Impact, Incident
from alerts.rules import Severity
from alerts.silences import Silence
from alerts.store import StoreSnapshot
from bot.store.sql_store import SqlStore
from collectors.facts.labels import Labels
from collectors.facts.subjects import Subject
from commands.execution.disruption import Disruption, worse_than_shown
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Plan
from commands.execution.record_steps import record
from commands.execution.steps import Delete, Record
from commands.models import Launch, ReclaimRequest
from tests.support.execution import plan_of
from tests.support.old_store import take_back
from tests.support.rows import NOON, a_card, a_launch, a_line, a_request, a_silence

KEY = "mnist/Namespace/mnist"
LAUNCH = a_launch(NOON, id="prod-a/mnist/mnist", training="mnist/mnist", by="slack:U1", by_name="Ana")
RECLAIM = a_request(
    NOON,
    training="mnist/mnist",
    owner_id="slack:U1",
    asked_by="slack:U2",
    asked_by_name="Bo",
    grace_until=NOON,
)
CARD = a_card(LAUNCH.id, channel="C1", kind=CardKind.LAUNCH, cluster="prod-a", message_id="1.2")
REPLY = a_line(CARD, said="it runs", cluster="prod-a", message_id="1.3")


def an_incident(id: str, subject: Subject, group_key: str) -> Incident:
    return Incident(
        id=id,
        cluster="prod-a",
        group_key=group_key,
        subject=subject,
        opened_at=NOON,
        severity=Severity.WARNING,
        impacts=tuple(
            Impact(training=one, gpus=8)
            for one in ("mnist/mnist", "vision/other", "vision/PyTorchJob/resnet")
        ),
    )


INCIDENTS = (
    an_incident(
        "1", Subject(training="mnist/mnist", workload="mnist/Job/mnist-worker"), "training/mnist/mnist"
    ),
    an_incident("2", Subject(training="vision/other"), "training/vision/other"),
    an_incident("3", Subject(workload="vision/JobSet/bert"), "workload/vision/JobSet/bert"),
)
SILENCE = a_silence(NOON, 'training="mnist/mnist",workload=~"vision/JobSet/.*"')
JOBSET = ObjectRef(api="jobset.x-k8s.io/v1alpha2", kind="JobSet", namespace="vision", name="bert", uid="u1")
PLAN = replace(
    plan_of(
        record("launches", LAUNCH, text="report it", before=replace(LAUNCH, is_over=True)),
        record("reclaim_requests", RECLAIM, text="request it"),
        Delete(ref=JOBSET, description="delete jobset vision/bert"),
    ),
    disrupts=tuple(
        Disruption(name=one, gpus=8)
        for one in ("mnist/mnist", "vision/JobSet/bert", "vision/Deployment/api", "vision/other")
    ),
)


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """A store whose rows are as before the migration."""
    path = tmp_path / "yard.db"
    store = await SqlStore.open(f"sqlite+aiosqlite:///{path}")
    async with store.unit() as unit:
        for row in (LAUNCH, RECLAIM, CARD, REPLY, SILENCE, PLAN, *INCIDENTS):
            await unit.rows(type(row)).put(row)
    await store.close()
    await take_back(path, "0003")
    return path


@asynccontextmanager
async def migrated(file: Path) -> AsyncIterator[StoreSnapshot]:
    """Yield the rows of the file, which opening it migrates."""
    store = await SqlStore.open(f"sqlite+aiosqlite:///{file}")
    async with store.read() as rows:
        yield rows
    await store.close()


async def test_rows_of_a_launched_training_get_its_key_and_keep_its_name(file: Path) -> None:
    async with migrated(file) as rows:
        launch = await rows.rows(Launch).get(f"prod-a/{KEY}")
        assert launch is not None
        assert (launch.training, launch.shown) == (KEY, "mnist/mnist")
        (reclaim,) = await rows.rows(ReclaimRequest).find(cluster="prod-a", training=KEY)
        assert (reclaim.id, reclaim.training, reclaim.shown) == ("c1", KEY, "mnist/mnist")
        card = await rows.rows(PostedCard).get(card_id(CardKind.LAUNCH, launch.id, "C1"))
        assert card is not None
        assert (card.row_id, card.message_id) == (launch.id, "1.2")
        (reply,) = await rows.rows(ThreadReply).find(card=card.id)
        assert (reply.id, reply.message_id) == (reply_id(card.id, "1"), "1.3")
        (incident,) = await rows.rows(Incident).find(cluster="prod-a", group_key=f"training/{KEY}")
        assert incident.subject.training == KEY
        assert incident.subject.words()["training"] == "mnist/mnist"


async def test_impacts_show_what_they_did(file: Path) -> None:
    async with migrated(file) as rows:
        incident = await rows.rows(Incident).get("1")
        assert incident is not None
        assert [(one.training, one.shown) for one in incident.impacts] == [
            (KEY, "mnist/mnist"),
            ("vision/other", "vision/other"),
            ("vision/PyTorchJob.kubeflow.org/resnet", "PyTorchJob vision/resnet"),
        ]


async def test_a_workload_gets_its_group_and_a_training_of_unknown_kind_keeps_its_name(file: Path) -> None:
    async with migrated(file) as rows:
        other, jobset = [await rows.rows(Incident).get(id) for id in ("2", "3")]
        assert other is not None
        assert other.group_key == "training/vision/other"
        assert jobset is not None
        assert jobset.group_key == "workload/vision/JobSet.jobset.x-k8s.io/bert"
        assert jobset.subject.workload == "vision/JobSet.jobset.x-k8s.io/bert"
        assert jobset.subject.words()["workload"] == "vision/JobSet/bert"


async def test_a_silence_of_a_training_goes_on_since_labels_have_its_name(file: Path) -> None:
    async with migrated(file) as rows:
        silence = await rows.rows(Silence).get("s1")
        assert silence == SILENCE
        own = Labels({"training": "mnist/mnist", "workload": "vision/JobSet/bert"})
        assert silence.covers(own, NOON)
        assert not silence.covers(Labels({**own, "training": "vision/other"}), NOON)


async def test_a_plan_knows_what_it_disrupts_by_key_and_shows_what_it_did(file: Path) -> None:
    async with migrated(file) as rows:
        plan = await rows.rows(Plan).get("p1")
        assert plan is not None
        assert [(one.name, str(one)) for one in plan.disrupts] == [
            (KEY, "mnist/mnist: 8 GPUs"),
            ("vision/JobSet.jobset.x-k8s.io/bert", "JobSet vision/bert: 8 GPUs"),
            ("vision/Deployment/api", "Deployment vision/api: 8 GPUs"),
            ("vision/other", "vision/other: 8 GPUs"),
        ]
        now = [Disruption(name=one, gpus=8) for one in (KEY, "vision/JobSet.jobset.x-k8s.io/bert")]
        assert worse_than_shown(plan.disrupts, now) == []


async def test_the_steps_of_a_plan_are_for_the_rows_that_have_keys_now(file: Path) -> None:
    async with migrated(file) as rows:
        plan = await rows.rows(Plan).get("p1")
        assert plan is not None
        launch, reclaim, delete = plan.steps
        assert isinstance(launch, Record)
        assert isinstance(reclaim, Record)
        stored = await rows.rows(Launch).get(launch.id)
        assert stored is not None
        for row in (launch.row, launch.before):
            assert row is not None
            assert (row["id"], row["training"], row["name"]) == (stored.id, KEY, "mnist/mnist")
        assert reclaim.id == RECLAIM.id
        assert reclaim.row is not None
        assert (reclaim.row["training"], reclaim.row["name"]) == (KEY, "mnist/mnist")
        assert delete == PLAN.steps[2]
