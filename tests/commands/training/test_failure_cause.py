"""A training that died joins the incident of its node: probably not your code, and again elsewhere."""

from dataclasses import replace

import pytest

from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.rules import Severity
from collectors.trainings.training import Rank
from commands.execution.plan import Plan
from commands.training.failure_blocks import shown_failure
from commands.training.failure_cause import (
    Death,
    again_elsewhere,
    cause_of,
    cause_text,
    death_of_launch,
    suspected_node,
)
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.alerting import CLUSTER, NOON, a_topology, an_alert, minutes
from tests.support.execution import plan_of
from tests.support.grouping import add_alert
from tests.support.memory_store import MemoryStore
from tests.support.rows import a_launch
from tests.support.yard import ANA, Yard

FAILED = a_launch(NOON - minutes(60), training="vision/onbad", failed_at=NOON, failed_on="gpu-a01")


def incident_of(*, severity: str = "critical", opened: float = 0, ended: float | None = None) -> Incident:
    alert = an_alert("GPUXIDError", severity=severity, summary="GPU 3 on gpu-a01 reported XID 79.")
    at = NOON + minutes(opened)
    grouping = GroupingContext(rules={}, topology=a_topology())
    found = add_alert(open_incident("i1", alert, channels=("C1",), now=at), alert, grouping, at)
    return found if ended is None else replace(found, resolved_at=NOON + minutes(ended))


@pytest.mark.parametrize(
    ("incident", "is_cause"),
    [
        pytest.param(incident_of(), True, id="critical, at that time"),
        pytest.param(incident_of(opened=4), True, id="seen a little later"),
        pytest.param(incident_of(opened=-600), True, id="open for long"),
        pytest.param(incident_of(opened=-60, ended=-3), True, id="it ended just before"),
        pytest.param(incident_of(opened=30), False, id="much later"),
        pytest.param(incident_of(opened=-60, ended=-30), False, id="over long before"),
        pytest.param(incident_of(severity="warning"), False, id="only a warning"),
    ],
)
async def test_the_cause_is_the_critical_incident_of_its_node_at_that_time(
    incident: Incident, is_cause: bool
) -> None:
    store = MemoryStore()
    async with store.unit() as unit:
        await unit.rows(Incident).put(incident)
        await unit.rows(Incident).put(
            replace(incident, id="i2", group_key="node/gpu-a02", severity=Severity.CRITICAL)
        )
    async with store.read() as snapshot:
        found = await cause_of(death_of_launch(FAILED, None), snapshot)

    assert (found.id if found else None) == ("i1" if is_cause else None)


@pytest.mark.parametrize(
    ("death", "is_cause"),
    [
        pytest.param(Death(cluster=CLUSTER, at=NOON, nodes=("gpu-d02",)), False, id="another node"),
        pytest.param(Death(cluster=CLUSTER, at=NOON, nodes=("gpu-d02", "gpu-a01")), True, id="together"),
        pytest.param(
            Death(cluster=CLUSTER, at=NOON, nodes=("gpu-d02",), others=("gpu-a01", "gpu-d02")),
            True,
            id="a task that is not yet known to have ended",
        ),
        pytest.param(
            Death(cluster=CLUSTER, at=NOON + minutes(60), nodes=("gpu-d02",), others=("gpu-a01",)),
            False,
            id="a fault of the gang that it ran with for long",
        ),
    ],
)
async def test_the_cause_may_be_on_the_node_of_any_task_of_its_gang(death: Death, is_cause: bool) -> None:
    store = MemoryStore()
    async with store.unit() as unit:
        await unit.rows(Incident).put(incident_of())
    async with store.read() as snapshot:
        found = await cause_of(death, snapshot)

    assert (found is not None) == is_cause


def test_the_task_on_the_node_of_the_cause_is_named_and_not_merely_the_first() -> None:
    first = Rank(role="worker", index=0, pod="p0", node="gpu-d02")
    on_it = Rank(role="worker", index=7, pod="p7", node="gpu-a01")

    def shown(found: Rank | None, incident: Incident | None, *others: Rank) -> Rank | None:
        return shown_failure(found, "", "", incident, others).first

    assert shown(None, incident_of(), first, on_it) == on_it
    assert shown(None, None, first, on_it) == first
    assert shown(first, incident_of(), first, on_it) == first  # by what it said itself
    assert shown(None, incident_of()) is None


def test_the_cause_is_said_with_its_time_and_incident() -> None:
    said = "Probably not your code: GPU 3 on gpu-a01 reported XID 79, since 2026-03-02 12:00 UTC (i1)"

    assert plain(cause_text(incident_of())) == said


@pytest.mark.parametrize(
    ("rank", "node"),
    [
        (None, ""),
        (Rank(role="worker", index=0, pod="p", node="gpu-a01", exit_code=134), "gpu-a01"),
        (Rank(role="worker", index=0, pod="p", node="gpu-a01", exit_code=137, reason="OOMKilled"), ""),
    ],
)
def test_a_task_that_exceeds_its_own_memory_has_no_other_cause(rank: Rank | None, node: str) -> None:
    assert suspected_node(rank) == node


@pytest.mark.parametrize(
    ("line", "again"),
    [
        (
            "training launch onbad --image r/x:1 --workers 2 -- --epochs 3",
            "training launch onbad-2 --not-on gpu-a01 --image r/x:1 --workers 2 -- --epochs 3",
        ),
        ("training launch onbad-2 --image r/x:1", "training launch onbad-3 --not-on gpu-a01 --image r/x:1"),
        ("training launch --image r/x:1 onbad", None),
        ("training stop onbad", None),
    ],
)
def test_it_is_launched_again_under_another_name_without_that_node(line: str, again: str | None) -> None:
    button = again_elsewhere(incident_of(), replace(plan_of(), line=line))

    assert (button.line if button else None) == again


def test_what_an_uploaded_script_ran_cannot_be_launched_by_its_line() -> None:
    uploaded: Plan = replace(plan_of(), line="training launch x --image r/x:1", is_fixed=True)

    assert again_elsewhere(incident_of(), uploaded) is None


async def test_a_node_that_is_left_out_runs_none_of_its_tasks(yard: Yard, kube: KubernetesLookalike) -> None:
    line = "training launch mnist --image registry.example/vision/mnist:7 --gpus 8 --workers"
    refused = await yard.say(f"{line} 2 --not-on gpu-a01", ANA)
    assert "room for 1 of 2 workers" in refused
    assert "left out by --not-on: gpu-a01" in refused

    await yard.do(f"{line} 1 --not-on gpu-a01", ANA)

    job = kube.get("jobs", "mnist", "mnist-worker")
    assert job is not None
    (term,) = job["spec"]["template"]["spec"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]["nodeSelectorTerms"]
    assert term["matchFields"] == [{"key": "metadata.name", "operator": "NotIn", "values": ["gpu-a01"]}]
