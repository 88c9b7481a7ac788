"""The end of a lease whose node leaves, is replaced, or is uncordoned by others; and who is notified."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from alerts.cards.message import Button
from alerts.cards.posted import CardId, CardKind, PostedCard, ThreadReply
from alerts.cards.text import plain
from bot.jobs.lease_reminder import LeaseReminder
from bot.jobs.lease_watcher import LeaseWatcher
from collectors.facts.results import Blind
from commands.core.cordoned_nodes import BY
from commands.execution.plan import Plan, PlanState
from commands.models import CordonLease
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import CLUSTER, NOON, Hands, Yard, a_node_tree, yard_before

NODE = "gpu-a01"
HOUR = timedelta(hours=1)


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    async with KubernetesLookalike.running(controllers=False) as running:
        for name in (NODE, "gpu-a02", "gpu-b01"):
            running.create(a_node_tree(name), keep_status=True)
        yield running


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_before(kube.kubeconfig(tmp_path / "config"), clock=Hands()) as made:
        plan = await made.do(f"node cordon {NODE} --reason fan --for 1h")
        await made.seen(lambda: bool(made.cluster.inventory().nodes[NODE].spec.unschedulable))
        async with made.store.unit() as unit:
            card = PostedCard(
                id=CardId("d1"),
                cluster=CLUSTER,
                kind=CardKind.PLAN,
                row_id=plan.id,
                channel="C1",
                is_final=True,
            )
            await unit.rows(PostedCard).put(card)
        yield made


def watcher(yard: Yard) -> LeaseWatcher:
    return LeaseWatcher(yard.store, {CLUSTER: yard.cluster}, yard.clock)


async def leases(yard: Yard) -> list[CordonLease]:
    async with yard.store.read() as snapshot:
        return list(await snapshot.rows(CordonLease).find())


async def the_lease(yard: Yard) -> CordonLease:
    (lease,) = await leases(yard)
    return lease


async def said(yard: Yard) -> list[tuple[str, tuple[Button, ...]]]:
    async with yard.store.read() as snapshot:
        found = await snapshot.rows(ThreadReply).find()
    return [(plain(one.text).replace("`", ""), one.buttons) for one in found]


async def test_the_lease_of_a_node_that_left_ends_and_its_card_says_so(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    kube.delete("nodes", "", NODE)
    await yard.seen(lambda: NODE not in yard.cluster.inventory().nodes)

    await watcher(yard).check()
    await watcher(yard).check()

    assert await leases(yard) == []
    ((words, buttons),) = await said(yard)
    assert "gpu-a01 has left the cluster. Your cordon of it (fan) has ended with it." in words
    assert buttons == ()
    async with yard.store.read() as snapshot:
        (card,) = await snapshot.rows(PostedCard).find()
    assert not card.is_final


async def test_a_node_of_the_same_name_is_another_node(yard: Yard, kube: KubernetesLookalike) -> None:
    first = yard.cluster.inventory().nodes[NODE].metadata.uid
    kube.delete("nodes", "", NODE)
    kube.create(a_node_tree(NODE), keep_status=True)
    await yard.seen(lambda: yard.cluster.inventory().nodes[NODE].metadata.uid != first)

    await watcher(yard).check()

    assert await leases(yard) == []
    ((words, _),) = await said(yard)
    assert "has left the cluster, and another node has its name now" in words


async def test_a_lease_from_before_uids_were_kept_goes_by_the_age_of_the_node(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    old = replace(await the_lease(yard), uid="", since=NOON + timedelta(days=36_500))
    async with yard.store.unit() as unit:
        await unit.rows(CordonLease).put(old)
    await watcher(yard).check()
    assert await leases(yard) == [old]  # the node is older than the lease

    async with yard.store.unit() as unit:
        await unit.rows(CordonLease).put(replace(old, since=NOON - timedelta(days=36_500)))
    await watcher(yard).check()
    assert await leases(yard) == []


async def test_a_node_that_only_the_picture_misses_keeps_its_lease(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = await the_lease(yard)
    seen = yard.cluster.inventory()
    (nodes,) = (one for name, one in seen.snapshots.items() if name == "nodes")
    others = {name: node for name, node in nodes.objects.items() if name != NODE}
    late = replace(seen, snapshots={**seen.snapshots, "nodes": replace(nodes, objects=others)})
    monkeypatch.setattr(yard.cluster, "refresh", lambda: late)

    await watcher(yard).check()

    assert await leases(yard) == [lease]


@pytest.mark.parametrize("status", [403, 500, 503])
async def test_while_the_api_server_does_not_confirm_it_no_lease_ends(
    yard: Yard, kube: KubernetesLookalike, status: int
) -> None:
    lease = await the_lease(yard)
    kube.delete("nodes", "", NODE)
    await yard.seen(lambda: NODE not in yard.cluster.inventory().nodes)
    kube.fail(lambda seen: seen.method == "GET" and seen.path.endswith(NODE), status, times=10)
    await watcher(yard).check()
    assert await leases(yard) == [lease]


async def test_while_nodes_cannot_be_seen_no_lease_ends(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = await the_lease(yard)
    kube.delete("nodes", "", NODE)
    blind = Blind(source="kubernetes", at=NOON, reason="nodes cannot be listed")
    monkeypatch.setattr(yard.cluster, "refresh", lambda: blind)
    await watcher(yard).check()
    assert await leases(yard) == [lease]


async def test_what_somebody_else_lifted_is_said_wherever_the_cordon_is_shown_until_it_stands_again(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    async def by_hand(unschedulable: bool | None) -> None:
        kube.patch("nodes", "", NODE, {"spec": {"unschedulable": unschedulable}})
        await yard.seen(
            lambda: bool(yard.cluster.inventory().nodes[NODE].spec.unschedulable) is bool(unschedulable)
        )
        await watcher(yard).check()

    assert "gpu-a01 | Ready, cordoned by dana |" in await yard.say("node list")
    await by_hand(None)
    yard.clock.move(HOUR)

    assert (await the_lease(yard)).lifted_at == NOON
    assert "gpu-a01 | Ready, not cordoned, though dana has a lease |" in await yard.say(
        "node list --cordoned"
    )
    assert "state: Ready, not cordoned, though dana has a lease" in await yard.say(f"node show {NODE}")
    home = await yard.say("home")
    assert "Somebody else lifted your cordon of gpu-a01, but its lease is still there." in home
    assert "[Remove its record] node uncordon gpu-a01" in home
    assert "[Uncordon gpu-a01]" not in home

    await by_hand(True)
    assert (await the_lease(yard)).lifted_at is None
    assert "gpu-a01 | Ready, cordoned by dana |" in await yard.say("node list")


async def test_while_our_own_plan_lifts_it_nobody_else_is_said_to_have(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    uncordon = await yard.confirmed(await yard.plan(f"node uncordon {NODE}"))
    kube.patch("nodes", "", NODE, {"spec": {"unschedulable": None}})  # its first step, before the lease ends
    await yard.seen(lambda: not yard.cluster.inventory().nodes[NODE].spec.unschedulable)
    await watcher(yard).check()
    assert (await the_lease(yard)).lifted_at is None

    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(replace(uncordon, state=PlanState.FAILED))
    await watcher(yard).check()
    assert (await the_lease(yard)).lifted_at is not None


async def test_a_list_by_a_late_picture_says_what_is_recorded_and_what_is_not_seen(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_cordon = yard.cluster.inventory()
    await yard.do(f"node uncordon {NODE}")
    await yard.seen(lambda: not yard.cluster.inventory().nodes[NODE].spec.unschedulable)
    without = yard.cluster.inventory()

    monkeypatch.setattr(yard.cluster, "refresh", lambda: with_cordon)
    listed = await yard.say("node list")
    assert "gpu-a01 | Ready, cordoned by dana when last seen, without a lease |" in listed

    monkeypatch.setattr(yard.cluster, "refresh", lambda: without)
    await yard.do(f"node cordon {NODE}")
    await watcher(yard).check()
    assert "gpu-a01 | Ready, cordoned by dana; the cluster does not show it yet |" in await yard.say(
        "node list"
    )
    assert "state: Ready, cordoned by dana\n" in await yard.say(f"node show {NODE}")


async def test_a_cordon_of_others_in_the_place_of_ours_leaves_only_the_lease_to_be_ended(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    kube.patch("nodes", "", NODE, {"metadata": {"annotations": {BY: None}}})
    plan = await yard.do(f"node uncordon {NODE}")
    assert "The cordon of gpu-a01 is not ours any more: it stays, and only its lease is ended." in plan.notes
    node = kube.get("nodes", "", NODE)
    assert node is not None
    assert (node["spec"]["unschedulable"], await leases(yard)) == (True, [])


async def test_uncordon_of_a_node_that_left_ends_its_lease_and_names_no_other_node(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    kube.delete("nodes", "", NODE)
    await yard.seen(lambda: NODE not in yard.cluster.inventory().nodes)
    plan = await yard.do(f"node uncordon {NODE}")
    assert plan.notes == ("gpu-a01 is not in the cluster: only its lease is ended.",)
    assert await leases(yard) == []


# The reminder.


async def reminded(yard: Yard) -> timedelta | None:
    yard.clock.move(2 * HOUR)
    work = LeaseReminder(yard.store, {CLUSTER: yard.cluster}, yard.clock).work
    return await work.do(await the_lease(yard), yard.clock.now())


async def test_the_owner_of_a_node_that_left_gets_no_button_to_other_nodes(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    kube.delete("nodes", "", NODE)
    await yard.seen(lambda: NODE not in yard.cluster.inventory().nodes)
    await reminded(yard)
    await watcher(yard).check()
    ((words, buttons),) = await said(yard)
    assert ("has left the cluster" in words, "somebody else removed it" in words, buttons) == (
        True,
        False,
        (),
    )


async def test_a_reminder_says_what_the_api_server_has_and_not_a_late_picture(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = yard.cluster.inventory()
    monkeypatch.setattr(yard.cluster, "refresh", lambda: late)
    kube.patch("nodes", "", NODE, {"spec": {"unschedulable": None}})
    await reminded(yard)
    ((words, buttons),) = await said(yard)
    assert "somebody else removed it" in words
    assert [one.label for one in buttons] == ["Remove its record"]


async def test_a_reminder_about_a_node_that_cannot_be_seen_says_so(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    kube.fail(lambda seen: seen.path.endswith(NODE), 503, times=10)
    await reminded(yard)
    ((words, _),) = await said(yard)
    assert "The node cannot be seen now, so whether it is still cordoned is not known." in words


async def test_the_plan_of_an_old_lease_is_found_however_many_came_later(yard: Yard) -> None:
    plan = await yard.newest()
    assert plan is not None
    async with yard.store.unit() as unit:
        for number in range(1_100):
            await unit.rows(Plan).put(replace(plan, id=f"p{number + 100}", stages=()))
    await reminded(yard)
    assert len(await said(yard)) == 1


async def test_a_lease_without_a_card_is_not_taken_for_reminded(yard: Yard) -> None:
    async with yard.store.unit() as unit:
        await unit.rows(PostedCard).delete("d1")
    again = await reminded(yard)
    assert (again, (await the_lease(yard)).reminded_at) == (HOUR, None)
