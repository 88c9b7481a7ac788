"""The title of a plan names the nodes that it changes, not all given ones."""

from pathlib import Path

from tests.support.yard import yard_on


async def test_the_title_omits_unchanged_nodes(tmp_path: Path) -> None:
    async with yard_on(tmp_path, "gpu-a01", "gpu-a02") as yard:
        await yard.do("node cordon gpu-a01")
        await yard.seen(lambda: yard.cluster.inventory().nodes["gpu-a01"].spec.unschedulable)
        plan = await yard.plan("node cordon gpu-a01 gpu-a02")
        assert plan.title == "Cordon gpu-a02"
        assert any(note.startswith("gpu-a01 is already cordoned by dana; ") for note in plan.notes)
        plan = await yard.plan("node uncordon gpu-a01 gpu-a02")
        assert plan.title == "Uncordon gpu-a01"
