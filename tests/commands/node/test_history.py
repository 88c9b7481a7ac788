"""`node history` shows which nodes broke how often, and how long repairs took."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from alerts.incidents.events import IncidentEventType
from alerts.incidents.incident import Incident
from tests.support.alerting import an_alert, minutes
from tests.support.incidents import an_open_incident
from tests.support.yard import Yard, yard_on


def over(node: str, number: int, lasted: float) -> Incident:
    alert = an_alert("GPUMissing", severity="critical", on={"node": node})
    opened = replace(an_open_incident(alert), id=f"{node}-{number}")
    ended = opened.opened_at + minutes(lasted)
    return replace(opened, resolved_at=ended).with_event(IncidentEventType.RESOLVED, ended)


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_on(tmp_path, "gpu-a01", "gpu-a02") as yard:
        yield yard


async def stored(yard: Yard) -> None:
    async with yard.store.unit() as unit:
        for incident in (
            over("gpu-a01", 1, 30),
            *(over("gpu-a02", number, 60 * number) for number in (1, 2, 3)),
        ):
            await unit.rows(Incident).put(incident)


async def test_the_node_that_broke_most_comes_first(yard: Yard) -> None:
    await stored(yard)
    reply = await yard.say("node history")

    assert "gpu-a02 | 3 | 6 h | GPUMissing" in reply
    assert reply.index("gpu-a02 | 3") < reply.index("gpu-a01 | 1")
    assert "GPUMissing | 4 | 1 h 30 min" in reply
    assert "1 node broke 3 times or more" in reply


async def test_one_node_has_its_own_outages(yard: Yard) -> None:
    await stored(yard)
    reply = await yard.say("node history gpu-a01")

    assert "gpu-a01-1 | GPUMissing" in reply
    assert "30 min" in reply
    assert "gpu-a02" not in reply


async def test_without_outages_it_says_so(yard: Yard) -> None:
    assert "No critical incident of a node is stored" in await yard.say("node history")
