"""One drain of several nodes."""

from commands.core.drain_pods import AT_ONCE
from commands.execution.plan import PlanState
from commands.execution.steps import Patch
from tests.commands.node.drain.conftest import NODE, OTHER, cached, evicted
from tests.support.drained import Kubelets
from tests.support.yard import Yard


async def test_several_nodes_are_one_plan_that_cordons_all_first_and_evicts_what_costs_least_first(
    yard: Yard, kube: Kubelets
) -> None:
    await kube.add_training("detr", NODE, gpus=4)
    await kube.add_training("bert", OTHER, gpus=1)
    await kube.until_running(NODE, 1)
    await kube.until_running(OTHER, 1)
    await kube.add_pod("web", OTHER, owned=True)
    await cached(yard, 1)
    await cached(yard, 2, OTHER)
    await yard.seen(lambda: sum(bool(one.gpus) for one in yard.cluster.trainings()) == 2)
    plan = await yard.plan(f"node drain {NODE} {OTHER}")
    assert plan.title == f"Drain {NODE}, {OTHER}: evict 3 pods"
    first, second = plan.stages
    assert [step.ref.name for step in first.steps if isinstance(step, Patch)] == [NODE, OTHER]
    assert second.at_once == 2 * AT_ONCE
    order = [name.partition("-")[0] for name in evicted(plan)]
    assert order == ["web", "bert", "detr"], "over both nodes, what costs least is ended first"
    assert [one.name.rpartition("/")[2] for one in plan.disrupts if one.ends] == ["detr", "bert"]
    assert len([note for note in plan.notes if "The lease ends in" in note]) == 1
    assert len(plan.decided) == 3

    over = await yard.executor.execute(await yard.confirmed(plan))
    assert over.state is PlanState.DONE, over.error
    assert await kube.pods(NODE) == await kube.pods(OTHER) == []
    undone = await yard.do(f"plan undo {plan.id}")
    assert undone.state is PlanState.DONE
    assert not any(node.spec.unschedulable for node in yard.cluster.inventory().nodes.values())


async def test_a_workload_on_two_of_the_nodes_is_named_once(yard: Yard, kube: Kubelets) -> None:
    labels = {"training": "detr", "owner": "ana"}
    for name, node in (("detr-0", NODE), ("detr-1", OTHER)):
        await kube.add_pod(name, node, owned=True, labels=labels)
    await cached(yard, 1)
    await cached(yard, 1, OTHER)
    plan = await yard.plan(f"node drain {NODE} {OTHER} {NODE}")
    assert len(plan.disrupts) == 1
    assert plan.disrupts[0].pods == 2
