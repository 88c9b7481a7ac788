"""`node drain`: what the preview says, what is evicted, how many at once, and when it is shown again."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from commands.core.drain_pods import AT_ONCE
from commands.execution.plan import Plan, PlanState, StepRecord, StepState
from commands.execution.preview import card_of
from commands.execution.steps import Evict, Patch
from commands.models import AuditEntry, CordonLease
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings, User
from tests.commands.training.test_rights import RIGHTS, grant
from tests.support.drained import Kubelets, kubelets, until
from tests.support.quick_yaml import from_yaml
from tests.support.yard import Yard, text_of, yard_before

NODE, OTHER, SPACE = "gpu-a01", "gpu-a02", "work"


async def quick(seconds: float) -> None:
    await asyncio.sleep(seconds / 100)


@pytest.fixture
async def lookalike() -> AsyncIterator[KubernetesLookalike]:
    """A cluster in which the bot has the rights of the chart for `node drain`, and no others."""
    rights = from_yaml(RIGHTS.read_text())
    async with KubernetesLookalike.running(
        tokens={"bot": User("bot")}, settings=Settings(node_grace=None)
    ) as running:
        grant(running, "look", rights["look"]["cluster"])
        grant(running, "act", rights["act"]["node drain"]["cluster"])
        yield running


@pytest.fixture
async def kube(lookalike: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Kubelets]:
    async with kubelets(lookalike.kubeconfig(tmp_path / "admin"), SPACE) as made:
        for name in (NODE, OTHER):
            await made.add_node(name, **{"nvidia.com/gpu": "8"})
        yield made


@pytest.fixture
async def yard(lookalike: KubernetesLookalike, kube: Kubelets, tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_before(lookalike.kubeconfig(tmp_path / "bot", token="bot"), pause=quick) as made:
        yield made


async def cached(yard: Yard, count: int, node: str = NODE) -> None:
    """Wait until the cache shows this many pods on the node."""
    await yard.seen(lambda: len(yard.cluster.inventory().pods_on(node)) == count)


def evicted(plan: Plan) -> list[str]:
    return [step.ref.name for step in plan.steps if isinstance(step, Evict)]


async def test_the_preview_says_what_is_evicted_what_stays_and_what_is_lost(
    yard: Yard, kube: Kubelets
) -> None:
    await kube.add_pod("plain", NODE, owned=True)
    await kube.add_pod("bare", NODE)
    await kube.add_pod(
        "scratch",
        NODE,
        owned=True,
        volumes=[{"name": "s", "emptyDir": {}}, {"name": "shm", "emptyDir": {"medium": "Memory"}}],
    )
    await kube.add_pod("shm", NODE, owned=True, volumes=[{"name": "shm", "emptyDir": {"medium": "Memory"}}])
    await kube.add_daemonset("agent", NODE)
    await kube.add_pod("static", NODE, annotations={"kubernetes.io/config.mirror": "x"})
    await kube.add_pod("slow", NODE, owned=True, terminationGracePeriodSeconds=600)
    await kube.add_pod("over", NODE, owned=True)
    await kube.started("over", phase="Succeeded")
    await kube.add_pod("elsewhere", OTHER, owned=True)
    await cached(yard, 8)

    plan = await yard.plan(f"node drain {NODE} --reason fan")

    assert sorted(evicted(plan)) == ["bare", "plain", "scratch", "shm", "slow"]
    notes = "\n".join(plan.notes)
    assert "they are gone for good: work/bare." in notes
    assert "Data in the emptyDir volumes of these is lost: work/scratch." in notes
    assert "These pods stay: 1 of a DaemonSet, 1 finished, 1 static." in notes
    assert "A pod may take 10 min to end" in notes
    assert plan.title == f"Drain {NODE}: evict 5 pods"


@pytest.mark.parametrize(
    ("limit", "fate"),
    [
        pytest.param({}, "Its controller starts the evicted ranks again: 6 retries are left.", id="retries"),
        pytest.param({"backoffLimit": 0}, "It fails for good: it has no retry left for that.", id="none"),
        pytest.param({"backoffLimit": 0, "backoffLimitPerIndex": 1}, "is not known.", id="not known"),
    ],
)
async def test_a_training_on_the_node_is_named_with_its_owner_its_gpus_and_what_becomes_of_it(
    yard: Yard, kube: Kubelets, limit: dict[str, int], fate: str
) -> None:
    labels = {"training": "detr", "owner": "ana"}
    await kube.call(
        "POST",
        kube.path("jobs", api="/apis/batch/v1"),
        {
            "metadata": {"name": "detr", "labels": labels},
            "spec": {
                **limit,
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "restartPolicy": "Never",
                        "nodeSelector": {"kubernetes.io/hostname": NODE},
                        "tolerations": [kube.toleration],
                        "containers": [
                            {"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "4"}}}
                        ],
                    },
                },
            },
        },
    )
    await kube.until_running(NODE, 1)
    await yard.seen(lambda: any(one.gpus for one in yard.cluster.trainings()))
    plan = await yard.plan(f"node drain {NODE}")
    assert plan.steps[0].description == f"cordon {NODE}: no new pods are scheduled there"
    (said,) = (note for note in plan.notes if note.startswith("work/detr: "))
    assert fate in said
    assert "The age of its last checkpoint is not known" in said
    assert [str(one) for one in plan.disrupts] == ["work/detr of ana: 1 of 1 rank, 4 GPUs"]


async def test_a_drain_cordons_evicts_and_leaves_the_rest(yard: Yard, kube: Kubelets) -> None:
    await kube.add_daemonset("agent", NODE)
    await kube.add_pod("bare", NODE)
    await cached(yard, 2)
    over = await yard.do(f"node drain {NODE}")
    assert over.state is PlanState.DONE, over.error
    assert [one["metadata"]["labels"]["app"] for one in await kube.pods(NODE)] == ["agent"]
    async with yard.store.unit() as unit:
        assert [lease.node for lease in await unit.rows(CordonLease).find()] == [NODE]


async def test_a_drained_node_has_nothing_to_drain(yard: Yard, kube: Kubelets) -> None:
    await kube.call("PATCH", f"/api/v1/nodes/{NODE}", {"spec": {"unschedulable": True}})
    await yard.seen(lambda: yard.cluster.inventory().nodes[NODE].spec.unschedulable)
    assert "already cordoned and has no pods to evict" in await yard.say(f"node drain {NODE}")


async def test_a_node_that_others_cordoned_is_drained_and_stays_cordoned_after_an_undo(
    yard: Yard, kube: Kubelets
) -> None:
    await kube.add_pod("bare", NODE)
    await kube.call("PATCH", f"/api/v1/nodes/{NODE}", {"spec": {"unschedulable": True}})
    await yard.seen(lambda: yard.cluster.inventory().nodes[NODE].spec.unschedulable)
    await cached(yard, 1)
    over = await yard.do(f"node drain {NODE}")
    assert over.state is PlanState.DONE, over.error
    assert "did nothing that can be undone" in await yard.say(f"plan undo {over.id}")


async def test_no_more_pods_than_the_limit_end_at_once(yard: Yard, kube: Kubelets) -> None:
    count = AT_ONCE * 2 + 5
    for number in range(count):
        await kube.add_pod(f"p{number:02}", NODE, owned=True)
    await cached(yard, count)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))
    kube.ends_pods = False
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        drain = tasks.create_task(yard.executor.execute(plan))
        await kube.until_running(NODE, count - AT_ONCE)
        await asyncio.sleep(0.2)  # time to evict more, if it would
        assert len(await kube.pods(NODE)) == count - AT_ONCE
        kube.ends_pods = True
    assert drain.result().state is PlanState.DONE
    assert kube.most_terminating <= AT_ONCE
    assert len(kube.ended) == count


async def test_pods_that_wait_for_a_budget_do_not_hold_up_the_others(yard: Yard, kube: Kubelets) -> None:
    for number in range(AT_ONCE + 2):
        await kube.add_pod(f"a{number:02}", NODE, owned=True, labels={"app": "a"})
    await kube.add_pod("z", NODE, owned=True)
    await kube.add_budget("a", AT_ONCE + 2, app="a")
    await cached(yard, AT_ONCE + 3)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        drain = tasks.create_task(yard.executor.execute(plan))

        async def ended() -> bool:
            return kube.ended == ["z"]

        await until(ended)
        await yard.say(f"plan cancel {plan.id}")
    over = drain.result()
    assert (over.state, over.error) == (PlanState.CANCELLED, "cancelled by dana")
    states = {one.state for one in await yard.records(over)}
    assert states == {StepState.DONE, StepState.SKIPPED}
    assert len(await kube.pods(NODE)) == AT_ONCE + 2


@pytest.mark.parametrize("cut_off", [False, True], ids=["live", "in the next process"])
async def test_after_a_cancellation_no_pod_is_evicted_although_its_budget_allows_it_now(
    yard: Yard, kube: Kubelets, cut_off: bool
) -> None:
    for name in ("a", "b", "c"):
        await kube.add_pod(name, NODE, owned=True, labels={"app": "a"})
    await kube.add_budget("a", 3, app="a")
    await cached(yard, 3)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))

    async def wait() -> bool:
        return all("disruption budget" in one.outcome for one in (await yard.records(plan))[-3:])

    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        drain = tasks.create_task(yard.executor.execute(plan))
        await until(wait)
        if cut_off:
            drain.cancel()
        await yard.say(f"plan cancel {plan.id}")
        await asyncio.wait((drain,))  # an eviction that is on its way cannot be called back
        await kube.call("DELETE", kube.path("poddisruptionbudgets", "a", api="/apis/policy/v1"))
    async with asyncio.timeout(20):
        over = await yard.executor.execute(plan)
    assert over.state is PlanState.CANCELLED
    assert kube.ended == []
    assert {one.state for one in (await yard.records(over))[-3:]} == {StepState.SKIPPED}


async def test_a_drain_that_was_cut_off_while_it_waited_can_still_be_cancelled(
    yard: Yard, kube: Kubelets
) -> None:
    await kube.add_pod("a", NODE, owned=True, labels={"app": "a"})
    await kube.add_budget("a", 1, app="a")
    await cached(yard, 1)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))

    async def waits() -> bool:
        return "disruption budget" in (await yard.records(plan))[-1].outcome

    async with asyncio.TaskGroup() as tasks:
        drain = tasks.create_task(yard.executor.execute(plan))
        await until(waits)
        drain.cancel()
    await yard.say(f"plan cancel {plan.id}")
    async with asyncio.timeout(20):
        over = await yard.executor.execute(plan)
    assert over.state is PlanState.CANCELLED
    assert [one.state for one in await yard.records(over)][-1] is StepState.SKIPPED
    assert len(await kube.pods(NODE)) == 1


async def test_a_pod_that_can_never_be_evicted_fails_the_plan_and_the_others_go(
    yard: Yard, kube: Kubelets
) -> None:
    await kube.add_pod("twice", NODE, owned=True, labels={"app": "a"})
    await kube.add_pod("z", NODE, owned=True)
    await cached(yard, 2)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))
    for name in ("one", "two"):
        await kube.add_budget(name, 0, app="a")
    over = await yard.executor.execute(plan)
    assert over.state is PlanState.FAILED
    assert over.error == "pod work/twice has more than one PodDisruptionBudget, so it can never be evicted"
    assert [one["metadata"]["name"] for one in await kube.pods(NODE)] == ["twice"]


async def test_two_budgets_for_one_pod_are_refused_in_the_preview(yard: Yard, kube: Kubelets) -> None:
    await kube.add_pod("twice", NODE, owned=True, labels={"app": "a"})
    for name in ("one", "two"):
        await kube.add_budget(name, 0, app="a")
    await cached(yard, 1)
    assert "it can never be evicted" in await yard.say(f"node drain {NODE}")


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


async def test_a_large_drain_writes_one_row_for_each_step_and_not_the_plan(
    yard: Yard, kube: Kubelets
) -> None:
    for number in range(20):
        await kube.add_pod(f"p{number:02}", NODE, owned=True)
    await cached(yard, 20)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))
    written: list[str] = []
    stop = yard.store.listen(lambda changed: written.extend(table for table in changed if table == "plans"))
    over = await yard.executor.execute(plan)
    stop()
    assert over.state is PlanState.DONE
    assert len(written) == 2  # when it began and when it ended
    async with yard.store.unit() as unit:
        assert len(await unit.rows(StepRecord).find(plan=plan.id)) == 22
    card = text_of(card_of(over, await yard.records(over)))
    assert "22 of 22 done" in card


async def test_the_card_of_a_large_drain_shows_the_pods_that_it_waits_for(yard: Yard, kube: Kubelets) -> None:
    for number in range(20):
        await kube.add_pod(f"p{number:02}", NODE, owned=True)
    await kube.add_pod("zz", NODE, owned=True, labels={"app": "z"})
    await kube.add_budget("z", 1, app="z")
    await cached(yard, 21)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(yard.executor.execute(plan))
        await kube.until_running(NODE, 1)

        async def waits() -> bool:
            return "zz (The disruption budget z needs 1" in text_of(card_of(plan, await yard.records(plan)))

        await until(waits)
        await yard.say(f"plan cancel {plan.id}")


async def test_every_eviction_is_run_dry_before_the_preview(
    yard: Yard, kube: Kubelets, lookalike: KubernetesLookalike
) -> None:
    for number in range(25):
        await kube.add_pod(f"p{number:02}", NODE, owned=True)
    await cached(yard, 25)
    plan = await yard.plan(f"node drain {NODE}")
    asked = [seen for seen in lookalike.requests if seen.path.endswith("/eviction")]
    assert {seen.path.split("/")[-2] for seen in asked} == set(evicted(plan))
    assert len(asked) == len(await kube.pods(NODE)) == 25


async def a_job(kube: Kubelets, name: str, *, gpus: int = 2) -> None:
    labels = {"training": name, "owner": "ana"}
    container = {"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
    pod = {
        "restartPolicy": "Never",
        "nodeSelector": {"kubernetes.io/hostname": NODE},
        "tolerations": [kube.toleration],
        "containers": [container],
    }
    spec = {"template": {"metadata": {"labels": labels}, "spec": pod}}
    path = kube.path("jobs", api="/apis/batch/v1")
    await kube.call("POST", path, {"metadata": {"name": name, "labels": labels}, "spec": spec})


async def test_the_preview_prices_what_a_drain_ends_and_it_ends_first_what_costs_least(
    yard: Yard, kube: Kubelets
) -> None:
    for name in ("aged", "blank", "fresh"):
        await a_job(kube, name)
    await kube.add_deployment("web", 2, nodeSelector={"kubernetes.io/hostname": NODE})
    await kube.until_running(NODE, 5)
    await yard.seen(lambda: len([one for one in yard.cluster.trainings() if one.gpus]) == 3)
    began = min(rank.started for one in yard.cluster.trainings() for rank in one.ranks if rank.started)
    yard.clock.at = began + timedelta(hours=9)
    for name, hours in (("aged", 5), ("fresh", 1)):
        saved = (yard.clock.now() - timedelta(hours=hours)).timestamp()
        yard.prometheus.say("checkpoint", f"{name}-", samples=[({}, saved)])

    shown = await yard.say(f"node drain {NODE}")

    assert "12 GPU-hours of 2 trainings since their last checkpoints" in shown
    assert "an unknown number of GPU-hours of 1 training" in shown
    assert "work/fresh of ana: 2 GPU-hours since its last checkpoint" in shown
    assert "work/blank of ana: GPU-hours since its last checkpoint unknown" in shown
    plan = await yard.newest()
    assert plan is not None
    order = [
        step.ref.name.rpartition("-")[0].partition("-")[0] for step in plan.steps if isinstance(step, Evict)
    ]
    assert [one for one in order if one != "web"] == ["fresh", "aged", "blank"]
    found = json.loads((await yard.say(f"plan show {plan.id} --json")).splitlines()[-1])
    assert found["gpu_hours"] == 12
    assert [one["gpu_hours"] for one in found["ends"] if one["kind"] == "training"] == [2, 10, None]
    assert [one["replicas"] for one in found["ends"] if one["kind"] == "workload"] == [2]

    confirmed = await yard.confirmed(plan)
    card = text_of(card_of(confirmed, await yard.records(confirmed)))
    assert "At stake: 12 GPU-hours of 2 trainings" in card
    async with yard.store.unit() as unit:
        entries = await unit.rows(AuditEntry).find(plan=plan.id)
    assert any("12 GPU-hours of 2 trainings" in one.price for one in entries)


async def test_several_nodes_are_one_plan_that_cordons_all_first_and_evicts_what_costs_least_first(
    yard: Yard, kube: Kubelets
) -> None:
    await kube.add_training("detr", NODE, gpus=4)
    await kube.add_training("bert", OTHER, gpus=1)
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
