"""The preview of a drain: what is evicted, what stays, what is lost, and what it costs."""

import json
from datetime import timedelta

import pytest

from commands.execution.plan_card import card_of
from commands.execution.steps import Evict
from commands.models import AuditEntry
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.node.drain.conftest import NODE, OTHER, cached, evicted
from tests.support.drained import Kubelets
from tests.support.yard import Yard, text_of


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
    await kube.add_training("detr", NODE, gpus=4, limit=limit)
    await kube.until_running(NODE, 1)
    await yard.seen(lambda: any(one.gpus for one in yard.cluster.trainings()))
    plan = await yard.plan(f"node drain {NODE}")
    assert plan.steps[0].description == f"cordon {NODE}: no new pods are scheduled there"
    (said,) = (note for note in plan.notes if note.startswith("work/detr: "))
    assert fate in said
    assert "The age of its last checkpoint is not known" in said
    assert [str(one) for one in plan.disrupts] == ["work/detr of ana: 1 of 1 rank, 4 GPUs"]


async def test_a_drained_node_has_nothing_to_drain(yard: Yard, kube: Kubelets) -> None:
    await kube.call("PATCH", f"/api/v1/nodes/{NODE}", {"spec": {"unschedulable": True}})
    await yard.seen(lambda: yard.cluster.inventory().nodes[NODE].spec.unschedulable)
    assert "already cordoned and has no pods to evict" in await yard.say(f"node drain {NODE}")


async def test_two_budgets_for_one_pod_are_refused_in_the_preview(yard: Yard, kube: Kubelets) -> None:
    await kube.add_pod("twice", NODE, owned=True, labels={"app": "a"})
    for name in ("one", "two"):
        await kube.add_budget(name, 0, app="a")
    await cached(yard, 1)
    assert "it can never be evicted" in await yard.say(f"node drain {NODE}")


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


async def test_the_preview_prices_what_a_drain_ends_and_it_ends_first_what_costs_least(
    yard: Yard, kube: Kubelets
) -> None:
    for name in ("aged", "blank", "fresh"):
        await kube.add_training(name, NODE, gpus=2)
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
