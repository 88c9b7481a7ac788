"""A stored plan is read in the reader's language after a restart: its steps, outcomes, and the rows that it carries."""

from dataclasses import replace
from datetime import timedelta

from alerts.cards.text import plain
from alerts.store import Row, table_of
from bot.language.message_catalogue import catalogue
from bot.language.translation import translated
from bot.store.documents import decode, encode
from collectors.facts.sentences import Sentence, sentence
from commands.execution.disruption import Disruption
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import StepRecord, StepState, plan_hash
from commands.execution.plan_card import card_of, details
from commands.execution.preview import preview
from commands.execution.record_steps import put_record, record
from commands.execution.steps import Patch, Record
from commands.models import CordonLease
from tests.support.alerting import NOON
from tests.support.execution import plan_of
from tests.support.memory_store import MemoryStore
from tests.support.rows import a_lease
from tests.support.shown import lines_of

REASON = sentence("no reason given")
LEASE = replace(a_lease(NOON, reason=REASON), until=NOON + timedelta(hours=4))
CORDON = Patch(
    ref=ObjectRef(api="v1", kind="Node", name="gpu-a01"),
    description=sentence(
        "cordon {node}: no new pods are scheduled there ({reason})", node="gpu-a01", reason=REASON
    ),
    body={"spec": {"unschedulable": True}},
    undo={"spec": {"unschedulable": None}},
    undo_text=sentence("uncordon {node}", node="gpu-a01"),
)
KEEP = record("leases", LEASE, text=sentence("end the lease of {node}", node="gpu-a01"))
PLAN = replace(
    plan_of(CORDON, KEEP),
    title=sentence("Cordon {nodes}", nodes="gpu-a01"),
    disrupts=(Disruption(name="vision/detr", shown="vision/detr", owner="ana", gpus=8),),
)


def stored(row: Row) -> Row:
    table = table_of(type(row))
    return decode(table, encode(table, row))


def test_the_steps_of_a_stored_plan_are_shown_in_chinese() -> None:
    shown = translated(preview(stored(PLAN)), catalogue("zh"))
    assert plain(shown.title) == "停止调度 gpu-a01？"
    said = "\n".join(lines_of(shown))
    assert "停止调度 gpu-a01：不再有新的 Pod 调度到那里（未给出原因）" in said
    assert "结束 gpu-a01 的租约" in said
    assert "vision/detr（ana）：8 个 GPU" in said


def test_the_outcomes_of_stored_steps_are_shown_in_chinese() -> None:
    failed = StepRecord(
        plan=PLAN.id,
        number=0,
        cluster=PLAN.cluster,
        state=StepState.FAILED,
        outcome=sentence("{ref} no longer exists", ref="node gpu-a01"),
    )
    skipped = replace(failed, number=1, state=StepState.SKIPPED, outcome="")
    records = [stored(failed), stored(skipped)]
    for message in (card_of(stored(PLAN), records), details(stored(PLAN), records)):
        assert "（node gpu-a01 已不存在）" in "\n".join(lines_of(translated(message, catalogue("zh"))))


def test_what_an_undo_of_a_stored_plan_says_comes_back_too() -> None:
    again = stored(PLAN).steps[0].inverse("")
    assert again is not None
    assert isinstance(again.description, Sentence)
    assert again.description.arguments == {"node": "gpu-a01"}


def test_a_stored_plan_has_the_hash_that_was_shown() -> None:
    again = stored(PLAN)
    assert plan_hash(again.stages, again.decided) == PLAN.hash


async def test_the_row_of_a_record_step_keeps_its_sentences() -> None:
    step = stored(PLAN).steps[1]
    assert isinstance(step, Record)
    store = MemoryStore()
    async with store.unit() as unit:
        await put_record(unit, step, "p1")
    async with store.read() as snapshot:
        lease = await snapshot.rows(CordonLease).get(LEASE.id)
    assert lease is not None
    reason = stored(lease).reason
    assert isinstance(reason, Sentence)
    assert reason.template == "no reason given"
