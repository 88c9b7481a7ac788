"""This file tests what `gpu list` and `gpu idle` show of a cluster on the look-alike."""

from datetime import timedelta

from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import measured, trained
from tests.support.yard import BO, DANA, Yard


async def test_the_list_counts_used_idle_free_and_closed(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube, workers=1, gpus=6)
    measured(yard, {})
    said = await yard.say("gpu list", BO)
    assert "nvidia.com/gpu: 6 of 24 used (6 of them idle), 10 free, 8 more on nodes that take no pods" in said
    assert "vision | nvidia.com/gpu | 6 | 6" in said
    assert "gpu-b01 | nvidia.com/gpu | 0/8 | 8 | cordoned" in said
    assert "detr 6" in said


async def test_the_list_says_so_when_idleness_is_not_known(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube, workers=1, gpus=6)
    yard.prometheus.go_blind("DCGM", why="no answer within 10 s")
    said = await yard.say("gpu list", BO)
    assert "6 of 24 used, 10 free" in said
    assert "Idle is not known: no answer within 10 s" in said


async def test_the_list_can_be_narrowed(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube, workers=1, gpus=8)
    free = await yard.say("gpu list --free", BO)
    assert "GPUs of 1 node" in free
    assert "cordoned" not in free
    assert "GPUs of 1 node" in await yard.say("gpu list --team vision", BO)
    assert "There is no node where team sales holds GPUs" in await yard.say("gpu list --team sales", BO)
    assert "Did you mean" in await yard.say("gpu list --node gpu-a1", BO)


async def test_idle_names_whose_they_are_and_offers_to_ask(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    measured(yard, {})
    said = await yard.say("gpu idle", DANA)
    assert "8 held GPUs did nothing for 30 min" in said
    assert "vision-detr/detr | ana | vision | nvidia.com/gpu | 8 of 8 | 477 GiB" in said
    assert "[Ask the owner] gpu free vision-detr/detr --after 30m" in said
    assert "gpu free" not in await yard.say("gpu idle", BO)


async def test_a_rank_that_waits_for_busy_ones_is_shown_but_not_offered(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await trained(yard, kube)
    measured(yard, {"0": 97.0})
    said = await yard.say("gpu idle", DANA)
    assert "4 of 8" in said
    assert "may wait for the others" in said
    assert "gpu free" not in said


async def test_the_young_and_the_unknown_are_counted_apart(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube, "new", workers=1, began=timedelta(minutes=5))
    await trained(yard, kube, "dark", workers=1)
    said = await yard.say("gpu idle", DANA)
    assert "No held GPU is known to have done nothing" in said
    assert "4 GPUs are held by pods that began later" in said
    assert "Of 4 GPUs it is not known: vision-dark/" in said


async def test_blind_is_not_idle(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    yard.prometheus.go_blind("DCGM_FI_DEV_GPU_UTIL", why="half of the answer is missing")
    for line in ("gpu idle", "gpu free"):
        assert "is not known: half of the answer is missing" in await yard.say(line, DANA)


async def test_a_window_that_is_too_short_is_refused(yard: Yard) -> None:
    assert "--after is 5 min to 1 d" in await yard.say("gpu idle --after 10s", DANA)
