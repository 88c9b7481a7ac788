"""The pages of an incident's alerts: those of its document, then its rows, each once."""

import re
from dataclasses import replace
from pathlib import Path

from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.incidents.incident_draft import IncidentDraft
from alerts.incidents.member_rows import incident_write, whole_ones, write_incident
from alerts.incidents.shortening import KEPT
from alerts.rules import Rule
from collectors.facts.stepwise import result_of
from commands.incident.alert_page import PAGE
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes, resolved
from tests.support.incident_yard import yard_with

MANY = KEPT + 2 * PAGE + 5
RULES: dict[str, Rule] = {a_rule("Lost").id: a_rule("Lost")}


def a_storm() -> Incident:
    """Return an incident of many alerts that fire without data, and of some that ended."""
    draft: IncidentDraft | None = None
    for number in range(MANY):
        alert = an_alert("Lost", node="gpu-a01", gpu=str(number), summary=f"GPU {number} is lost.")
        alert = replace(alert, unseen_since=NOON)
        if draft is None:
            opened = open_incident("i1", alert, channels=("slack:C1",), now=NOON)
            draft = IncidentDraft(opened, GroupingContext(rules=RULES, topology=a_topology()))
        draft.add(alert, NOON)
        if number % 10 == 0:
            draft.add(resolved(alert, NOON + minutes(1)), NOON + minutes(1))
    assert draft is not None
    return draft.incident


async def test_each_alert_is_on_one_page(tmp_path: Path) -> None:
    async with yard_with(tmp_path) as yard:
        async with yard.store.unit() as unit:
            await write_incident(unit, result_of(incident_write(a_storm(), None, None)))
        pages = [await yard.say(f"incident show i1 --page {number}") for number in range(1, 8)]
        beyond = await yard.say("incident show i1 --page 8")
        card = await yard.say("incident show i1")

    listed = [number for page in pages for number in re.findall(r"GPU (\d+) is lost", page)]
    assert sorted(map(int, listed)) == list(range(MANY))
    assert "page 7 of 7" in pages[-1]
    assert "incident show i1 --page 2" in pages[0]
    assert "has 7 pages of alerts" in beyond
    assert f"It has {MANY} alerts: incident show i1 --page 1 lists them." in card


async def test_a_word_is_about_all_of_its_alerts(tmp_path: Path) -> None:
    async with yard_with(tmp_path) as yard:
        async with yard.store.unit() as unit:
            await write_incident(unit, result_of(incident_write(a_storm(), None, None)))
        await yard.say("incident resolve i1 --reason 'it is well'")
        async with yard.store.read() as snapshot:
            (whole,) = await whole_ones(await snapshot.rows(Incident).find(), snapshot)

    assert len(whole.members) == MANY
    assert all(member.proven for member in whole.members if member.is_firing)
