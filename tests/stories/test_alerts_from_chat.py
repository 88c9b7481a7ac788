"""Alerts from chat: listing, explaining, acknowledging and silencing them."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from alerts.incidents.events import IncidentEventType
from alerts.incidents.incident import Incident
from alerts.silences import Silence
from tests.support.light import HOT, Light, light

HOT_A01 = ({"node": "gpu-a01", "gpu": "3"}, 91.0)
HOT_A02 = ({"node": "gpu-a02", "gpu": "0"}, 88.0)
QUIET = "silence add alertname=GPUTemperatureHigh node=gpu-a01 --for 2h --reason fans-ordered"


def heat(stage: Light, *series: tuple[dict[str, str], float]) -> None:
    stage.prometheus.truth.say(HOT, *series, since=stage.clock.now())


async def test_answers_without_alerts(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        assert "No firing alerts" in (await stage.asks("dana", "alert list")).said
        assert "No open incidents" in (await stage.asks("dana", "incident list")).said
        assert "No active silences." in (await stage.asks("dana", "silence list")).said
        assert "There is no incident `i9`" in (await stage.asks("dana", "incident show i9")).said
        assert (
            "No alert or incident `GPUTemperatureHigh` is firing or pending"
            in (await stage.asks("dana", "alert why GPUTemperatureHigh")).said
        )


async def test_a_firing_alert_is_listed_explained_and_shown(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        heat(stage, HOT_A01)
        await stage.card("gpu-a01 is hot")
        listed = (await stage.asks("dana", "alert list")).said
        assert all(
            word in listed
            for word in ("1 alert", "critical", "GPUTemperatureHigh", "gpu-a01 is hot", "firing")
        )
        why = (await stage.asks("dana", "alert why GPUTemperatureHigh")).said
        assert all(word in why for word in ("gpu_temp &gt; 85", "91", "story.yaml:", "node gpu-a01"))
        first, query, last = (why.index(word) for word in ("firing since", "gpu_temp &gt; 85", "story.yaml:"))
        assert first < query < last  # what it is, how it is found, and at the end where that is written
        assert "keep firing for" not in why
        assert "i1" in (listed := (await stage.asks("dana", "incident list")).said)
        assert "gpu-a01" in listed
        shown = (await stage.asks("dana", "incident show i1")).said
        assert all(word in shown for word in ("gpu-a01 is hot", "*Cordon gpu-a01*", "History", "Opened:"))


async def test_an_acknowledgement_is_posted_at_once_with_the_name(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        heat(stage, HOT_A01)
        card = await stage.card("gpu-a01 is hot")
        assert (
            "You acknowledged incident `i1`"
            in (await stage.asks("dana", "alert ack GPUTemperatureHigh")).said
        )
        dana = stage.slack.id("dana")
        await stage.slack.until(lambda: f"acknowledged by <@{dana}>" in card.said)
        (line,) = await stage.slack.until(lambda: stage.slack.thread(card))
        assert "Acknowledged by" in line.said
        assert "You already acknowledged incident `i1`" in (await stage.asks("dana", "alert ack i1")).said
        assert "dana" in (await stage.asks("eli", "incident list")).said
        await stage.asks("eli", "alert ack i1")
        shown = await stage.asks("ana", "incident show i1")
        assert shown.said.count("Acknowledged by") == 2
        await stage.next_rounds()
        assert len(stage.slack.thread(card)) == 2


async def test_a_name_that_fires_in_several_incidents_lists_them(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        heat(stage, HOT_A01, HOT_A02)
        await stage.card("gpu-a01 is hot")
        await stage.card("gpu-a02 is hot")
        answer = (await stage.asks("dana", "alert ack GPUTemperatureHigh")).said
        assert "choose one" in answer
        assert "gpu-a01" in answer
        assert "gpu-a02" in answer


async def test_a_silenced_alert_is_posted_once_the_silence_is_expired(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        answer = await stage.asks("dana", QUIET)
        assert "matches no firing alerts, for 2 h" in answer.said
        heat(stage, HOT_A01, HOT_A02)
        await stage.card("gpu-a02 is hot")
        await stage.next_rounds()
        assert len(stage.cards()) == 1
        assert "silenced" in (await stage.asks("eli", "alert list")).said
        listed = (await stage.asks("eli", "silence list")).said
        assert all(word in listed for word in ("s1", 'node="gpu-a01"', "dana", "fans-ordered"))
        assert "Silence `s1` expired" in (await stage.presses("dana", answer, "Expire")).said
        await stage.card("gpu-a01 is hot")
        assert len(stage.cards()) == 2
        assert "Silence `s1` has already ended" in (await stage.asks("eli", "silence expire s1")).said


async def test_a_silence_ends_on_time(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        await stage.asks("dana", QUIET)
        heat(stage, HOT_A01)
        await stage.next_rounds()
        assert stage.cards() == []
        stage.clock.forward(timedelta(hours=2, minutes=1))
        await stage.card("gpu-a01 is hot")


async def test_a_posted_card_shows_that_it_is_silenced_and_resolved(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        heat(stage, HOT_A01)
        card = await stage.card("gpu-a01 is hot")
        assert "matches 1 firing alert, for 2 h" in (await stage.asks("dana", QUIET)).said
        await stage.slack.until(lambda: "silenced until" in card.said)
        heat(stage)
        await stage.slack.until(lambda: "Resolved" in card.said)
        assert len(stage.cards()) == 1


async def test_a_card_is_handed_over_and_silenced_until_it_is_over(tmp_path: Path, is_http: bool) -> None:
    async with light(tmp_path, is_http=is_http) as stage:
        heat(stage, HOT_A01)
        card = await stage.card("gpu-a01 is hot")
        await stage.presses("dana", card, "Acknowledge")
        await stage.slack.until(lambda: "[Hand over to…▾]" in card.said)
        assert (
            "You handed incident `i1` over"
            in (await stage.presses("dana", card, "Hand over to…", "eli")).said
        )
        eli = stage.slack.id("eli")
        await stage.slack.until(lambda: f"acknowledged by <@{eli}>" in card.said)
        await stage.slack.until(
            lambda: any(f"Handed over to <@{eli}> by dana" in one.said for one in stage.slack.thread(card))
        )
        await stage.presses("eli", card, "Silence", "until it is over")
        await stage.slack.until(lambda: "silenced until it is over" in card.said)
        heat(stage)
        await stage.slack.until(lambda: "Resolved" in card.said)

        async def is_ended(unit: Any) -> bool:
            (silence,) = await unit.rows(Silence).find()
            return silence.expired_at is not None

        await stage.until_kept(is_ended)


async def test_an_acknowledgement_during_a_silence_posts_nothing_else(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        heat(stage, HOT_A01)
        card = await stage.card("gpu-a01 is hot")
        await stage.next_rounds()
        await stage.asks("dana", QUIET)
        async with stage.yard.store.unit() as unit:  # a raised severity, which the silence mutes
            incident = await unit.rows(Incident).get("i1")
            assert incident is not None
            await unit.rows(Incident).put(
                incident.with_event(IncidentEventType.SEVERITY_RAISED, stage.clock.now(), text="worse")
            )
        await stage.asks("dana", "alert ack i1")
        (line,) = await stage.slack.until(lambda: stage.slack.thread(card))
        assert "Acknowledged by" in line.said


async def test_an_invalid_line_is_refused_with_the_reason(tmp_path: Path) -> None:
    refusals = {
        "silence add 'node=~.*' --for 1h --reason all": "match every alert",
        "silence add 'node=~gpu-(' --for 1h --reason all": "gpu-(",
        "silence add node=gpu-a01 --for 60d --reason long": "at most 30 d",
        "silence expire s9": "There is no silence `s9`",
        "alert ack i9": "There is no open incident `i9`",
        "audit --by nobody": "No matching entries",
    }
    async with light(tmp_path) as stage:
        for line, words in refusals.items():
            assert words in (await stage.asks("dana", line)).said
        async with stage.yard.store.unit() as unit:
            assert not await unit.rows(Silence).find()


async def test_the_audit_finds_a_person_by_name_and_a_plan(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", "node cordon gpu-a01 --reason fan")
        await stage.presses("dana", preview, "Confirm")
        await stage.card("Cordon gpu-a01: done")
        assert "node cordon gpu-a01 --reason fan" in (await stage.asks("eli", "audit --by dana")).said
        of_plan = (await stage.asks("eli", "audit --plan p1")).said
        assert all(word in of_plan for word in ("confirmed", "done", "dana"))
        shown = (await stage.asks("eli", "plan show P1")).said
        assert all(word in shown for word in ("Cordon gpu-a01", "done", stage.slack.id("dana")))
