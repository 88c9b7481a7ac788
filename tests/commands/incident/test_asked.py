"""The card of an incident about idle GPUs says whom the open requests ask, and until when."""

from dataclasses import replace
from pathlib import Path

import pytest

from alerts.cards.incident_card import incident_card
from alerts.incidents.incident import Impact
from alerts.rules import ImpactScope
from commands.incident.card_context import incident_context
from commands.models import ReclaimRequest, ReclaimState
from tests.support.alerting import an_alert
from tests.support.incident_yard import stored, yard_with
from tests.support.incidents import an_open_incident
from tests.support.rows import a_request
from tests.support.yard import NOON, text_of

ALERT = an_alert(on={"node": "gpu-a01"})
REQUEST = a_request(NOON, training="speech-tts/tts", owner="bo", owner_id="U_BO")
ASKED = "Asked: bo until 2026-11-21 12:30 UTC"


@pytest.mark.parametrize(
    ("scope", "request_", "is_shown"),
    [
        pytest.param(ImpactScope.HOLDER, REQUEST, True, id="it holds idle GPUs"),
        pytest.param(ImpactScope.SUBJECT, REQUEST, False, id="it is broken"),
        pytest.param(ImpactScope.HOLDER, replace(REQUEST, state=ReclaimState.KEPT), False, id="answered"),
        pytest.param(ImpactScope.HOLDER, replace(REQUEST, training="a/b"), False, id="of another training"),
    ],
)
async def test_an_open_request_is_on_the_card_of_the_idle_gpus(
    tmp_path: Path, scope: ImpactScope, request_: ReclaimRequest, is_shown: bool
) -> None:
    incident = replace(
        an_open_incident(ALERT), impacts=(Impact(training="speech-tts/tts", owner="bo", gpus=8, scope=scope),)
    )
    async with yard_with(tmp_path, incident, ALERT) as yard:
        async with yard.store.unit() as unit:
            await unit.rows(ReclaimRequest).put(request_)
        found = await stored(yard)
        async with yard.store.read() as snapshot:
            context = await incident_context(found, snapshot, rules={}, now=yard.clock.now())
    assert (ASKED in text_of(incident_card(found, context=context, now=NOON))) == is_shown
