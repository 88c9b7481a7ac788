"""A person's page: what is open, what waits for them, and what is theirs, within the limits of a home tab."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from alerts.cards.message import Block, Message
from alerts.cards.text import text
from alerts.incidents.incident import Incident
from alerts.rules import Severity
from bot.channels.slack.blocks import render_view
from collectors.trainings.training import Rank, Training, TrainingState
from commands.core.request import Actor
from commands.home.sections import (
    SHOWN,
    failed_trainings,
    leases_of,
    open_incident_blocks,
    trainings_of,
    waiting_for,
)
from commands.models import CordonLease, ReclaimRequest
from demo.lookalikes.kubernetes import KubernetesLookalike
from demo.lookalikes.slack.kit.blocks import mistakes_in_view
from tests.support.incidents import an_open_incident
from tests.support.rows import NOON, a_lease, a_notice, a_request
from tests.support.trainings import a_training
from tests.support.yard import text_of, yard_before

ME = "U_DANA"
DANA = Actor(id=ME, name="dana")
OTHER = Actor(id="U_OTHER", name="bo")


def shown(*blocks: Block) -> str:
    return text_of(Message(title=text("t"), blocks=blocks))


def incident(number: int, **more: object) -> Incident:
    return replace(an_open_incident(id=f"i{number}"), **more)  # type: ignore[arg-type]


def training(number: int, state: TrainingState = TrainingState.RUNNING, gpus: float = 8) -> Training:
    return a_training("vision", f"t{number}", state, owner="dana", gpus_wanted=gpus)


def lease(node: str, until: timedelta = timedelta(hours=1)) -> CordonLease:
    return a_lease(NOON, node, id=f"lab/{node}", cluster="lab", owner=ME, reason="fan", until=NOON + until)


def reclaim(owner: str) -> ReclaimRequest:
    return a_request(
        NOON,
        cluster="lab",
        training="vision/t1",
        owner="dana",
        owner_id=owner,
        asked_by="U1",
        asked_by_name="eli",
    )


def test_what_nobody_has_comes_first_and_can_be_acknowledged() -> None:
    mine = incident(1, severity=Severity.CRITICAL, acknowledged_by=ME)
    said = shown(*open_incident_blocks([mine, incident(2), incident(3, severity=Severity.CRITICAL)], DANA))

    assert [line for line in said.splitlines() if line.startswith("[Show]")] == [
        "[Show] incident show i3",
        "[Show] incident show i2",
        "[Show] incident show i1",
    ]
    assert said.count("[Acknowledge]") == 2
    assert "acknowledged by you" in said


def test_what_is_more_than_a_few_is_counted() -> None:
    said = shown(*open_incident_blocks([incident(number) for number in range(SHOWN + 3)], DANA))

    assert f"Open incidents: {SHOWN + 3}" in said
    assert said.count("incident show") == SHOWN
    assert "and 3 more: incident list" in said


def test_a_request_about_my_gpus_waits_for_me_and_not_for_others() -> None:
    said = shown(*waiting_for(DANA, plans=(), reclaims=[reclaim(ME)], leases=()))

    assert "8 GPUs of vision/t1 are idle. Answer by" in said
    assert "[I need them] gpu keep c1" in said
    assert "Nothing." in shown(
        *waiting_for(Actor(id="U_OTHER", name="bo"), plans=(), reclaims=[reclaim(ME)], leases=())
    )


def test_a_cordon_past_its_end_waits_for_me() -> None:
    said = shown(*waiting_for(DANA, plans=(), reclaims=(), leases=[lease("gpu-a01")]))

    assert "Your cordon of gpu-a01 is past its end." in said
    assert "[Uncordon gpu-a01] node uncordon gpu-a01" in said


def test_my_trainings_come_with_what_does_not_run_first() -> None:
    queued, over = training(2, TrainingState.QUEUED), training(3, TrainingState.FAILED)
    said = shown(*trainings_of([training(1), queued, over]))

    assert "Your trainings: 2, with 0 GPUs" in said
    assert said.index("vision/t2 queued") < said.index("vision/t1 running")
    assert "vision/t3" not in said


def test_the_fullest_page_is_a_valid_home_tab() -> None:
    many = range(30)
    blocks = (
        *open_incident_blocks([incident(number) for number in many], DANA),
        *waiting_for(
            DANA, plans=(), reclaims=[reclaim(ME)] * 30, leases=[lease(f"n{number}") for number in many]
        ),
        *trainings_of([training(number) for number in many]),
        *leases_of([lease(f"n{number}") for number in many]),
    )
    view = {"type": "home", "blocks": render_view(Message(title=text("t"), blocks=blocks))}

    assert mistakes_in_view(view) == []


async def test_the_page_says_what_it_cannot_see(tmp_path: Path) -> None:
    async with (
        KubernetesLookalike.running(controllers=False) as kube,
        yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard,
    ):
        assert "Your trainings" in await yard.say("home")
        yard.clock.move(timedelta(days=40))  # the cache is older than it may be
        said = await yard.say("home")
        assert "⚪ Your trainings cannot be seen now" in said
        assert "Open incidents" in said


def test_a_failed_training_stays_with_its_cause_until_it_runs_again() -> None:
    failure = (
        a_notice(NOON, failures=(Rank(role="worker", index=7, pod="p", node="gpu-a01", exit_code=1),)),
        None,
    )
    said = shown(*failed_trainings([failure], []))

    assert "Your trainings that failed: 1" in said
    assert "worker 7 on gpu-a01: exit code 1" in said
    assert "[Show] training show vision/detr" in said
    again = replace(training(1), id="vision/Job/detr")
    assert failed_trainings([failure], [again]) == []
