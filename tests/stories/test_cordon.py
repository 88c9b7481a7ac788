"""The life of a cordon: preview, confirmation, lease, reminder, undo, and cordons of others."""

from datetime import timedelta
from pathlib import Path

from alerts.incidents.incident import Incident
from commands.models import CordonLease
from demo.lookalikes.slack.state.messages import Message
from tests.support.disruptive_command import with_wipe
from tests.support.light import HOT, Light, light

CORDON = "node cordon gpu-a01 --reason fan --for 2h"
BY = "yardmaster.io/cordoned-by"


async def cordoned(stage: Light, who: str = "dana") -> Message:
    """Cordon gpu-a01 and return the card of the plan, once it is done and the bot has seen the cordon."""
    preview = await stage.asks(who, CORDON)
    answered = await stage.presses(who, preview, "Confirm")
    assert answered.deleted  # the card of the plan says what comes of it
    await stage.cached(lambda found: found.nodes["gpu-a01"].spec.unschedulable)
    return await stage.card("Cordon gpu-a01: done")


def is_cordoned(stage: Light, name: str = "gpu-a01") -> bool:
    return bool(stage.node(name)["spec"].get("unschedulable"))


async def test_a_preview_shows_the_steps_and_changes_nothing(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        assert "Cordon gpu-a01?" in preview.said
        assert "no new pods are scheduled there (fan)" in preview.said
        assert "nothing is done yet" in preview.said.lower()
        assert not stage.writes()
        assert not is_cordoned(stage)
        assert not stage.cards()


async def test_cancelling_a_preview_changes_nothing(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        answer = await stage.presses("dana", preview, "Cancel")
        assert "nothing was done" in answer.said
        (plan,) = await stage.plans()
        answer = await stage.asks("dana", f"plan confirm {plan.id}")
        assert "can no longer be confirmed: cancelled by" in answer.said
        assert not stage.writes()


async def test_confirming_cordons_with_the_owner_and_a_lease(tmp_path: Path, is_http: bool) -> None:
    async with light(tmp_path, is_http=is_http) as stage:
        card = await cordoned(stage)
        annotations = stage.node("gpu-a01")["metadata"]["annotations"]
        assert is_cordoned(stage)
        assert annotations[BY] == "dana"
        assert annotations["yardmaster.io/cordon-reason"] == "fan"
        async with stage.yard.store.unit() as unit:
            (lease,) = await unit.rows(CordonLease).find()
        assert (lease.node, lease.owner_name, lease.reason) == ("gpu-a01", "dana", "fan")
        assert lease.until == lease.since + timedelta(hours=2)
        assert annotations["yardmaster.io/cordon-until"] == f"{lease.until:%Y-%m-%dT%H:%M:%SZ}"
        assert "✓" in card.said
        assert stage.slack.id("dana") in card.said
        assert len(stage.cards()) == 1
        outcomes = [entry.what for entry in await stage.audit()]
        assert outcomes == ["asked", "asked", "confirmed", "done"]


async def test_undo_uncordons_and_ends_the_lease(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        card = await cordoned(stage)
        preview = await stage.presses("dana", card, "Undo")
        assert "Undo: Cordon gpu-a01?" in preview.said
        await stage.presses("dana", preview, "Confirm")
        await stage.card("Undo: Cordon gpu-a01: done")
        assert not is_cordoned(stage)
        assert not [
            key for key in stage.node("gpu-a01")["metadata"].get("annotations", {}) if "cordon" in key
        ]
        async with stage.yard.store.unit() as unit:
            assert not await unit.rows(CordonLease).find()
        answer = await stage.asks("dana", "plan undo p1")
        assert "was already undone by plan `p2`" in answer.said


async def test_uncordon_ends_the_lease_and_a_later_undo_of_the_cordon_is_refused(tmp_path: Path) -> None:
    """After the uncordon somebody cordons the node by hand: undoing our old plan must not lift that cordon."""
    async with light(tmp_path) as stage:
        await cordoned(stage)
        preview = await stage.asks("eli", "node uncordon gpu-a01")
        await stage.presses("eli", preview, "Confirm")
        await stage.card("Uncordon gpu-a01: done")
        async with stage.yard.store.unit() as unit:
            assert not await unit.rows(CordonLease).find()
        stage.kube.patch("nodes", "", "gpu-a01", {"spec": {"unschedulable": True}})
        answer = await stage.asks("dana", "plan undo p1")
        assert "run the command again" in answer.said
        assert is_cordoned(stage)


async def test_a_node_cordoned_by_somebody_else_is_never_touched(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        stage.kube.patch("nodes", "", "gpu-a01", {"spec": {"unschedulable": True}})
        await stage.cached(lambda found: found.nodes["gpu-a01"].spec.unschedulable)
        answer = await stage.asks("dana", CORDON)
        assert "already cordoned by someone else" in answer.said
        answer = await stage.asks("dana", "node uncordon gpu-a01")
        assert "was not cordoned by Yardmaster" in answer.said
        assert "kubectl uncordon gpu-a01" in answer.said
        assert not await stage.plans()
        assert not stage.writes()
        assert is_cordoned(stage)


async def test_a_second_cordon_names_the_owner_of_the_first(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        await cordoned(stage)
        answer = await stage.asks("eli", "node cordon gpu-a01 --reason mine")
        assert "gpu-a01 is already cordoned by dana" in answer.said
        assert len(await stage.plans()) == 1


async def test_an_overdue_cordon_gets_one_reminder_and_stays(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        card = await cordoned(stage)
        stage.clock.forward(timedelta(hours=2, minutes=1))

        def lines() -> list[Message]:
            return [one for one in stage.slack.thread(card) if "your cordon of `gpu-a01` (fan)" in one.said]

        (line,) = await stage.slack.until(lines, 60)
        assert f"<@{stage.slack.id('dana')}>" in line.said or "@dana" in line.said
        assert "It is still cordoned: 8 free nvidia.com/gpu kept from new pods." in line.said
        assert "Do not uncordon it yet: it was cordoned because of its hardware: fan." in line.said
        async with stage.yard.store.unit() as unit:
            (lease,) = await unit.rows(CordonLease).find()
        assert lease.reminded_at is not None
        await stage.restart()
        await stage.next_rounds()
        (line,) = lines()
        assert is_cordoned(stage)
        assert len(stage.writes()) == 1
        preview = await stage.presses("dana", line, "4 h more")
        assert "Extend the cordon of gpu-a01?" in preview.said


async def test_the_reminder_of_a_lifted_cordon_says_that_it_was_lifted(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        card = await cordoned(stage)
        stage.kube.patch("nodes", "", "gpu-a01", {"spec": {"unschedulable": None}})
        await stage.cached(lambda found: not found.nodes["gpu-a01"].spec.unschedulable)
        stage.clock.forward(timedelta(hours=2, minutes=1))

        (line,) = await stage.slack.until(
            lambda: [one for one in stage.slack.thread(card) if "somebody else removed it" in one.said], 60
        )
        assert "still cordoned" not in line.said
        assert "node uncordon gpu-a01" in line.said


async def test_a_cordon_is_not_a_fix_and_the_resolved_card_offers_to_end_it(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        stage.prometheus.truth.say(HOT, ({"node": "gpu-a01", "gpu": "3"}, 91), since=stage.clock.now())
        card = await stage.card("gpu-a01 is hot")
        preview = await stage.presses("dana", card, "Cordon gpu-a01")
        await stage.presses("dana", preview, "Confirm")
        await stage.plan_is("done")
        stage.prometheus.truth.say(HOT, since=stage.clock.now())
        await stage.slack.until(lambda: "Resolved" in card.said, 60)
        assert "Fixed by" not in card.said
        assert "Meanwhile: `node cordon gpu-a01" in card.said
        assert "`gpu-a01` is still cordoned until" in card.said
        preview = await stage.presses("dana", card, "Uncordon gpu-a01")
        assert "uncordon gpu-a01" in preview.said
        assert len(stage.cards()) == 1
        action = await stage.card("Cordon gpu-a01: done")
        assert action.thread_ts == card.ts
        async with stage.yard.store.unit() as unit:
            (incident,) = await unit.rows(Incident).find()
        assert incident.fixed_by == ("p1",)


async def test_facts_that_changed_between_preview_and_confirm_are_shown_again(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", "node cordon gpu-a01 gpu-a02 --reason fan")
        stage.kube.patch("nodes", "", "gpu-a02", {"spec": {"unschedulable": True}})
        await stage.cached(lambda found: found.nodes["gpu-a02"].spec.unschedulable)
        answer = await stage.presses("dana", preview, "Confirm")
        assert "The cluster changed since the first preview" in answer.said
        assert not stage.writes()
        await stage.presses("dana", answer, "Confirm")
        await stage.plan_is("done")
        assert [seen.path for seen in stage.writes()] == ["/api/v1/nodes/gpu-a01"]
        assert [plan.state.value for plan in await stage.plans()] == ["cancelled", "done"]


async def test_a_node_recreated_with_the_same_name_is_not_the_one_in_the_preview(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        uid = stage.node("gpu-a01")["metadata"]["uid"]
        stage.kube.delete("nodes", "", "gpu-a01")
        stage.kube.create(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-a01"}, "status": {}},
            keep_status=True,
        )
        await stage.cached(lambda found: found.nodes["gpu-a01"].metadata.uid != uid)
        answer = await stage.presses("dana", preview, "Confirm")
        assert "The cluster changed" in answer.said
        assert not stage.writes()


async def test_an_expired_plan_cannot_be_confirmed(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        stage.clock.forward(timedelta(minutes=31))
        answer = await stage.presses("dana", preview, "Confirm")
        assert "has expired" in answer.said
        assert CORDON in answer.said
        assert not stage.writes()


async def test_a_confirmation_with_another_hash_is_refused(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        await stage.asks("dana", CORDON)
        answer = await stage.asks("dana", "plan confirm p1 --hash 000000000000")
        assert "is not the plan you were shown" in answer.said
        assert not stage.writes()


async def test_a_disruptive_command_needs_a_second_person_who_may_run_it_too(tmp_path: Path) -> None:
    async with light(tmp_path, change=with_wipe) as stage:
        await stage.slack.types("dana", "#gpu-alerts", "/yard node wipe")
        preview = await stage.card("Wipe gpu-a01?")
        assert "Disrupts:" in preview.said
        assert "second person" in preview.said
        answer = await stage.presses("dana", preview, "Confirm")
        assert "someone else has to confirm" in answer.said
        answer = await stage.presses("ana", preview, "Confirm")
        assert "Only sre may run `node wipe`" in answer.said
        assert not stage.writes()
        refused = [entry.actor_name for entry in await stage.audit() if entry.what == "refused"]
        assert refused == ["dana", "ana"]
        assert "confirmed, starting" in (await stage.presses("eli", preview, "Confirm")).said
        plan = await stage.plan_is("done")
        await stage.card("Wipe gpu-a01: done")
        (card,) = stage.cards()
        assert card.ts == preview.ts, "it is one message from the question to the end"
        assert (plan.actor_name, plan.confirmed_by) == ("dana", f"slack:{stage.slack.id('eli')}")
        assert stage.node("gpu-a01")["metadata"]["labels"]["wiped"] == "yes"


async def test_a_preview_that_everybody_sees_says_when_it_was_cancelled(tmp_path: Path) -> None:
    async with light(tmp_path, change=with_wipe) as stage:
        answer = await stage.asks("dana", "node wipe")
        assert "Wipe gpu-a01: the card of plan `p1` asks for a second person." in answer.said
        preview = await stage.card("Wipe gpu-a01?")
        await stage.asks("dana", "plan cancel p1")
        await stage.slack.until(lambda: "Wipe gpu-a01: cancelled" in preview.said)
        assert "cancelled by dana" in preview.said
        assert "[Confirm]" not in preview.said


async def test_a_preview_that_everybody_sees_says_when_nobody_confirmed_it_in_time(tmp_path: Path) -> None:
    async with light(tmp_path, change=with_wipe) as stage:
        await stage.asks("dana", "node wipe")
        preview = await stage.card("Wipe gpu-a01?")
        (plan,) = await stage.plans()
        stage.clock.forward(plan.expires_at - stage.clock.now() + timedelta(seconds=1))
        await stage.slack.until(lambda: "Wipe gpu-a01: not confirmed" in preview.said)
        assert "[Confirm]" not in preview.said


async def test_a_preview_that_is_replaced_names_the_next_one(tmp_path: Path) -> None:
    async with light(tmp_path, change=with_wipe) as stage:
        await stage.asks("dana", "node wipe")
        preview = await stage.card("Wipe gpu-a01?")
        await stage.asks("dana", "node wipe")
        await stage.slack.until(lambda: "replaced by p2" in preview.said)
        await stage.slack.until(lambda: len(stage.cards()) == 2)
        assert ["[Confirm]" in card.said for card in stage.cards()] == [False, True]


async def test_the_owner_is_the_person_who_typed_the_command_not_the_one_who_confirmed_it(
    tmp_path: Path,
) -> None:
    async with light(tmp_path) as stage:
        await stage.asks("dana", CORDON)
        (plan,) = await stage.plans()
        await stage.asks("eli", f"plan confirm p1 --hash {plan.hash}")
        await stage.plan_is("done")
        assert stage.node("gpu-a01")["metadata"]["annotations"][BY] == "dana"
        async with stage.yard.store.unit() as unit:
            (lease,) = await unit.rows(CordonLease).find()
        assert lease.owner_name == "dana"
