"""A request that a crash interrupted runs again, unless its effect is stored already."""

from dataclasses import replace
from pathlib import Path

from alerts.silences import Silence
from commands.core.request import Request
from commands.execution.plan import Plan, PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import DANA, NOON, lookalike_with, text_of, yard_before

SILENCE = Request(id="r1", line="silence add node=gpu-a01 --for 1h --reason fan", actor=DANA, at=NOON)


async def test_a_record_that_is_stored_is_not_made_again(tmp_path: Path) -> None:
    async with (
        KubernetesLookalike.running(controllers=False) as kube,
        yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard,
    ):
        assert await yard.pipeline.handle(SILENCE) is not None
        assert await yard.pipeline.handle(SILENCE) is None
        answer = await yard.pipeline.handle(replace(SILENCE, is_resumed=True))
        assert answer is not None
        assert "was done before Yardmaster was restarted" in text_of(answer.message)
        async with yard.store.unit() as unit:
            assert len(await unit.rows(Silence).find()) == 1


async def test_a_refused_record_is_refused_again(tmp_path: Path) -> None:
    line = replace(SILENCE, line="silence expire s1")
    async with (
        KubernetesLookalike.running(controllers=False) as kube,
        yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard,
    ):
        assert await yard.pipeline.handle(line) is not None
        assert await yard.pipeline.handle(line) is None
        assert await yard.pipeline.handle(replace(line, is_resumed=True)) is not None


async def test_a_preview_is_shown_again(tmp_path: Path) -> None:
    line = replace(SILENCE, id="typed", line="node cordon gpu-a01 --reason fan")
    async with (
        lookalike_with("gpu-a01") as kube,
        yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard,
    ):
        await yard.pipeline.handle(line)
        answer = await yard.pipeline.handle(replace(line, is_resumed=True))
        assert answer is not None
        assert "Cordon gpu-a01?" in text_of(answer.message)
        async with yard.store.unit() as unit:
            (plan,) = await unit.rows(Plan).find()
        assert plan.state is PlanState.PROPOSED, "what others see and may confirm is the same plan"
        assert f"plan confirm {plan.id} --hash {plan.hash}" in text_of(answer.message)
        await yard.confirmed(plan)
        again = await yard.pipeline.handle(replace(line, is_resumed=True))
        assert again is not None
        assert "was done before" in text_of(again.message)
