"""What was undone can be done again by undoing that: all of it, the object and our record of it."""

from pathlib import Path

from commands.plans.plan import PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import a_node_tree, yard_before

BY = "yardmaster.io/cordoned-by"


async def test_a_cordon_that_was_undone_comes_back_with_its_lease(tmp_path: Path) -> None:
    async with KubernetesLookalike.running(controllers=False) as kube:
        kube.create(a_node_tree("gpu-a01"), keep_status=True)
        async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
            first = await yard.do("node cordon gpu-a01 --for 1h")
            undone = await yard.do(f"plan undo {first.id}")
            again = await yard.do(f"plan undo {undone.id}")
            assert again.state is PlanState.DONE, again.error
            node = kube.get("nodes", "", "gpu-a01")
            assert node is not None
            assert node["spec"]["unschedulable"] is True
            assert node["metadata"]["annotations"][BY] == "dana"
            async with yard.store.unit() as unit:
                (lease,) = await unit.leases.find()
            assert lease.node == "gpu-a01"
            last = await yard.do(f"plan undo {again.id}")
            assert last.state is PlanState.DONE, last.error
            async with yard.store.unit() as unit:
                assert not await unit.leases.find()


async def test_a_launch_that_was_undone_is_not_half_brought_back(tmp_path: Path) -> None:
    async with KubernetesLookalike.running() as kube:
        kube.create(a_node_tree("gpu-a01"), keep_status=True)
        async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
            first = await yard.do("training launch mnist --image registry.example/mnist:7 --gpus 1")
            undone = await yard.do(f"plan undo {first.id}")
            said = await yard.say(f"plan undo {undone.id}")
            assert "job mnist/mnist-worker is not there" in said
            async with yard.store.unit() as unit:
                assert not await unit.launches.find()
