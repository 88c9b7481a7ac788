"""A silence is of alerts that there are, and the same one is never added twice."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from alerts.silences import Silence
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.alerts.packs.shipped import shipped_rules
from tests.support.incidents import an_open_incident
from tests.support.yard import NOON, Yard, yard_before

ADD = "silence add alertname=GPUTemperatureHigh node=gpu-a04"


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with (
        KubernetesLookalike.running(controllers=False) as kube,
        yard_before(kube.kubeconfig(tmp_path / "config")) as made,
    ):
        rules = {rule.id: rule for rule in shipped_rules().values()}
        made.pipeline = replace(made.pipeline, rules=lambda: rules)
        yield made


async def silences(yard: Yard) -> list[Silence]:
    async with yard.store.unit() as unit:
        return list(await unit.rows(Silence).find())


async def test_a_name_that_no_alert_has_is_refused_with_the_nearest(yard: Yard) -> None:
    said = await yard.say("silence add alertname=GPUTemperaturHigh --for 1h --reason fan")
    assert said.startswith("There is no alert GPUTemperaturHigh. Did you mean GPUTemperatureHigh")
    assert "silence add alertname=GPUTemperatureHigh --for 1h --reason fan" in said
    said = await yard.say("silence add 'alertname=~GpuHo.*' --for 1h --reason fan")
    assert said.startswith("No alert has a name that fits alertname=~")
    assert not await silences(yard)


@pytest.mark.parametrize("matcher", ["alertname=~GPU.*", "alertname!=GpuHto", "node=gpu-a04"])
async def test_other_matchers_are_free(yard: Yard, matcher: str) -> None:
    await yard.say(f"silence add '{matcher}' severity=warning --for 1h --reason fan")
    assert len(await silences(yard)) == 1


async def test_the_same_silence_is_extended_and_never_shortened(yard: Yard) -> None:
    await yard.say(f"{ADD} --for 2h --reason fan")
    said = await yard.say(f"{ADD} --for 1h --reason fan")
    assert "Silence s1 already mutes" in said
    assert [one.ends_at for one in await silences(yard)] == [NOON + timedelta(hours=2)]
    words = ADD.split()
    await yard.say(f"silence add {words[3]} {words[2]} --for 3h --reason fan")  # in the other order
    assert [one.ends_at for one in await silences(yard)] == [NOON + timedelta(hours=3)]


async def test_a_silence_may_begin_later(yard: Yard) -> None:
    said = await yard.say(f"{ADD} --for 2h --in 30m --reason fan")
    assert "begins" in said
    (one,) = await silences(yard)
    assert (one.starts_at, one.ends_at) == (NOON + timedelta(minutes=30), NOON + timedelta(minutes=150))
    assert not one.is_active(NOON)
    assert "s1" in await yard.say("silence list")
    await yard.say("silence expire s1")
    assert "No active silences" in await yard.say("silence list")


async def test_a_silence_is_replaced_by_another_or_changed(yard: Yard) -> None:
    await yard.say(f"{ADD} --for 2h --reason fan")
    await yard.say(f"{ADD} --for 1h --reason fan --instead s1")
    assert [(one.id, one.ends_at) for one in await silences(yard)] == [("s1", NOON + timedelta(hours=1))]
    await yard.say("silence add node=gpu-a05 --for 1h --reason fan --instead s1")
    first, second = await silences(yard)
    assert (first.expired_at, second.is_active(NOON)) == (NOON, True)
    assert "already ended" in await yard.say("silence add node=gpu-a06 --for 1h --reason fan --instead s1")
    assert "no silence" in await yard.say("silence add node=gpu-a06 --for 1h --reason fan --instead s9")
    assert len(await silences(yard)) == 2


async def test_a_silence_that_has_ended_or_differs_is_another_one(yard: Yard) -> None:
    await yard.say(f"{ADD} --for 1h --reason fan")
    await yard.say("silence expire s1")
    await yard.say(f"{ADD} --for 1h --reason fan")
    await yard.say(f"{ADD} gpu=3 --for 1h --reason fan")
    assert [one.id for one in await silences(yard)] == ["s1", "s2", "s3"]


async def test_an_incident_is_silenced_once(yard: Yard) -> None:
    async with yard.store.unit() as unit:
        incident = replace(an_open_incident(), cluster="prod-a")
        await unit.rows(type(incident)).put(incident)
    await yard.say("silence incident i1 --for 1h")
    said = await yard.say("silence incident i1")
    assert "Silence s1 already mutes i1: it lasts until it is over." in said
    (one,) = await silences(yard)
    assert one.is_until_over
