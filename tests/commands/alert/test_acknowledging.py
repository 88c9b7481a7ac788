"""Acknowledgements of an incident: taking it, handing it over, giving it back; the thread says so each time."""

from dataclasses import replace
from pathlib import Path

import pytest

from alerts.cards.event_words import event_text
from alerts.cards.sentence_spans import expanded
from alerts.cards.text import Span, Style, plain
from alerts.incidents.events import IncidentEvent
from commands.core.context import Defaults
from tests.support.alerting import an_alert
from tests.support.incident_yard import stored, yard_with
from tests.support.incidents import an_open_incident, resolved
from tests.support.yard import DANA, Yard

INCIDENT = an_open_incident(an_alert(on={"node": "gpu-a01"}))
OWNERS = Defaults(owners={"eli": "U0ELI00000"})


async def last_event(yard: Yard) -> IncidentEvent:
    return (await stored(yard)).events[-1]


async def test_an_incident_is_handed_to_a_mentioned_person(tmp_path: Path) -> None:
    async with yard_with(tmp_path, INCIDENT, policy=OWNERS) as yard:
        await yard.say("alert ack i1")
        assert "You handed incident i1 over to eli." in await yard.say("alert hand-over i1 U0ELI00000")
        assert (await stored(yard)).acknowledged_by == "U0ELI00000"
        said = event_text(await stored(yard), await last_event(yard))
        assert plain(said) == "Handed over to eli by dana."
        assert Span("eli", Style.PERSON, "U0ELI00000") in expanded(said)


async def test_an_owner_may_be_named_as_in_the_cluster(tmp_path: Path) -> None:
    async with yard_with(tmp_path, INCIDENT, policy=OWNERS) as yard:
        await yard.say("alert hand-over i1 @eli")
        assert (await stored(yard)).acknowledged_by == "U0ELI00000"


async def test_a_taken_back_acknowledgement_leaves_it_to_everybody(tmp_path: Path) -> None:
    async with yard_with(tmp_path, INCIDENT) as yard:
        await yard.say("alert ack i1")
        assert "waits for somebody again" in await yard.say("alert unack i1")
        assert (await stored(yard)).acknowledged_by == ""
        said = event_text(await stored(yard), await last_event(yard))
        assert plain(said) == "Acknowledgement taken back by dana."
        assert "You acknowledged" in await yard.say("alert ack i1")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param("alert unack i1", "Nobody has acknowledged incident i1", id="nobody has it"),
        pytest.param("alert hand-over i1 somebody", "Type @ and choose the person", id="nobody we know"),
        pytest.param("alert hand-over i1 U_DANA", "Type @ and choose the person", id="no id of a chat"),
        pytest.param("alert hand-over i9 U0ELI00000", "There is no open incident i9", id="no incident"),
    ],
)
async def test_what_cannot_be_is_refused_with_the_reason(tmp_path: Path, line: str, words: str) -> None:
    async with yard_with(tmp_path, INCIDENT) as yard:
        assert words in await yard.say(line)
        assert (await stored(yard)).acknowledged_by == ""


@pytest.mark.parametrize("line", ["alert unack i1", "alert hand-over i1 U0ELI00000", "silence incident i1"])
async def test_nobody_hands_over_a_resolved_incident(tmp_path: Path, line: str) -> None:
    over = resolved(replace(INCIDENT, acknowledged_by=DANA.id))
    async with yard_with(tmp_path, over) as yard:
        assert "already resolved" in await yard.say(line)
