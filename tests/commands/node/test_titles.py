"""The title of a plan names the nodes that it changes, not all given ones."""

from pathlib import Path

from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import a_node_tree, yard_before


async def test_the_title_omits_unchanged_nodes(tmp_path: Path) -> None:
    async with KubernetesLookalike.running(controllers=False) as kube:
        for name in ("gpu-a01", "gpu-a02"):
            kube.create(a_node_tree(name), keep_status=True)
        async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
            await yard.do("node cordon gpu-a01")
            await yard.seen(lambda: yard.cluster.inventory().nodes["gpu-a01"].spec.unschedulable)
            plan = await yard.plan("node cordon gpu-a01 gpu-a02")
            assert plan.title == "Cordon gpu-a02"
            assert any(note.startswith("gpu-a01 is already cordoned by dana; ") for note in plan.notes)
            plan = await yard.plan("node uncordon gpu-a01 gpu-a02")
            assert plan.title == "Uncordon gpu-a01"
