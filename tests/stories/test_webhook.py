"""Slack and a webhook at once: each gets the incident, and a webhook that is down holds up nobody."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from alerts.cards.posted import PostedCard
from tests.support.light import CHANNEL, HOT, Light, light
from tests.support.webhook_receiver import WebhookReceiver

SECRET = "the-token-of-the-webhook"


@asynccontextmanager
async def slack_and(receiver: WebhookReceiver, folder: Path) -> AsyncIterator[Light]:
    """Run the bot with routes to Slack, to `webhook:night` and to the log."""
    async with light(folder, start=False) as stage:
        webhook = {"url": receiver.url, "authorization": {"credentials": SECRET}}
        channels = [f"slack:{stage.slack.id(CHANNEL)}", "webhook:night", "console:log"]
        stage.settings["channels"] = {"night": {"webhook": webhook}}
        stage.settings["routes"] = [{"match": 'severity="critical"', "channels": channels}]
        await stage.start()
        yield stage


def heat(stage: Light, *nodes: str) -> None:
    series = [({"node": node, "gpu": "0"}, 91.0) for node in nodes]
    stage.prometheus.truth.say(HOT, *series, since=stage.clock.now())


async def test_an_incident_is_posted_to_slack_and_to_the_webhook_until_it_is_resolved(
    tmp_path: Path, capfd: Any
) -> None:
    async with WebhookReceiver.running() as receiver:
        async with slack_and(receiver, tmp_path) as stage:
            receiver.latency = 0.3  # a stop would cut the answer off
            receiver.answer(503, Retry_After="1")
            heat(stage, "gpu-a01")
            await stage.card("gpu-a01 is hot")
            await stage.until(lambda: bool(receiver.bodies))
            await stage.posts_are_confirmed()
            await stage.restart()
            heat(stage)
            await stage.until(lambda: receiver.bodies[-1]["status"] == "resolved")
            await stage.card("Resolved")
            assert len(stage.cards()) == 1
        first, last = receiver.bodies[0], receiver.bodies[-1]
        assert (first["status"], first["receiver"]) == ("firing", "night")
        assert [one["labels"]["node"] for one in first["alerts"]] == ["gpu-a01"]
        assert first["alerts"][0]["annotations"]["summary"] == "gpu-a01 is hot."
        assert last["groupKey"] == first["groupKey"]
        assert [body["status"] for body in receiver.bodies] == ["firing", "resolved"]
        assert {headers["Authorization"] for headers in receiver.headers} == {f"Bearer {SECRET}"}
    printed = capfd.readouterr()
    assert "message posted" in printed.out + printed.err  # console:log
    assert SECRET not in printed.out + printed.err
    assert "secret-in-the-path" not in printed.out + printed.err


async def test_a_webhook_that_refuses_holds_up_nobody_and_its_card_says_why(tmp_path: Path) -> None:
    async with WebhookReceiver.running() as receiver, slack_and(receiver, tmp_path) as stage:
        for _ in range(50):
            receiver.answer(401)
        heat(stage, "gpu-a01")
        await stage.card("gpu-a01 is hot")

        async def error(unit: Any) -> str:
            (card,) = await unit.rows(PostedCard).find(channel="webhook:night")
            return str(card.error)

        assert await stage.until_kept(error) == "webhook night: 401"
        receiver.answers.clear()
        stage.yard.reconciler.retry_now("webhook:night")
        await stage.until(lambda: bool(receiver.bodies))


async def test_a_webhook_gets_heartbeats_once_the_rules_are_evaluated(tmp_path: Path) -> None:
    async with WebhookReceiver.running() as receiver, light(tmp_path, start=False) as stage:
        stage.settings["channels"] = {"alive": {"webhook": {"url": receiver.url, "heartbeat": "10s"}}}
        await stage.start()
        await stage.until(lambda: bool(receiver.bodies))
        assert receiver.bodies[0]["alerts"][0]["labels"]["alertname"] == "Watchdog"
