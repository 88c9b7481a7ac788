"""Nodes that count against a budget, and the preview of it."""

from dataclasses import replace

from commands.execution.plan import Plan, PlanState, Stage, StepRecord, StepState
from commands.gates.budget import Budget, BudgetScope
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.core.pipeline.budgets.conftest import NODES, cordon, is_out, limited_to, repair_steps
from tests.support.yard import CLUSTER, Yard


async def test_the_preview_shows_the_figures(yard: Yard) -> None:
    await cordon(yard, *NODES[:2])
    shown = await yard.say(f"node cordon {NODES[2]}")
    assert "Budget of pool a: 2 of 5 nodes out of service" in shown
    assert f"{NODES[0]}: cordoned by dana until 2026-11-21 16:00 UTC (no reason given)" in shown
    assert "Confirmed, it would wait." not in shown
    assert "Budget" not in await yard.say("node cordon gpu-b01")


async def test_a_node_that_is_back_does_not_count_by_the_plan_that_cordoned_it(yard: Yard) -> None:
    await cordon(yard, *NODES[:5])
    back = await yard.do(f"node uncordon {NODES[0]}")
    assert back.state is PlanState.DONE
    await is_out(yard, NODES[0], out=False)
    assert "4 of 5 nodes out of service" in await yard.say(f"node cordon {NODES[5]}")
    await cordon(yard, NODES[0])
    assert "5 of 5 nodes out of service" in await yard.say(f"node cordon {NODES[5]}")


async def test_a_node_that_somebody_else_cordoned_counts(yard: Yard, kube: KubernetesLookalike) -> None:
    for name in NODES[:5]:
        kube.patch("Node", "", name, {"spec": {"unschedulable": True}})
        await is_out(yard, name)
    shown = await yard.say(f"node cordon {NODES[5]}")
    assert "5 of 5 nodes out of service" in shown
    assert "cordoned by somebody else" in shown


async def test_a_cordon_of_a_plan_that_failed_counts_and_one_that_was_not_begun_does_not(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await cordon(yard, *NODES[:3])
    failed, idle = [await yard.confirmed(await yard.plan(f"node cordon {name}")) for name in NODES[3:5]]
    async with yard.store.unit() as unit:
        for plan in (failed, idle):
            await unit.rows(Plan).put(
                replace(plan, state=PlanState.FAILED, ended_at=yard.clock.now(), error="a test")
            )
        await unit.rows(StepRecord).put(
            StepRecord(plan=failed.id, number=0, cluster=CLUSTER, state=StepState.UNKNOWN)
        )
    shown = await yard.say(f"node cordon {NODES[5]}")
    assert "4 of 5 nodes out of service" in shown
    assert f"{NODES[3]}: plan {failed.id} of dana cordons it" in shown


async def test_a_repair_counts_as_out_while_it_runs_and_as_disrupted_for_an_hour(yard: Yard) -> None:
    repair = await a_running_repair(yard, NODES[0])
    await cordon(yard, *NODES[1:4])
    shown = await yard.say(f"node cordon {NODES[5]}")
    assert "4 of 5 nodes out of service" in shown
    assert f"{NODES[0]}: plan {repair.id} of dana works on it" in shown
    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(replace(repair, state=PlanState.DONE, ended_at=yard.clock.now()))
    assert "3 of 5 nodes out of service" in await yard.say(f"node cordon {NODES[5]}"), "its node is back"

    hourly = (Budget(scope=BudgetScope.POOL, of="a", per_hour=4),)
    limited_to(yard, hourly)
    assert "4 of 4 nodes disrupted in the last hour" in await yard.say(f"node cordon {NODES[5]}")
    assert "4 of 4 nodes disrupted" not in await yard.say(f"node cordon {NODES[0]}"), "it is one of them"


async def a_running_repair(yard: Yard, node: str) -> Plan:
    plan = await yard.plan(f"node cordon {node}")
    running = replace(plan, state=PlanState.RUNNING, stages=(Stage(steps=repair_steps(node)),))
    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(running)
    return running


async def test_more_ended_plans_than_anyone_reads_hide_no_cordon_of_the_last_hour(yard: Yard) -> None:
    hourly = (Budget(scope=BudgetScope.POOL, of="a", per_hour=1),)
    limited_to(yard, hourly)
    done = await yard.do(f"node cordon {NODES[0]}")
    async with yard.store.unit() as unit:
        for number in range(250):
            idle = replace(done, id=f"idle{number}", stages=(), state=PlanState.DONE)
            await unit.rows(Plan).put(idle)
    assert "1 of 1 node disrupted in the last hour" in await yard.say(f"node cordon {NODES[1]}")


async def test_taints_of_a_fault_count_and_those_that_a_node_has_for_good_do_not(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    taint(kube, NODES[0], "node.kubernetes.io/disk-pressure")
    taint(kube, NODES[1], "nvidia.com/gpu")
    await yard.do(f"node taint {NODES[2]} gpu=broken:NoSchedule")
    await yard.seen(lambda: all(yard.cluster.inventory().nodes[name].spec.taints for name in NODES[:3]))
    shown = await yard.say(f"node cordon {NODES[5]}")
    assert "2 of 5 nodes out of service" in shown
    assert f"{NODES[0]}: tainted node.kubernetes.io/disk-pressure:NoSchedule" in shown
    assert f"{NODES[2]}: tainted gpu:NoSchedule" in shown
    out = await yard.say("node list --out")
    assert f"{NODES[0]} | not known | nobody's | tainted node.kubernetes.io/disk-pressure:NoSchedule" in out


def taint(kube: KubernetesLookalike, node: str, key: str) -> None:
    kube.patch("Node", "", node, {"spec": {"taints": [{"key": key, "effect": "NoSchedule"}]}})
