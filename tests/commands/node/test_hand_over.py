"""`node hand-over`: the cordon and its lease become another person's, and its undo gives them back."""

from dataclasses import replace
from pathlib import Path

from commands.core.context import Defaults
from commands.core.cordoned_nodes import BY
from commands.execution.plan import PlanState
from commands.models import CordonLease
from tests.support.yard import ANA, CLUSTER, DANA, Yard, yard_on


async def lease(yard: Yard) -> CordonLease:
    async with yard.store.read() as snapshot:
        found = await snapshot.rows(CordonLease).get(f"{CLUSTER}/gpu-a01")
    assert found is not None
    return found


async def test_a_cordon_is_handed_over_and_back(tmp_path: Path) -> None:
    async with yard_on(tmp_path, "gpu-a01", "gpu-a02") as yard:
        yard.pipeline = replace(yard.pipeline, defaults=Defaults(owners={"ana": ANA.person}))
        await yard.do("node cordon gpu-a01 --reason fan --for 4h")
        before = await lease(yard)
        await yard.seen(lambda: bool(yard.cluster.inventory().nodes["gpu-a01"].spec.unschedulable))
        done = await yard.do("node hand-over gpu-a01 gpu-a02 --to @ana")

        assert done.state is PlanState.DONE, done.error
        assert done.title == "Hand gpu-a01 over to ana"
        assert "gpu-a02 has no cordon of ours that could be handed over." in done.notes
        theirs = await lease(yard)
        assert theirs == replace(before, owner=ANA.person, owner_name="ana", teams=(), plan=theirs.plan)
        node = await yard.writer.read(done.steps[0].ref)  # type: ignore[union-attr]
        assert node is not None
        assert node["metadata"]["annotations"][BY] == "ana"
        assert "is theirs already" in await yard.say("node hand-over gpu-a01 --to @ana")
        assert "does not know @anna. Did you mean @ana?" in await yard.say(
            "node hand-over gpu-a01 --to @anna"
        )

        await yard.do(f"plan undo {done.id}")
        again = await lease(yard)
        assert (again.owner, again.owner_name) == (DANA.person, "dana")
