"""PagerDuty: an incident is triggered, acknowledged and resolved under one key, and no error has the routing key."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from alerts.cards.incident_facts import IncidentFacts
from alerts.cards.message import Message
from bot.channels.pagerduty.notifier import PagerDutyNotifier, PagerDutyService
from bot.channels.pagerduty.opening import diagnose_pagerduty
from bot.channels.pagerduty.pagerduty_events import MAX_BODY, dedup_key, event_body
from bot.delivery.notifier_protocol import NewMessage, Permanent, Recoverable, Refuses, UnknownOutcome
from bot.settings.schema import Settings
from bot.settings.secrets import Secret
from collectors.facts.findings import FindingLevel
from tests.support.incidents import an_incident_message
from tests.support.pagerduty import ROUTING_KEY, PagerDutyLookalike
from tests.support.yard import Hands


@pytest.fixture
async def pagerduty() -> AsyncIterator[PagerDutyLookalike]:
    async with PagerDutyLookalike.running() as one:
        yield one


@pytest.fixture
async def notifier(pagerduty: PagerDutyLookalike) -> AsyncIterator[PagerDutyNotifier]:
    async with aiohttp.ClientSession() as session:
        service = PagerDutyService(url=pagerduty.url, routing_key=Secret(value=ROUTING_KEY))
        yield PagerDutyNotifier(session, {"gpus": service}, clock=Hands())


def facts_of(message: Message) -> IncidentFacts:
    assert message.facts is not None
    return message.facts


def acknowledged(message: Message, by: str = "Ann") -> Message:
    return replace(message, facts=replace(facts_of(message), acknowledged_by=by, phase="acknowledged"))


HOT = an_incident_message("gpu-a04 is hot")
OVER = an_incident_message("gpu-a04 is hot", is_open=False)


async def test_an_incident_is_triggered_acknowledged_and_resolved_as_one_alert(
    pagerduty: PagerDutyLookalike, notifier: PagerDutyNotifier
) -> None:
    states = []
    for number, message in enumerate((HOT, acknowledged(HOT), OVER)):
        await notifier.post("gpus", NewMessage(message, nonce=f"n{number}"))
        states += [one.state for one in pagerduty.alerts.values()]
    assert states == ["triggered", "acknowledged", "resolved"]
    (alert,) = pagerduty.alerts.values()
    assert alert.notified == 1
    assert alert.summary.endswith("gpu-a04 is hot")


async def test_what_is_sent_again_pages_nobody_again(
    pagerduty: PagerDutyLookalike, notifier: PagerDutyNotifier
) -> None:
    for number, message in enumerate((HOT, HOT, acknowledged(HOT), acknowledged(HOT), OVER, OVER)):
        await notifier.post("gpus", NewMessage(message, nonce=f"n{number}"))
    (alert,) = pagerduty.alerts.values()
    assert (alert.state, alert.notified) == ("resolved", 1)


async def test_the_event_has_what_pagerduty_shows(
    pagerduty: PagerDutyLookalike, notifier: PagerDutyNotifier
) -> None:
    links = {"grafana": "https://grafana.example/d/1"}
    message = replace(HOT, facts=replace(facts_of(HOT), links=links))
    await notifier.post("gpus", NewMessage(message, nonce="n1"))
    (event,) = pagerduty.events
    payload = event["payload"]
    assert event["dedup_key"].endswith("node/gpu-a04")
    assert event["links"] == [{"href": "https://grafana.example/d/1", "text": "grafana"}]
    assert payload["severity"] == facts_of(HOT).severity.value
    assert payload["source"] == facts_of(HOT).subject["node"]
    assert payload["class"] == facts_of(HOT).alerts[0].labels["alertname"]
    assert payload["custom_details"]["alerts"][0]["labels"] == dict(facts_of(HOT).alerts[0].labels)


@pytest.mark.parametrize(
    ("status", "headers", "error", "pause"),
    [
        (429, {}, Recoverable, None),
        (429, {"Retry_After": "7"}, Recoverable, timedelta(seconds=7)),
        (500, {}, UnknownOutcome, None),
        (400, {}, Permanent, None),
    ],
    ids=["429", "429 with a pause", "500", "400"],
)
async def test_each_answer_has_its_meaning(
    pagerduty: PagerDutyLookalike,
    notifier: PagerDutyNotifier,
    status: int,
    headers: dict[str, str],
    error: type[Exception],
    pause: timedelta | None,
) -> None:
    pagerduty.answer(status, **headers)
    with pytest.raises(error) as caught:
        await notifier.post("gpus", NewMessage(HOT, nonce="n1"))
    assert getattr(caught.value, "retry_after", None) == pause
    assert ROUTING_KEY not in f"{caught.value!r} {caught.value.__cause__!r}"


async def test_an_answer_that_got_lost_after_the_trigger_still_ends_acknowledged(
    pagerduty: PagerDutyLookalike, notifier: PagerDutyNotifier
) -> None:
    await notifier.post("gpus", NewMessage(HOT, nonce="n1"))
    pagerduty.answer(500)
    with pytest.raises(UnknownOutcome):
        await notifier.post("gpus", NewMessage(acknowledged(HOT), nonce="n2"))
    await notifier.post("gpus", NewMessage(acknowledged(HOT), nonce="n3"))
    assert [one.state for one in pagerduty.alerts.values()] == ["acknowledged"]


async def test_a_wrong_key_refuses_the_channel_and_a_bad_event_only_itself(
    pagerduty: PagerDutyLookalike,
) -> None:
    wrong = "w" * 32
    async with aiohttp.ClientSession() as session:
        for key, message, refuses in (
            (wrong, HOT, Refuses.CHANNEL),
            (
                ROUTING_KEY,
                replace(HOT, facts=replace(facts_of(HOT), subject={}, cluster="")),
                Refuses.MESSAGE,
            ),
        ):
            service = PagerDutyService(url=pagerduty.url, routing_key=Secret(value=key))
            notifier = PagerDutyNotifier(session, {"gpus": service}, clock=Hands())
            with pytest.raises(Permanent, match="400") as caught:
                await notifier.post("gpus", NewMessage(message, nonce="n1"))
            assert caught.value.refuses is refuses
            assert wrong not in f"{caught.value!r}"


async def test_a_missing_key_file_refuses_the_channel_and_names_the_file(
    pagerduty: PagerDutyLookalike, tmp_path: Path
) -> None:
    async with aiohttp.ClientSession() as session:
        service = PagerDutyService(url=pagerduty.url, routing_key=Secret(file=tmp_path / "key"))
        with pytest.raises(Permanent, match="key") as caught:
            await PagerDutyNotifier(session, {"gpus": service}, clock=Hands()).post(
                "gpus", NewMessage(HOT, nonce="n1")
            )
    assert caught.value.refuses is Refuses.CHANNEL


def test_a_body_and_a_key_are_within_the_limits() -> None:
    facts = facts_of(HOT)
    alert = facts.alerts[0]
    many = tuple(
        replace(alert, fingerprint=f"{number}", annotations={"summary": "x" * 20_000})
        for number in range(100)
    )
    long = replace(facts, alerts=many, group_key="lab/" + "n" * 900, title="t" * 3000)
    body = event_body(long, "trigger", routing_key=ROUTING_KEY)
    assert len(body) <= MAX_BODY
    assert len(dedup_key(long)) <= 255
    assert dedup_key(long) != dedup_key(replace(long, group_key=long.group_key + "m"))


async def test_the_doctor_names_a_key_that_is_none() -> None:
    def settings(key: str) -> Any:
        return Settings.model_validate({"channels": {"gpus": {"pagerduty": {"routing_key": key}}}})

    (wrong,) = await diagnose_pagerduty(settings("xoxb-not-a-key"))
    (right,) = await diagnose_pagerduty(settings(ROUTING_KEY))
    assert (wrong.level, right.level) == (FindingLevel.BROKEN, FindingLevel.OK)
    assert "xoxb-not-a-key" not in f"{wrong}"
