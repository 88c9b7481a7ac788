"""Undoing a plan needs permission for its command, in its namespaces."""

from pathlib import Path

from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.core.request import Actor
from tests.support.yard import lookalike_with, yard_before

EVE = Actor(id="U_EVE", name="eve", teams=frozenset({"vision", "oncall"}))
PERMISSIONS = Permissions(
    teams={
        "sre": Grant(commands=("*",)),
        "vision": Grant(commands=("training *",), namespaces=("vision-*",)),
        "oncall": Grant(commands=("plan *",)),
    },
    automation={},
)


async def test_a_launch_cannot_be_undone_without_permission_in_its_namespace(tmp_path: Path) -> None:
    async with (
        lookalike_with("gpu-a01") as kube,
        yard_before(kube.kubeconfig(tmp_path / "kubeconfig"), permissions=PERMISSIONS) as yard,
    ):
        launch = await yard.do("training launch nlp --image x/y:1 --gpus 1")
        reply = await yard.say(f"plan undo {launch.id}", EVE)
        assert f"To undo plan {launch.id} you must be allowed to run it" in reply
        assert kube.get("namespaces", "", "nlp") is not None
