"""Cards keep what is still open: a suspended training on the incident's, and the cause of a failure on the launch's."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from alerts.cards.message import Buttons, Message, Paragraph
from alerts.cards.posted import CardKind, PostedCard
from alerts.cards.text import plain
from alerts.incidents.incident import Impact, Incident
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext, Composed, Everywhere
from bot.cards.launch_cards import LAUNCH_CARD
from collectors.trainings.training import Rank, Training, TrainingState
from commands.execution.disruption import Disruption
from commands.execution.plan import Origin, Plan, PlanState
from tests.bot.cards.full_cards import a_critical_incident
from tests.support.execution import plan_of
from tests.support.incidents import an_open_incident
from tests.support.memory_store import MemoryStore
from tests.support.rows import NOON, a_card, a_launch

FREED = replace(
    plan_of(),
    id="p7",
    cluster="lab",
    line="gpu release c1",
    origin=Origin(incident="i1"),
    relieves=("GPUIdle",),
    disrupts=(Disruption(name="speech/tts"),),
    state=PlanState.DONE,
    confirmed_at=NOON,
    ended_at=NOON,
)


def training(state: TrainingState, **parts: object) -> Training:
    made = Training(id="speech/tts", kind="Job", namespace="speech", name="tts", state=state)
    return replace(made, **parts)  # type: ignore[arg-type]


async def composed(found: Training, *rows: object, kind: CardKind, now: datetime) -> Composed:
    store = MemoryStore()
    async with store.unit() as unit:
        for row in rows:
            await unit.rows(type(row)).put(row)  # type: ignore[type-var]
    context = CardContext(rules=dict, training=lambda *_: found, blind=lambda *_: {})
    card: PostedCard = a_card("i1", kind=kind)
    async with store.read() as snapshot:
        return await CardCatalogue(context).compose(card, snapshot, now)


def lines(message: Message | None) -> list[str]:
    assert message is not None
    return [plain(block.text) for block in message.blocks if isinstance(block, Paragraph)]


def buttons(message: Message | None) -> list[str]:
    assert message is not None
    return [one.line for block in message.blocks if isinstance(block, Buttons) for one in block.buttons]


@pytest.mark.parametrize(
    ("state", "is_kept"),
    [(TrainingState.SUSPENDED, True), (TrainingState.RUNNING, False), (TrainingState.FAILED, False)],
)
async def test_a_training_that_is_still_suspended_is_kept_with_its_button(
    state: TrainingState, is_kept: bool
) -> None:
    over = replace(an_open_incident(), id="i1", cluster="lab", opened_at=NOON, resolved_at=NOON)

    card = await composed(training(state), over, FREED, kind=CardKind.INCIDENT, now=NOON + timedelta(days=1))

    assert ("speech/tts is still suspended by plan p7." in lines(card.message)) is is_kept
    assert buttons(card.message) == (["plan undo p7"] if is_kept else [])
    assert card.is_final is not is_kept


async def test_a_failed_launch_names_its_cause_and_is_launched_again_elsewhere() -> None:
    incident = a_critical_incident("i9", "gpu-a04")
    launch = a_launch(
        NOON,
        id="i1",
        cluster="lab",
        training="speech/tts",
        by_name="bo",
        plan="p1",
        failed_at=NOON,
        failed_on="gpu-a04",
        reported_state="failed",
        is_over=True,
    )
    failed = training(
        TrainingState.FAILED, failures=(Rank(role="worker", index=0, pod="p", node="gpu-a04", exit_code=134),)
    )
    plan: Plan = replace(plan_of(), id="p1", cluster="lab", line="training launch tts --image r/x:1")

    card = await composed(failed, launch, incident, plan, kind=CardKind.LAUNCH, now=NOON)
    later = await composed(failed, launch, kind=CardKind.LAUNCH, now=NOON + timedelta(hours=1))

    assert [line for line in lines(card.message) if line.startswith("Probably not your code: ")]
    assert buttons(card.message)[0] == "training launch tts-2 --not-on gpu-a04 --image r/x:1"
    assert not card.is_final  # the incident may come, or end
    assert later.is_final
    assert not [line for line in lines(later.message) if "not your code" in line]


def test_an_incident_that_comes_later_composes_the_card_of_the_training_that_it_killed() -> None:
    incident = replace(an_open_incident(), cluster="lab", impacts=(Impact(training="speech/tts"),))

    affected = LAUNCH_CARD.depends_on[Incident](incident)

    assert not isinstance(affected, Everywhere)
    assert list(affected) == ["lab/speech/tts"]
