"""After a test: the lease that ends by itself, and what lists say of the node."""

from dataclasses import replace
from datetime import timedelta

from commands.acceptance.acceptance import Acceptance
from commands.core.request import Request
from commands.execution.plan import PlanState
from commands.models import CordonLease
from tests.support.accepting import PASS, an_old_acceptance, begun, cordon, run_all, watcher
from tests.support.node_jobs import JobStage


async def test_a_cordoned_node_that_was_rebooted_after_its_pass_is_not_said_to_be_accepted(
    light_stage: JobStage,
) -> None:
    light_stage.log += PASS
    await cordon(light_stage)
    _, task = await begun(light_stage)
    await run_all(light_stage, task, 0, 0)
    await watcher(light_stage).check()
    inventory = light_stage.yard.cluster.inventory
    body = {"status": {"nodeInfo": {"bootID": "another boot"}}}
    await light_stage.kubelets.call("PATCH", f"/api/v1/nodes/{light_stage.node}/status", body)
    await light_stage.yard.seen(
        lambda: inventory().nodes[light_stage.node].status.node_info.boot_id == "another boot"
    )
    for line in ("node list --cordoned", f"node show {light_stage.node}"):
        assert "not accepted since it was rebooted" in await light_stage.yard.say(line)


async def test_a_pass_ends_the_lease_by_itself_where_the_settings_say_so(light_stage: JobStage) -> None:
    light_stage.log += PASS
    await cordon(light_stage)
    _, task = await begun(light_stage)
    await run_all(light_stage, task, 0, 0)
    lines: list[Request] = []
    await watcher(light_stage, ends_lease=True, lines=lines).check()
    await watcher(light_stage, ends_lease=True, lines=lines).check()
    (request,) = lines
    assert request.line == f"node uncordon {light_stage.node} --cluster prod-a"
    assert request.actor.person == "automation:acceptance"


async def test_a_cordon_that_is_newer_than_the_test_is_not_ended(light_stage: JobStage) -> None:
    light_stage.log += PASS
    await cordon(light_stage)
    _, task = await begun(light_stage)
    await run_all(light_stage, task, 0, 0)
    async with light_stage.yard.store.unit() as unit:
        (lease,) = await unit.rows(CordonLease).find()
        await unit.rows(CordonLease).put(replace(lease, since=lease.since + timedelta(hours=1)))
    lines: list[Request] = []
    await watcher(light_stage, ends_lease=True, lines=lines).check()
    assert lines == []


async def test_an_uncordon_without_a_test_is_said_before_it_is_done_and_in_the_lists(
    light_stage: JobStage,
) -> None:
    yard, node = light_stage.yard, light_stage.node
    async with yard.store.unit() as unit:  # something was tested here before
        await unit.rows(Acceptance).put(an_old_acceptance("prod-a", "gpu-z99"))
    await cordon(light_stage)
    said = await yard.say(f"node uncordon {node}")
    assert f"{node} was not accepted since it was cordoned: node accept {node} tests it." in said
    plan = await yard.newest()
    assert plan is not None
    assert plan.title == f"Uncordon {node}"
    over = await yard.executor.execute(await yard.confirmed(plan))
    assert over.state is PlanState.DONE, over.error
    await yard.seen(lambda: not yard.cluster.inventory().nodes[node].spec.unschedulable)
    assert "not tested before it returned" in await yard.say("node list")
    assert "not tested before it returned" in await yard.say(f"node show {node}")
    undone = await yard.do(f"plan undo {plan.id}")
    assert undone.state is PlanState.DONE, undone.error
    async with yard.store.unit() as unit:
        assert await unit.rows(Acceptance).find(node=node) == []


async def test_a_node_that_was_rebooted_since_it_was_accepted_says_so(light_stage: JobStage) -> None:
    yard, node = light_stage.yard, light_stage.node
    uid = yard.cluster.inventory().nodes[node].metadata.uid
    async with yard.store.unit() as unit:
        await unit.rows(Acceptance).put(
            replace(an_old_acceptance("prod-a", node), uid=uid, boot_id="a boot of before")
        )
    assert "not accepted since it was rebooted" in await yard.say("node list")
