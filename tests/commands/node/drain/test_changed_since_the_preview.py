"""A drain whose pods or budgets changed after its preview: when it is shown again."""

from tests.commands.node.drain.conftest import NODE, SPACE, cached, evicted
from tests.support.drained import Kubelets
from tests.support.yard import Yard


async def test_a_pod_that_was_replaced_since_the_preview_is_evicted_without_asking_again(
    yard: Yard, kube: Kubelets
) -> None:
    await kube.add_deployment("web", 1, nodeSelector={"kubernetes.io/hostname": NODE})
    await kube.until_running(NODE, 1)
    plan = await yard.plan(f"node drain {NODE}")
    (old,) = evicted(plan)
    await kube.call("DELETE", kube.path("pods", old), {"gracePeriodSeconds": 0})
    await kube.until_running(NODE, 1)
    await yard.seen(lambda: f"{SPACE}/{old}" not in yard.cluster.inventory().pods)
    await cached(yard, 1)

    confirmed = await yard.confirmed(plan)

    assert confirmed.hash == plan.hash
    (new,) = evicted(confirmed)
    assert new != old


async def test_a_workload_or_a_blocking_budget_more_is_shown_before_it_is_confirmed(
    yard: Yard, kube: Kubelets
) -> None:
    await kube.add_pod("a", NODE, labels={"app": "a"})
    await cached(yard, 1)
    plan = await yard.plan(f"node drain {NODE}")
    await kube.add_pod("b", NODE)
    await cached(yard, 2)
    answer = await yard.say(f"plan confirm {plan.id} --hash {plan.hash}")
    assert "It disrupts more than the first preview showed: Pod work/b: 1 pod." in answer

    again = await yard.newest()
    assert again is not None
    await kube.add_budget("a", 1, app="a")
    answer = await yard.say(f"plan confirm {again.id} --hash {again.hash}")
    assert "It disrupts more than the first preview showed: work/a blocks it." in answer

    last = await yard.newest()
    assert last is not None
    await kube.call("DELETE", kube.path("pods", "b"), {"gracePeriodSeconds": 0})
    await cached(yard, 1)
    await yard.confirmed(last)  # less is disrupted than was shown
