"""A failed training keeps its cause: while it exists, after its incident is over, and for a day after it is gone."""

from dataclasses import replace
from datetime import timedelta

from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from collectors.trainings.training import Rank
from commands.models import TrainingNotice
from tests.support.alerting import a_topology, an_alert
from tests.support.grouping import add_alert
from tests.support.rows import a_notice
from tests.support.yard import ANA, CLUSTER, NOON, Yard

FIRST = Rank(role="worker", index=0, pod="asr-0", node="gpu-a02", exit_code=1)
ON_IT = Rank(role="worker", index=7, pod="asr-7", node="gpu-a01", exit_code=134)
NOTICE = a_notice(NOON, cluster=CLUSTER, failures=(FIRST, ON_IT), nodes=("gpu-a01", "gpu-a02"))


def a_resolved_incident() -> Incident:
    alert = an_alert(
        "GPUXIDError", at=NOON, severity="critical", summary="GPU 3 on gpu-a01 fell off the bus."
    )
    grouping = GroupingContext(rules={}, topology=a_topology())
    found = add_alert(open_incident("i3", alert, channels=("C1",), now=NOON), alert, grouping, NOON)
    return replace(found, resolved_at=NOON + timedelta(minutes=20))


async def with_rows(yard: Yard, *rows: TrainingNotice | Incident) -> Yard:
    async with yard.store.unit() as unit:
        for row in rows:
            await unit.rows(type(row)).put(row)
    return yard


async def test_what_is_gone_is_shown_with_the_cause_and_the_node_of_the_cause(yard: Yard) -> None:
    await with_rows(yard, NOTICE, a_resolved_incident())
    yard.clock.move(timedelta(hours=2))

    for name in ("detr", "vision/detr", "vision/Job/detr"):
        said = await yard.say(f"training show {name}", ANA)
        assert "failed, and no longer in the cluster" in said
        assert (
            "GPU 3 on gpu-a01 fell off the bus, from 2026-11-21 12:00 UTC to 2026-11-21 12:20 UTC (i3)"
            in said
        )
        assert "First failure: worker 7 on gpu-a01: exit code 134" in said
        assert "[Show i3] incident show i3" in said


async def test_after_a_day_it_is_unknown_again(yard: Yard) -> None:
    await with_rows(yard, NOTICE)
    yard.clock.move(timedelta(hours=25))
    assert "There is no training detr" in await yard.say("training show detr", ANA)


async def test_home_shows_it_to_its_owner_alone(yard: Yard) -> None:
    await with_rows(yard, NOTICE, a_resolved_incident())
    yard.clock.move(timedelta(hours=2))

    assert "GPU 3 on gpu-a01 fell off the bus" in await yard.say("home", ANA)
    assert "vision/detr" not in await yard.say("home")


async def test_a_gang_that_only_waited_has_not_failed(yard: Yard) -> None:
    await with_rows(yard, replace(NOTICE, failed_at=None))
    assert "There is no training detr" in await yard.say("training show detr", ANA)
    assert "Your trainings that failed" not in await yard.say("home", ANA)
