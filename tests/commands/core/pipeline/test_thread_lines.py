"""Lines in the thread of an incident, through the pipeline: `it`, `that node` and a bare verb mean the incident's."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from alerts.cards.message import Button, Buttons, Message
from alerts.incidents.incident import Incident
from alerts.silences import Silence
from commands.core.command import Answer
from commands.core.request import Actor, Request
from commands.execution.plan import Origin, Plan, PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.alerting import an_alert
from tests.support.incidents import an_open_incident, resolved
from tests.support.yard import CLUSTER, DANA, Yard, a_node_tree, text_of, yard_before

NODE = "gpu-b03"


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with KubernetesLookalike.running(controllers=False) as kube:
        kube.create(a_node_tree("gpu-a01"), keep_status=True)
        kube.create(a_node_tree(NODE), keep_status=True)
        async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
            yield yard


async def an_incident(yard: Yard, *nodes: str, id: str = "i7", is_over: bool = False) -> Incident:
    alerts = [replace(an_alert(node=node), cluster=CLUSTER) for node in nodes or (NODE,)]
    incident = replace(an_open_incident(*alerts, id=id), cluster=CLUSTER)
    incident = resolved(incident) if is_over else incident
    async with yard.store.unit() as unit:
        await unit.rows(Incident).put(incident)
    return incident


async def reply(yard: Yard, line: str, actor: Actor = DANA, *, incident: str = "i7") -> Answer:
    """Send a line in the thread of the incident's card."""
    request = Request(
        id=f"r{next(yard.numbers)}", line=line, actor=actor, at=yard.clock.now(),
        origin=Origin(via="slack", channel="slack:C_GPU", thread="9.9", incident=incident),
    )  # fmt: skip
    answer = await yard.pipeline.handle(request)
    assert answer is not None
    return answer


def lines(message: Message) -> list[str]:
    return [one.line for block in message.blocks if isinstance(block, Buttons) for one in block.buttons]


def buttons(message: Message) -> list[Button]:
    return [one for block in message.blocks if isinstance(block, Buttons) for one in block.buttons]


async def plans(yard: Yard) -> list[Plan]:
    async with yard.store.read() as snapshot:
        return list(await snapshot.rows(Plan).find())


@pytest.mark.parametrize("line", ["cordon it", "cordon that node", "cordon", "把它隔离", "node cordon"])
async def test_a_change_of_the_incidents_node_is_previewed(yard: Yard, line: str) -> None:
    await an_incident(yard)
    assert f"Cordon {NODE}?" in text_of((await reply(yard, line)).message)
    (plan,) = await plans(yard)
    assert (plan.line, plan.state, plan.incident) == (f"node cordon {NODE}", PlanState.PROPOSED, "i7")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("ack", "alert ack i7"),
        ("I'm on it", "alert ack i7"),
        ("silence it for 2 hours", "silence incident i7 --for 2h"),
        ("resolved", "incident resolve --form i7"),
        ("认领", "alert ack i7"),
    ],
)
async def test_what_is_recorded_at_once_is_a_button_of_the_incident(
    yard: Yard, line: str, meant: str
) -> None:
    before = await an_incident(yard)
    assert lines((await reply(yard, line)).message)[0] == meant
    async with yard.store.read() as snapshot:
        assert await snapshot.rows(Incident).get("i7") == before
        assert not await snapshot.rows(Silence).find()


async def test_what_only_reads_is_answered(yard: Yard) -> None:
    await an_incident(yard)
    assert f"Node {NODE}" in text_of((await reply(yard, "show the node")).message)
    assert "History" in text_of((await reply(yard, "who owns this?")).message)


async def test_undo_means_the_last_plan_that_stands(yard: Yard) -> None:
    await an_incident(yard)
    await reply(yard, "cordon it")
    (plan,) = await plans(yard)
    await yard.executor.execute(await yard.confirmed(plan))
    assert f"Undo: Cordon {NODE}?" in text_of((await reply(yard, "undo")).message)


async def test_of_two_nodes_none_is_guessed(yard: Yard) -> None:
    await an_incident(yard, NODE, "gpu-a01")
    answer = await reply(yard, "cordon that node")
    assert answer.form is not None
    assert answer.form.words == ()
    assert not await plans(yard)


async def test_a_name_goes_before_the_thread(yard: Yard) -> None:
    await an_incident(yard)
    await reply(yard, "cordon gpu-a01")
    (plan,) = await plans(yard)
    assert plan.line == "node cordon gpu-a01"


async def test_outside_a_thread_it_has_no_meaning(yard: Yard) -> None:
    await an_incident(yard)
    answer = await yard.answer("cordon it")
    assert answer is not None
    assert answer.form is not None
    assert not await plans(yard)


async def test_a_verb_that_does_not_exist_says_so_and_what_is_nearest(yard: Yard) -> None:
    await an_incident(yard)
    message = (await reply(yard, "replace it")).message
    assert "No command can replace yet. Nothing was done." in text_of(message)
    assert lines(message) == [f"node drain {NODE}", f"node show {NODE}"]
    answer = await yard.answer("replace the datacenter")
    assert answer is not None
    assert lines(answer.message) == []
    assert "No command can replace yet" in text_of(answer.message)


async def test_a_complete_change_goes_straight_to_its_preview(yard: Yard) -> None:
    assert f"Cordon {NODE}?" in await yard.say(f"cordon {NODE} for two hours")
    (plan,) = await plans(yard)
    assert plan.line == f"node cordon {NODE} --for 2h"


async def test_an_incident_is_known_by_its_number(yard: Yard) -> None:
    await an_incident(yard, id="i10")
    assert "History" in await yard.say("incident show 10")
    assert "You acknowledged incident i10" in await yard.say("alert ack 10")


async def test_why_of_a_resolved_incident_says_that_it_is_resolved(yard: Yard) -> None:
    await an_incident(yard, id="i2", is_over=True)
    answer = await yard.answer("why i2")
    assert answer is not None
    assert "Incident i2 was resolved" in text_of(answer.message)
    assert lines(answer.message) == ["incident show i2"]


async def test_a_newer_preview_of_the_same_line_replaces_the_older(yard: Yard) -> None:
    await yard.say(f"node cordon {NODE}")
    await yard.say("node cordon gpu-a01")
    yard.clock.move(timedelta(minutes=1))
    await yard.say(f"node cordon {NODE}")
    first, other, second = sorted(await plans(yard), key=lambda plan: plan.id)
    assert (first.state, other.state, second.state) == (
        PlanState.CANCELLED, PlanState.PROPOSED, PlanState.PROPOSED,
    )  # fmt: skip
    late = await yard.say(f"plan confirm {first.id} --hash {first.hash}")
    assert f"replaced by {second.id}" in late
    assert "confirmed" in await yard.say(f"plan confirm {second.id} --hash {second.hash}")


async def test_an_open_preview_can_be_cancelled_from_home(yard: Yard) -> None:
    await yard.say(f"node cordon {NODE}")
    (plan,) = await plans(yard)
    answer = await yard.answer("home")
    assert answer is not None
    assert f"plan cancel {plan.id}" in lines(answer.message)
    assert "cancelled, nothing was done" in await yard.say(f"plan cancel {plan.id}")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("gpu list --node nope", f"There is no node nope. There are gpu-a01, {NODE}."),
        ("node show nope", f"There is no node nope. There are gpu-a01, {NODE}."),
        ("volume show nope", "There is no volume nope, nor any other."),
        ("training stop nosuch", "There is no training nosuch, nor any other."),
        ("gpu free nosuch", "There is no training nosuch, nor any other."),
        ("node history gpu-z1", "There is no node gpu-z1. Did you mean"),
        ("runbook nope", "There is no runbook nope. runbook lists the "),
    ],
)
async def test_an_unknown_name_is_answered_with_what_there_is(yard: Yard, line: str, said: str) -> None:
    assert said in await yard.say(line)


async def test_a_name_that_the_line_has_already_is_not_offered_again(yard: Yard) -> None:
    answer = await yard.answer(f"node cordon {NODE} gpu-a1")
    assert answer is not None
    assert lines(answer.message) == [f"node cordon {NODE} gpu-a01"]
