"""Nodes from chat: a list by rack and state, and one node with its problems."""

from pathlib import Path

from tests.support.light import HOT, Light, light


async def answer_to(stage: Light, line: str, who: str = "dana") -> str:
    return (await stage.asks(who, line)).said


async def test_nodes_are_listed_by_rack_and_by_cordon(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        everything = await answer_to(stage, "node list")
        assert all(word in everything for word in ("3 nodes", "gpu-a01", "gpu-b01", "0/8", "rack-b"))
        only = await answer_to(stage, "node list --rack rack-b")
        assert "1 node*" in only
        assert "gpu-a01" not in only
        assert "Racks: rack-a, rack-b" in await answer_to(stage, "node list --rack rack-z")
        assert "No matching nodes" in await answer_to(stage, "node list --cordoned")
        stage.kube.patch("nodes", "", "gpu-a02", {"spec": {"unschedulable": True}})
        await stage.cached(lambda found: found.nodes["gpu-a02"].spec.unschedulable)
        assert "gpu-a02" in await answer_to(stage, "node list --cordoned")


async def test_a_node_is_shown_with_its_problems_and_actions(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        condition = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "silent"}
        stage.kube.patch("nodes", "", "gpu-a01", {"status": {"conditions": [condition]}}, status=True)
        await stage.cached(lambda found: found.nodes["gpu-a01"].status.conditions[0].status == "Unknown")
        stage.prometheus.truth.say(HOT, ({"node": "gpu-a01", "gpu": "3"}, 91.0), since=stage.clock.now())
        await stage.card("gpu-a01 is hot")
        shown = await answer_to(stage, "node show gpu-a01")
        assert all(
            word in shown for word in ("rack-a", "NodeStatusUnknown: silent", "gpu-a01 is hot", "[Cordon]")
        )
        assert "[Cordon]" not in await answer_to(stage, "node show gpu-a01", who="ana")
        assert "gpu-a01" in await answer_to(stage, "node show gpu-a1")  # a suggestion
