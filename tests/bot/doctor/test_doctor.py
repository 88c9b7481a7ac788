"""The doctor on whole set-ups, and where something is missing: it names the cause and the fix."""

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.channels.channel_catalogue import CHANNEL_KINDS, DIAGNOSES
from bot.channels.slack.slack_diagnosis import BOT_SCOPES
from bot.cli import main
from bot.doctor.examination import PartFinding, examine
from bot.validation import validate
from collectors.facts.clock import SystemClock
from collectors.facts.findings import Finding, FindingLevel
from demo.lookalikes.slack import Options
from demo.lookalikes.slack.state.workspace import DEFAULT_SCOPES
from tests.support.light import CHANNEL, Light, light
from tests.support.log_documents import pod_line

COUNT = 'count by (__name__) ({__name__=~"gpu_temp"})'


async def findings(stage: Light) -> list[PartFinding]:
    """Return what the doctor says of the stage, whose Prometheus has the metric of its rule."""
    stage.prometheus.truth.say(COUNT, ({"__name__": "gpu_temp"}, 1.0), since=stage.clock.now())
    validated = await validate(stage.write_settings())
    assert validated.diagnostics == ()
    assert validated.settings is not None
    assert validated.rulebook is not None
    return await examine(validated.settings, validated.rulebook, clock=SystemClock())


def broken(found: list[PartFinding]) -> Finding:
    """Return the only finding that is broken."""
    (one,) = [one for one in found if one.is_broken]
    return one.finding


async def test_a_set_up_that_is_whole(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        now = stage.clock.now()
        line = pod_line(now, "hello", node="gpu-a01", namespace="vision", pod="a", container="a")
        await stage.elastic.index([line])
        found = await findings(stage)
    wanted = {"prod-a kubernetes", "prod-a prometheus", "prod-a elasticsearch", "prod-a rules", "slack"}
    assert {one.part for one in found} == wanted
    assert [one for one in found if one.is_broken] == []


async def test_gpus_of_another_make_that_nothing_measures(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        for name in ("npu-1", "npu-2"):
            has = {"huawei.com/Ascend910": "8"}
            ready = [{"type": "Ready", "status": "True"}]
            status = {"capacity": has, "allocatable": has, "conditions": ready}
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}
            stage.kube.create(node, keep_status=True)
        (one,) = [one.finding for one in await findings(stage) if "huawei.com" in one.finding.text]
    assert one.text == "no series of the GPUs of huawei.com on 2 nodes: no rule on GPUs can see them"
    assert one.level is FindingLevel.WARNING
    assert "npu-exporter (8082)" in one.fix


async def test_a_token_that_lacks_a_scope(tmp_path: Path) -> None:
    lacking = tuple(scope for scope in DEFAULT_SCOPES if scope != "chat:write")
    async with light(tmp_path, start=False, options=Options(strict_rates=False, scopes=lacking)) as stage:
        del stage.settings["clusters"]
        one = broken(await findings(stage))
    assert one.text == "the bot token lacks the scope chat:write"
    assert "OAuth & Permissions" in one.fix
    assert "install the app into the workspace again" in one.fix


async def test_a_bot_that_is_not_in_its_channel(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        del stage.settings["clusters"]
        workspace = stage.slack.workspace
        channel = stage.slack.id(CHANNEL)
        workspace.directory.channels[channel].members.discard(workspace.bot.id)
        found = await findings(stage)
    one = broken(found)
    assert one.text.startswith(f"the bot is not in the channel {channel}")
    assert f"/invite @yardmaster` in {channel}" in one.fix
    assert "Socket Mode can be opened with the app token" in [one.finding.text for one in found]


async def test_a_channel_that_is_archived(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        del stage.settings["clusters"]
        stage.slack.archive(CHANNEL)
        one = broken(await findings(stage))
    assert one.text == f"the channel {stage.slack.id(CHANNEL)} is archived"
    assert "unarchive it" in one.fix


async def test_a_channel_of_the_fallback_is_tried_and_one_of_slack_alone_is_warned_of(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        del stage.settings["clusters"]
        stage.settings["fallback"] = {"channels": ["slack:C0NOWHERE"]}
        found = [one.finding for one in await findings(stage)]
    (wrong,) = [one for one in found if one.level is FindingLevel.BROKEN]
    assert wrong.text.startswith("the bot is not in the channel C0NOWHERE")
    (warned,) = [one for one in found if one.level is FindingLevel.WARNING]
    assert "away when Slack is" in warned.text
    assert warned.fix


async def test_a_channel_of_a_route_and_a_group_of_a_team_are_tried_too(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        del stage.settings["clusters"]
        stage.settings["routes"] = [{"channels": ["slack:C0NOWHERE"]}]
        stage.settings["teams"]["sre"]["slack_groups"] = ["S0NOBODY"]
        texts = [one.finding.text for one in await findings(stage) if one.is_broken]
    assert texts[0].startswith("the bot is not in the channel C0NOWHERE")
    assert texts[1].startswith("the user group S0NOBODY of the team sre does not exist, or is disabled")
    assert len(texts) == 2


async def test_tokens_that_are_swapped_in_their_files(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        del stage.settings["clusters"]
        slack = stage.settings["slack"]
        for name, other in (("bot_token", "app_token"), ("app_token", "bot_token")):
            (tmp_path / name).write_text(slack[other])
            slack[f"{name}_file"] = str(tmp_path / name)
        del slack["bot_token"], slack["app_token"]
        one = broken(await findings(stage))
    assert "slack.bot_token is a token that begins with xapp-" in one.text
    assert "bot_token begins with xoxb-" in one.fix


async def test_a_token_that_was_revoked(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        del stage.settings["clusters"]
        stage.slack.revoke()
        found = await findings(stage)
        stage.slack.restore()
    first = next(one.finding for one in found if one.is_broken)
    assert "token_revoked" in first.text
    assert "install the app into the workspace again" in first.fix


def move(kubeconfig: Path, before: str, after: str) -> None:
    """Give the API server of a kubeconfig another address."""
    text = kubeconfig.read_text(encoding="utf-8")
    assert before in text
    kubeconfig.write_text(text.replace(before, after), encoding="utf-8")


async def test_sources_that_cannot_be_reached_are_each_named(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        del stage.settings["slack"]
        (cluster,) = stage.settings["clusters"]
        cluster["prometheus"]["url"] = cluster["elasticsearch"]["url"] = "http://127.0.0.1:9"
        move(Path(cluster["kubernetes"]["kubeconfig"]), stage.kube.url, "http://127.0.0.1:9")
        found = await findings(stage)
    assert [one.part for one in found if one.is_broken] == [
        "prod-a kubernetes",
        "prod-a prometheus",
        "prod-a elasticsearch",
    ]
    assert all(one.finding.fix for one in found if one.is_broken)


async def test_a_webhook_is_read_and_not_posted_to(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    token = "authorization: {credentials_file: /nowhere/token}"
    file.write_text(
        f"channels:\n  day: {{webhook: {{url: 'http://127.0.0.1:9/hook-secret'}}}}\n"
        f"  night: {{webhook: {{url: 'http://127.0.0.1:9/', {token}}}}}\n"
    )
    validated = await validate(file)
    assert validated.settings is not None
    assert validated.rulebook is not None
    day, night = await examine(validated.settings, validated.rulebook, clock=SystemClock())
    assert (day.part, day.finding.level, night.is_broken) == ("webhook", FindingLevel.OK, True)
    assert "nothing was posted to it" in day.finding.text
    assert "/nowhere/token" in night.finding.text
    assert "hook-secret" not in day.finding.text


async def test_the_report_of_the_command(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        (cluster,) = stage.settings["clusters"]
        del cluster["elasticsearch"]
        file = stage.write_settings()
        whole = await doctor("doctor", "--config", str(file), "--json")
        stage.slack.workspace.directory.channels[stage.slack.id(CHANNEL)].members.clear()
        report = await doctor("check", "--connect", "--config", str(file))
    rows = json.loads(whole.stdout)
    assert {row["part"] for row in rows} == {
        "prod-a kubernetes",
        "prod-a prometheus",
        "prod-a rules",
        "slack",
    }
    assert {row["level"] for row in rows} <= {level.value for level in FindingLevel}
    assert report.exit_code == 1
    assert "  broken  the bot is not in the channel" in report.stdout
    assert "To fix it: type `/invite @yardmaster`" in report.stdout
    assert "\x1b" not in report.stdout
    assert stage.slack.bot_token not in report.stdout + whole.stdout


async def doctor(*words: str) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, main, words)


def test_the_doctor_of_wrong_settings_prints_their_errors(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("timezone: Asia/Shangai\n")
    result = CliRunner().invoke(main, ["doctor", "--config", str(file)])
    assert (result.exit_code, f"{file}:1: timezone" in result.stderr) == (1, True)


def test_every_kind_of_channel_has_a_diagnosis() -> None:
    assert DIAGNOSES.keys() == CHANNEL_KINDS.keys(), (
        "add it to DIAGNOSES in bot/channels/channel_catalogue.py"
    )


def test_the_look_alike_gives_the_scopes_of_the_app() -> None:
    assert set(DEFAULT_SCOPES) == set(BOT_SCOPES)


@pytest.mark.parametrize("level", FindingLevel)
def test_only_what_is_broken_counts_as_broken(level: FindingLevel) -> None:
    finding = PartFinding(part="slack", finding=Finding(level=level, text="x"))
    assert finding.is_broken == (level is FindingLevel.BROKEN)
