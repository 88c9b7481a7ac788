"""A cordon cancelled while it runs leaves no node without a lease."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from alerts.cards.posted import CardId, CardKind, PostedCard
from bot.jobs.lease_cards import cards_of_lease, plan_of
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.plan import PlanState
from commands.models import CordonLease
from tests.support.alerting import CLUSTER
from tests.support.yard import DANA, lookalike_with, yard_before


async def test_a_cordoned_node_has_its_lease_and_the_rest_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        lookalike_with("gpu-a01", "gpu-a02") as kube,
        yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard,
    ):
        plan = await yard.confirmed(await yard.plan("node cordon gpu-a01 gpu-a02"))
        real = ClusterWriter.patch

        async def cancelled_meanwhile(self: ClusterWriter, *args: Any, **more: Any) -> Any:
            await yard.say(f"plan cancel {plan.id}", DANA)
            return await real(self, *args, **more)

        monkeypatch.setattr(ClusterWriter, "patch", cancelled_meanwhile)
        over = await yard.executor.execute(plan)

        assert over.state is PlanState.CANCELLED
        card = PostedCard(id=CardId("d1"), cluster=CLUSTER, kind=CardKind.PLAN, row_id=plan.id, channel="C1")
        async with yard.store.unit() as unit:
            await unit.rows(PostedCard).put(card)
            (lease,) = await unit.rows(CordonLease).find()
            for named in (lease, replace(lease, plan="")):  # one from before leases named their plan
                assert await plan_of(named, unit) == plan.id
                assert await cards_of_lease(named, plan.id, unit) == [card]  # the reminder goes there
            monkeypatch.setattr("bot.jobs.lease_cards.MAX_PLANS", 0)
            assert await plan_of(lease, unit) == plan.id
            assert await plan_of(replace(lease, plan=""), unit) == ""
        assert [one.state.value for one in await yard.records(over)] == [
            "done",
            "done",
            "skipped",
            "skipped",
        ]
        assert lease.node == "gpu-a01"
        other = kube.get("nodes", "", "gpu-a02")
        assert other is not None
        assert not other["spec"].get("unschedulable")
