"""Yardmaster's own metrics after a few minutes of work."""

from pathlib import Path

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from tests.support.light import CHANNEL, ERROR_LOGS, HOT, Light, light


async def scraped(stage: Light) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Return every sample of /metrics by its name and labels."""
    async with (
        aiohttp.ClientSession() as http,
        http.get(f"{stage.yard.server.address}/metrics") as answer,
    ):
        text = await answer.text()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def labels(**given: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(given.items()))


async def test_each_line_is_counted_once_with_its_command_and_outcome(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        await stage.asks("dana", "node list")
        await stage.asks("dana", "node list")
        await stage.asks("dana", "noed list")
        await stage.asks("dana", "node show nothing")
        await stage.asks("ana", "node cordon gpu-a01 --reason fan")
        await stage.slack.types("gus", CHANNEL, "/yard node list")
        await stage.asks("dana", "help")
        found = {
            key[1]: value
            for key, value in (await scraped(stage)).items()
            if key[0] == "yardmaster_commands_total"
        }
    assert found == {
        labels(command="node list", outcome="done"): 2,
        labels(command="unknown", outcome="invalid"): 1,
        labels(command="node show", outcome="invalid"): 1,
        labels(command="node cordon", outcome="refused"): 1,
        labels(command="help", outcome="done"): 1,
    }


async def test_notifications_are_counted_and_timed_and_failures_have_a_reason(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        stage.prometheus.truth.say(HOT, ({"node": "gpu-a01", "gpu": "0"}, 91.0), since=stage.clock.now())
        await stage.card("gpu-a01 is hot")
        stage.slack.archive(CHANNEL)
        stage.prometheus.truth.say(HOT, ({"node": "gpu-a02", "gpu": "0"}, 91.0), since=stage.clock.now())
        failed = ("yardmaster_notifications_failed_total", labels(integration="slack", reason="permanent"))
        found = await scraped(stage)
        while not found.get(failed):
            await stage.next_rounds(1)
            found = await scraped(stage)
    attempts = found["yardmaster_notifications_total", labels(integration="slack")]
    assert attempts >= 2
    assert attempts > found[failed]
    latency = found["yardmaster_notification_latency_seconds_count", labels(integration="slack")]
    assert latency == attempts


async def test_commits_and_the_lag_of_the_event_loop_are_measured(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        await stage.next_rounds(3)
        before = await scraped(stage)
        await stage.asks("dana", "silence add node=gpu-a01 --for 1h --reason fan")
        after = await scraped(stage)
    commits = ("yardmaster_store_commits_total", ())
    durations = ("yardmaster_store_commit_duration_seconds_count", ())
    assert after[commits] >= before[commits] + 3  # the line, that it runs, the silence
    assert after[durations] == after[commits]
    assert after["yardmaster_event_loop_lag_seconds_count", ()] >= 1
    assert after["yardmaster_event_loop_lag_seconds_sum", ()] >= 0


async def test_blind_rules_are_those_of_the_doctor(tmp_path: Path) -> None:
    blind = ("yardmaster_blind_rules", labels(cluster="prod-a"))
    async with light(tmp_path, own_rules=ERROR_LOGS, start=False) as stage:
        stage.settings["clusters"][0].pop("elasticsearch")
        await stage.start()
        await stage.next_rounds()
        assert (await scraped(stage))[blind] == 0
        answer = await stage.asks("dana", "rule doctor --all")
        assert "blind" not in next(line for line in answer.said.splitlines() if "ErrorLogs" in line)
        await stage.prometheus.goes("refused")
        await stage.until(lambda: "prometheus" in stage.yard.evaluators["prod-a"].blind)
        await stage.next_rounds()
        assert (await scraped(stage))[blind] == 1
        assert "1 of 2 rules can see nothing" in (await stage.asks("dana", "rule doctor")).said
