"""Whoever undoes a plan needs the right to what it did, in the namespaces that it did it in."""

from pathlib import Path

from commands.core.permissions import Grant, Permissions
from commands.core.request import Actor
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import a_node_tree, yard_before

EVE = Actor(id="U_EVE", name="eve", teams=frozenset({"vision", "oncall"}))
PERMISSIONS = Permissions(
    teams={
        "sre": Grant(commands=("*",)),
        "vision": Grant(commands=("training *",), namespaces=("vision-*",)),
        "oncall": Grant(commands=("plan *",)),
    },
    automation={},
)


async def test_a_launch_elsewhere_is_not_undone_by_who_may_launch_only_at_home(tmp_path: Path) -> None:
    async with KubernetesLookalike.running(controllers=False) as kube:
        kube.create(a_node_tree("gpu-a01"), keep_status=True)
        async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig"), permissions=PERMISSIONS) as yard:
            launch = await yard.do("training launch nlp --image x/y:1 --gpus 1")
            said = await yard.say(f"plan undo {launch.id}", EVE)
            assert f"Undoing plan {launch.id} needs the right to do it" in said
            assert kube.get("namespaces", "", "nlp") is not None
