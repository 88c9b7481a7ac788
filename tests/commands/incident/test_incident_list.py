"""`incident list` says what each incident is, the worst first, and open ones before resolved ones."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from alerts.incidents.incident import Incident
from tests.support.alerting import an_alert
from tests.support.incident_yard import yard_with
from tests.support.incidents import an_open_incident, resolved
from tests.support.rows import NOON


def incident(id: str, severity: str, summary: str, **more: object) -> Incident:
    made = an_open_incident(an_alert(severity=severity, summary=summary, on={"node": "gpu-a01"}), id=id)
    return replace(made, **more)  # type: ignore[arg-type]


OLD = incident("i1", "warning", "gpu-a01 is warm.", opened_at=NOON - timedelta(hours=2))
NEW = incident("i2", "warning", "It is hot.", acknowledged_by="U1", acknowledged_by_name="dana")
WORST = incident("i3", "critical", "gpu-a01 lost a GPU.")
OVER = resolved(incident("i4", "critical", "gpu-a01 was away."))


def ids(reply: str) -> list[str]:
    return [
        line.partition(" | ")[0] for line in reply.splitlines() if line.startswith("i") and " | " in line
    ][1:]


async def test_the_worst_come_first_and_each_says_what_it_is(tmp_path: Path) -> None:
    async with yard_with(tmp_path, OLD, NEW, WORST, OVER) as yard:
        reply = await yard.say("incident list")
        assert ids(reply) == ["i3", "i1", "i2"]
        assert "i3 | critical | gpu-a01 lost a GPU | " in reply
        assert "It is hot (gpu-a01) | " in reply  # the place, where the words lack it
        assert "| dana" in reply


async def test_resolved_ones_come_after_the_open_ones(tmp_path: Path) -> None:
    async with yard_with(tmp_path, OLD, NEW, WORST, OVER) as yard:
        assert ids(await yard.say("incident list --all")) == ["i3", "i2", "i1", "i4"]
