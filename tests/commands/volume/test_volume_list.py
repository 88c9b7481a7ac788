"""`volume list` says which volumes there are and who uses them, and an unknown name leads to it."""

from tests.commands.volume.conftest import SPACE, Volumes, cached
from tests.support.yard import Yard


async def test_the_volumes_are_listed_those_in_use_first(yard: Yard, volumes: Volumes) -> None:
    volumes.volume("attic", handle="h-9")
    volumes.pod("writer", "gpu-a02")
    volumes.pod("reader", "gpu-a01", read_only=True)
    await cached(yard, 2)

    said = await yard.say("volume list")

    rows = [line.split(" | ") for line in said.splitlines() if line.startswith(f"{SPACE}/")]
    assert said.splitlines()[0] == "2 volumes"
    assert [row[0] for row in rows] == [f"{SPACE}/ckpt", f"{SPACE}/attic"]
    assert rows[0][1:4] == ["1 writer, 1 reader", "gpu-a01, gpu-a02", "kube/csi-vol-7"]
    assert rows[1][1] == "nobody"


async def test_only_those_of_a_namespace_are_listed_on_request(yard: Yard, volumes: Volumes) -> None:
    volumes.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "speech"}})
    volumes.volume("audio", space="speech", handle="h-8")
    await yard.seen(
        lambda: "audio" in str(yard.cluster.inventory().snapshots["persistentvolumeclaims"].objects)
    )

    assert (await yard.say("volume list --namespace speech")).splitlines()[0] == "1 volume"
    assert "There is no volume in namespace nope." in await yard.say("volume list --namespace nope")


async def test_an_unknown_volume_is_answered_with_what_there_is(yard: Yard, volumes: Volumes) -> None:
    await cached(yard, 0)
    assert "There are csi-vol-7, kube/csi-vol-7, pv-vision-ckpt, vision/ckpt" in (
        await yard.say("volume show nope")
    )
    for number in range(9):
        volumes.volume(f"more{number}", handle=f"m-{number}")
    await yard.seen(
        lambda: "more8" in str(yard.cluster.inventory().snapshots["persistentvolumeclaims"].objects)
    )

    assert "volume list lists the" in await yard.say("volume show nope")
