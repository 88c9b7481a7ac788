"""A cordon is a lease: it is extended, and lifting it is proposed only where nothing speaks against it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.cards.text import plain
from alerts.incidents.incident import Incident
from bot.jobs.lease_reminder import node_now, reminder
from collectors.facts.subjects import Subject
from commands.core.cordoned_nodes import UNTIL, against_uncordoning
from commands.execution.plan import PlanState
from commands.models import CordonLease
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.incidents import an_open_incident
from tests.support.objects import inventory, node
from tests.support.rows import a_lease
from tests.support.yard import NOON, Yard

ELI = "eli"
HOUR = timedelta(hours=1)


@pytest.fixture
def nodes() -> Sequence[str]:
    return ("gpu-a04",)


async def the_lease(yard: Yard) -> CordonLease:
    async with yard.store.unit() as unit:
        (lease,) = await unit.rows(CordonLease).find()
    return lease


def until_of(yard: Yard) -> str:
    return (yard.cluster.inventory().nodes["gpu-a04"].metadata.annotations or {}).get(UNTIL, "")


async def cordoned(yard: Yard, line: str = "node cordon gpu-a04 --reason test --for 1h") -> None:
    plan = await yard.do(line)
    assert plan.state is PlanState.DONE, plan.error
    await yard.seen(lambda: bool(until_of(yard)))


async def test_a_second_cordon_extends_the_lease_and_its_undo_restores_the_end(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await cordoned(yard)
    before = await the_lease(yard)
    async with yard.store.unit() as unit:
        await unit.rows(CordonLease).put(replace(before, reminded_at=NOON + HOUR))
    yard.clock.move(2 * HOUR)
    plan = await yard.do("node cordon gpu-a04 --for 8h")
    assert (plan.title, plan.state) == ("Extend the cordon of gpu-a04", PlanState.DONE), plan.error
    lease = await the_lease(yard)
    assert (lease.until, lease.owner, lease.reason) == (NOON + 10 * HOUR, before.owner, "test")
    assert lease.reminded_at is None  # there will be another reminder
    await yard.seen(lambda: until_of(yard) == "2026-11-21T22:00:00Z")

    undone = await yard.do(f"plan undo {plan.id}")
    assert undone.state is PlanState.DONE, undone.error
    assert (await the_lease(yard)).until == NOON + HOUR
    await yard.seen(lambda: until_of(yard) == "2026-11-21T13:00:00Z")
    assert yard.cluster.inventory().nodes["gpu-a04"].spec.unschedulable


async def test_without_a_duration_it_says_how_to_extend_it(yard: Yard) -> None:
    await cordoned(yard)
    said = await yard.say("node cordon gpu-a04")
    assert said == "gpu-a04 is already cordoned by dana; node extend gpu-a04 --for 4h extends it."


async def test_the_cordon_of_others_is_not_extended(yard: Yard, kube: KubernetesLookalike) -> None:
    kube.patch("nodes", "", "gpu-a04", {"spec": {"unschedulable": True}})
    await yard.seen(lambda: bool(yard.cluster.inventory().nodes["gpu-a04"].spec.unschedulable))
    said = await yard.say("node cordon gpu-a04 --for 8h")
    assert said == "gpu-a04 is already cordoned by someone else."


async def test_a_node_with_a_reason_of_its_hardware_gets_no_uncordon_button_and_a_warning(yard: Yard) -> None:
    await cordoned(yard, 'node cordon gpu-a04 --reason "GPU fell off the bus"')
    assert "Uncordon" not in await yard.say("node show gpu-a04")
    said = await yard.say("node uncordon gpu-a04")
    assert "Careful with gpu-a04: it was cordoned because of its hardware: GPU fell off the bus." in said
    assert "[Confirm]" in said  # a person may know better


async def test_a_node_that_was_only_tested_gets_the_button(yard: Yard) -> None:
    await cordoned(yard)
    assert "[Uncordon] node uncordon gpu-a04" in await yard.say("node show gpu-a04")


OURS = {"yardmaster.io/cordoned-by": "dana", "yardmaster.io/cordon-reason": "short test"}
ABOUT = an_open_incident()  # about gpu-a04


@pytest.mark.parametrize(
    ("annotations", "allocatable", "ready", "incidents", "reason"),
    [
        pytest.param(OURS, 8, "True", [], "", id="nothing speaks against it"),
        pytest.param(OURS, 8, "True", [ABOUT], "incident i1 is open", id="an open incident"),
        pytest.param(OURS, 7, "True", [], "some of its GPUs are out of service", id="a broken GPU"),
        pytest.param(OURS, 8, "False", [], "it is not ready", id="not ready"),
        pytest.param({}, 8, "True", [], "someone else cordoned it", id="of others"),
        pytest.param(
            {**OURS, "yardmaster.io/cordon-incident": "i7"},
            8,
            "True",
            [],
            "for incident i7: first make sure that the fault has been repaired",
            id="for an incident that is over",
        ),
        pytest.param(
            {**OURS, "yardmaster.io/cordon-incident": "i1"},
            8,
            "True",
            [replace(ABOUT, subject=Subject(cluster="c", rack="r1"))],
            "incident i1 is open",
            id="for an incident of its rack that is open",
        ),
        pytest.param(
            {**OURS, "yardmaster.io/cordon-reason": "XID 79"},
            8,
            "True",
            [],
            "its hardware: XID 79",
            id="hardware",
        ),
        pytest.param(
            {
                **OURS,
                "yardmaster.io/cordon-reason": "volume vision/failed-disk is frozen",
                "yardmaster.io/cordon-volume": "vision/failed-disk",
            },
            8,
            "True",
            [],
            "",
            id="a volume whose name sounds like hardware",
        ),
    ],
)
def test_what_speaks_against_lifting_a_cordon(
    annotations: dict[str, str], allocatable: int, ready: str, incidents: list[Incident], reason: str
) -> None:
    status = {
        "allocatable": {"nvidia.com/gpu": str(allocatable)},
        "conditions": [{"type": "Ready", "status": ready}],
    }
    seen = node("gpu-a04", spec={"unschedulable": True}, annotations=annotations, status=status)
    found = against_uncordoning(seen, incidents)
    assert reason in found
    assert bool(found) == bool(reason)
    lease = a_lease(NOON, "gpu-a04", id="c/gpu-a04", cluster="c", owner="U", reason="r", until=NOON)
    words, buttons = reminder(lease, node_now(seen, inventory(seen), incidents))
    if not annotations:
        assert [button.line for button in buttons] == ["node uncordon gpu-a04 --cluster c"]
        assert "somebody else removed it" in plain(words)
        return
    assert [button.line for button in buttons] == [
        *([] if reason else ["node uncordon gpu-a04 --cluster c"]),
        "node extend gpu-a04 --for 4h --cluster c",
    ]
    assert (f"Do not uncordon it yet: {found}." in plain(words)) == bool(reason)
