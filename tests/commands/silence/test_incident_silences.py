"""A silence of an incident covers whatever belongs to it, for a while or until it is over."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from alerts.cards.incident_card import incident_card
from alerts.incidents.incident import Incident
from alerts.rules import Severity
from alerts.silences import Silence
from commands.incident.card_context import incident_context
from tests.support.alerting import an_alert
from tests.support.incident_yard import stored, yard_with
from tests.support.incidents import an_open_incident
from tests.support.yard import Yard, text_of

ALERT = an_alert(on={"node": "gpu-a01"})
INCIDENT = an_open_incident(ALERT)


async def shown(yard: Yard) -> str:
    """The card as it is now."""
    incident = await stored(yard)
    async with yard.store.read() as snapshot:
        context = await incident_context(incident, snapshot, rules={}, now=yard.clock.now())
    return text_of(incident_card(incident, context=context, now=yard.clock.now()))


async def test_an_incident_is_silenced_for_an_hour(tmp_path: Path) -> None:
    async with yard_with(tmp_path, INCIDENT, ALERT) as yard:
        assert "mutes incident i1 for 1 h" in await yard.say("silence incident i1 --for 1h")
        assert "silenced until 2026-11-21 13:00 UTC" in await shown(yard)
        assert "incident i1" in await yard.say("silence list")
        yard.clock.move(timedelta(hours=1))
        assert "silenced" not in await shown(yard)


async def test_a_silence_until_it_is_over_names_no_end(tmp_path: Path) -> None:
    async with yard_with(tmp_path, INCIDENT, ALERT) as yard:
        assert "mutes incident i1 until it is over" in await yard.say("silence incident i1")
        assert "silenced until it is over" in await shown(yard)
        assert "until it is over" in await yard.say("silence list")


async def test_its_alerts_are_listed_as_before_and_others_are_not_covered(tmp_path: Path) -> None:
    async with yard_with(tmp_path, INCIDENT, ALERT) as yard:
        await yard.say("silence incident i1")
        async with yard.store.read() as snapshot:
            (silence,) = await snapshot.rows(Silence).find()
        assert not silence.covers(ALERT.labels, yard.clock.now())
        assert silence.covers_incident(INCIDENT, yard.clock.now())
        assert not silence.covers_incident(replace(INCIDENT, id="i2"), yard.clock.now())


async def test_a_worse_incident_is_no_longer_silenced(tmp_path: Path) -> None:
    async with yard_with(tmp_path, INCIDENT, ALERT) as yard:
        said = await yard.say("silence incident i1")
        assert "unless it becomes worse" in said
        async with yard.store.unit() as unit:
            await unit.rows(Incident).put(replace(INCIDENT, severity=Severity.CRITICAL))
        assert "silenced" not in await shown(yard)
        await yard.say("silence incident i1")  # somebody who has seen it may silence it again
        assert "silenced until it is over" in await shown(yard)


async def test_it_is_expired_like_any_other(tmp_path: Path) -> None:
    async with yard_with(tmp_path, INCIDENT, ALERT) as yard:
        await yard.say("silence incident i1")
        assert "Silence s1 expired: incident i1" in await yard.say("silence expire s1")
        assert "silenced" not in await shown(yard)
