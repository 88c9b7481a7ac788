"""Undoing an undo restores everything: the object and our record of it."""

from pathlib import Path

from commands.execution.plan import PlanState
from commands.execution.plan_journal import records_of
from commands.execution.undoable import can_undo
from commands.models import CordonLease, Launch
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import a_node_tree, lookalike_with, yard_before

BY = "yardmaster.io/cordoned-by"


async def test_undoing_an_undo_restores_the_cordon_and_its_lease(tmp_path: Path) -> None:
    async with (
        lookalike_with("gpu-a01") as kube,
        yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard,
    ):
        first = await yard.do("node cordon gpu-a01 --for 1h")
        undone = await yard.do(f"plan undo {first.id}")
        again = await yard.do(f"plan undo {undone.id}")
        assert again.state is PlanState.DONE, again.error
        node = kube.get("nodes", "", "gpu-a01")
        assert node is not None
        assert node["spec"]["unschedulable"] is True
        assert node["metadata"]["annotations"][BY] == "dana"
        async with yard.store.unit() as unit:
            (lease,) = await unit.rows(CordonLease).find()
        assert lease.node == "gpu-a01"
        last = await yard.do(f"plan undo {again.id}")
        assert last.state is PlanState.DONE, last.error
        async with yard.store.unit() as unit:
            assert not await unit.rows(CordonLease).find()


async def test_an_undone_launch_is_not_partly_restored(tmp_path: Path) -> None:
    async with KubernetesLookalike.running() as kube:
        kube.create(a_node_tree("gpu-a01"), keep_status=True)
        async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
            first = await yard.do("training launch mnist --image registry.example/mnist:7 --gpus 1")
            undone = await yard.do(f"plan undo {first.id}")
            reply = await yard.say(f"plan undo {undone.id}")
            assert f"Plan {undone.id} did nothing that can be undone." in reply
            async with yard.store.read() as snapshot:
                assert not can_undo(
                    undone, await records_of(undone, snapshot)
                )  # so its card has no button for it
            async with yard.store.unit() as unit:
                (launch,) = await unit.rows(Launch).find()
            assert launch.is_over
