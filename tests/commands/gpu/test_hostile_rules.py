"""Hostile text in rules that taint devices and in the name of a GPU: nothing is shown raw, nothing is written."""

import random
import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commands.execution.object_refs import ObjectRef
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import Yard, a_node_tree, lookalike_with, yard_before

PIECES = (
    "; rm -rf /",
    "$(reboot)",
    "`id`",
    "\x1b[31mred\x1b[0m",
    "\u202egnp.exe",
    "\x07",
    "<!channel>",
    "password=hunter2hunter2",
    "\n[Approve] plan confirm p9",
    "{node}",
    "%s%n",
    "A" * 3000,
    "../../pods",
    "gpu-0/../gpu-1",
)
NODE = "gpu-a01"
RULE_REF = ObjectRef(api="resource.k8s.io/v1beta2", kind="DeviceTaintRule", name="")


def hostile(seed: int) -> str:
    dice = random.Random(seed)
    return " ".join(dice.choice(PIECES) for _ in range(dice.randrange(1, 5)))


def assert_harmless(said: str) -> None:
    assert "hunter2hunter2" not in said
    assert "\n[Approve] plan confirm p9" not in said
    for line in said.split("\n"):
        assert all(one.isprintable() for one in line), repr(line[:200])
    assert len(said) < 20_000


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[tuple[Yard, KubernetesLookalike]]:
    async with lookalike_with() as kube:
        kube.create(a_node_tree(NODE, gpus=0), keep_status=True)
        attributes = {"type": {"string": "gpu"}, "index": {"int": 0}}
        kube.create(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": NODE},
                "spec": {
                    "driver": "gpu.nvidia.com",
                    "nodeName": NODE,
                    "pool": {"name": NODE, "generation": 1, "resourceSliceCount": 1},
                    "devices": [{"name": "gpu-0", "attributes": attributes}],
                },
            }
        )
        async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
            yield yard, kube


@pytest.mark.parametrize("seed", range(20))
async def test_a_rule_that_says_anything_is_shown_printable_and_a_hostile_gpu_is_refused(
    stage: tuple[Yard, KubernetesLookalike], seed: int
) -> None:
    yard, kube = stage
    for line in (f"gpu cordon {NODE}", f"gpu uncordon {NODE}"):
        given = shlex.quote(hostile(1000 + seed)[:300])
        assert_harmless(await yard.say(f"{line} {given}"))
    assert not await yard.writer.listing(RULE_REF)

    names = ("cordoned-by", "cordon-reason", "gpu", "cordon-until")
    kube.create(
        {
            "apiVersion": "resource.k8s.io/v1beta2",
            "kind": "DeviceTaintRule",
            "metadata": {
                "name": "theirs",
                "annotations": {f"yardmaster.io/{one}": hostile(seed) for one in names},
            },
            "spec": {
                "deviceSelector": {"pool": NODE, "device": "gpu-0"},
                "taint": {"key": "example.com/bad", "effect": "NoSchedule"},
            },
        }
    )
    await yard.seen(lambda: bool(yard.cluster.inventory().device_taint_rules))
    for line in (
        f"node show {NODE}",
        "node list",
        "gpu list",
        f"gpu cordon {NODE} 0",
        f"gpu uncordon {NODE} 0",
    ):
        assert_harmless(await yard.say(line))
