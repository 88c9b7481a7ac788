"""Cleaning up after our cordon if someone else lifted it: lease and annotations."""

from pathlib import Path

from commands.execution.plan import PlanState
from commands.models import CordonLease
from tests.support.yard import lookalike_with, yard_before


async def test_uncordon_cleans_up_and_a_later_cordon_is_not_ours(tmp_path: Path) -> None:
    async with (
        lookalike_with("gpu-a01") as kube,
        yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard,
    ):

        async def by_hand(is_cordoned: bool | None) -> None:
            kube.patch("nodes", "", "gpu-a01", {"spec": {"unschedulable": is_cordoned}})
            await yard.seen(
                lambda: (
                    bool(yard.cluster.inventory().nodes["gpu-a01"].spec.unschedulable) is bool(is_cordoned)
                )
            )

        await yard.do("node cordon gpu-a01 --for 1h")
        await by_hand(None)
        plan = await yard.do("node uncordon gpu-a01")
        assert (plan.title, plan.state) == ("Uncordon gpu-a01", PlanState.DONE), plan.error
        assert "gpu-a01 is no longer cordoned: its lease and annotations are removed." in plan.notes
        assert "nothing that can be undone" in await yard.say(f"plan undo {plan.id}")
        async with yard.store.unit() as unit:
            assert not await unit.rows(CordonLease).find()
        await yard.seen(lambda: not yard.cluster.inventory().nodes["gpu-a01"].metadata.annotations)
        assert "gpu-a01 is not cordoned." in await yard.say("node uncordon gpu-a01")
        await by_hand(True)
        assert "cannot be lifted here" in await yard.say("node uncordon gpu-a01")
