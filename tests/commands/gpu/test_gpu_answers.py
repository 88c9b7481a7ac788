"""The answers of `gpu list` and `gpu idle` for a cluster on the look-alike."""

from datetime import timedelta

from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.gpu.conftest import measured, trained
from tests.support.yard import BO, DANA, Yard


async def test_the_list_counts_used_idle_free_and_cordoned_gpus(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await trained(yard, kube, workers=1, gpus=6)
    measured(yard, {})
    reply = await yard.say("gpu list", BO)
    assert (
        "nvidia.com/gpu: 6 of 24 used (6 of them idle), 10 free, 8 more on nodes that accept no pods" in reply
    )
    assert "vision | 6 | 6" in reply
    assert "gpu-b01 | 0/8 | 8 | cordoned" in reply
    assert "detr 6" in reply


async def test_the_list_shows_when_idle_gpus_are_unknown(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube, workers=1, gpus=6)
    yard.prometheus.go_blind("DCGM", reason="no answer within 10 s")
    reply = await yard.say("gpu list", BO)
    assert "6 of 24 used, 10 free" in reply
    assert "Idle GPUs unknown: no answer within 10 s" in reply


async def test_the_list_can_be_filtered(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube, workers=1, gpus=8)
    free = await yard.say("gpu list --free", BO)
    assert "1 of 3 nodes: with free GPUs" in free
    assert "In the whole cluster: nvidia.com/gpu: 8 of 24 used" in free
    assert "cordoned" not in free
    assert "1 of 3 nodes: where team vision holds GPUs" in await yard.say("gpu list --team vision", BO)
    assert "In the whole cluster" not in await yard.say("gpu list", BO)
    assert "There is no node where team sales holds GPUs" in await yard.say("gpu list --team sales", BO)
    assert "Did you mean" in await yard.say("gpu list --node gpu-a1", BO)


async def test_idle_shows_owners_and_a_button_to_request_the_gpus(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await trained(yard, kube)
    measured(yard, {})
    reply = await yard.say("gpu idle", DANA)
    assert "8 held GPUs were idle for 30 min" in reply
    assert "vision-detr/detr | ana | vision | nvidia.com/gpu | 8 of 8 | 477 GiB" in reply
    assert "[Ask the owner] gpu free vision-detr/detr --after 30m" in reply
    assert "gpu free" not in await yard.say("gpu idle", BO)


async def test_a_partly_idle_training_is_shown_without_a_button(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await trained(yard, kube)
    measured(yard, {"0": 97.0})
    reply = await yard.say("gpu idle", DANA)
    assert "4 of 8" in reply
    assert "may be waiting for the others" in reply
    assert "gpu free" not in reply


async def test_young_and_unknown_gpus_are_counted_separately(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube, "new", workers=1, began=timedelta(minutes=5))
    await trained(yard, kube, "dark", workers=1)
    reply = await yard.say("gpu idle", DANA)
    assert "No held GPU is known to have been idle" in reply
    assert "4 GPUs are held by pods that started later" in reply
    assert "The activity of 4 GPUs is not known: vision-dark/" in reply


async def test_blind_is_not_idle(yard: Yard, kube: KubernetesLookalike) -> None:
    await trained(yard, kube)
    yard.prometheus.go_blind("DCGM_FI_DEV_GPU_UTIL", reason="half of the answer is missing")
    for line in ("gpu idle", "gpu free"):
        assert "is not known: half of the answer is missing" in await yard.say(line, DANA)


async def test_a_window_that_is_too_short_is_refused(yard: Yard) -> None:
    assert "--after must be 5 min to 1 d" in await yard.say("gpu idle --after 10s", DANA)
