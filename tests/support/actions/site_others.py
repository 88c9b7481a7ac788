"""Changes that other actors make on a site, and take back."""

from commands.core.cordoned_nodes import BY
from commands.core.nodes_out import OUR_TAINTS
from tests.support.actions.action_row import Site


async def cordon(site: Site) -> None:
    await site.patch_node(spec={"unschedulable": True})


async def uncordon(site: Site) -> None:
    await site.patch_node(spec={"unschedulable": None})


async def cordon_like_ours(site: Site) -> None:
    """As after `node cordon`."""
    await cordon(site)
    await know_our_cordon(site)


async def know_our_cordon(site: Site) -> None:
    await site.patch_node(metadata={"annotations": {BY: "dana"}})


async def lose_our_cordon(site: Site) -> None:
    await site.patch_node(metadata={"annotations": {BY: None}})


async def make_control_plane(site: Site) -> None:
    await site.patch_node(metadata={"labels": {"node-role.kubernetes.io/control-plane": ""}})


async def make_worker(site: Site) -> None:
    await site.patch_node(metadata={"labels": {"node-role.kubernetes.io/control-plane": None}})


async def taint_by_hand(site: Site) -> None:
    before = (await site.node_now())["spec"].get("taints") or []
    await site.patch_node(spec={"taints": [*before, {"key": "theirs", "effect": "NoSchedule"}]})


async def taint_off(site: Site) -> None:
    before = (await site.node_now())["spec"].get("taints") or []
    await site.patch_node(spec={"taints": [one for one in before if one["key"] != "theirs"]})


async def taint_like_ours(site: Site) -> None:
    """As after `node taint`."""
    before = (await site.node_now())["spec"].get("taints") or []
    taint = {"key": "gpu", "value": "broken", "effect": "NoSchedule"}
    await site.patch_node(
        spec={"taints": [*before, taint]}, metadata={"annotations": {OUR_TAINTS: "gpu:NoSchedule"}}
    )


async def forget_our_taint(site: Site) -> None:
    await site.patch_node(metadata={"annotations": {OUR_TAINTS: None}})


async def know_our_taint(site: Site) -> None:
    await site.patch_node(metadata={"annotations": {OUR_TAINTS: "gpu:NoSchedule"}})
