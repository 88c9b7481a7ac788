"""The webhook's body: Alertmanager's version 4 and the incident, and which changes are worth a post."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from alerts.alert import Alert
from alerts.cards.incident_context import IncidentContext
from alerts.cards.incident_facts import MAX_ALERTS
from alerts.cards.message import Message
from alerts.incidents.events import IncidentEventType
from alerts.incidents.incident import Impact
from alerts.lifecycle import AlertState
from bot.channels.webhook.payload import MAX_BODY, payload_of
from bot.delivery.card_entries import digest_of
from collectors.facts.labels import Labels
from tests.support.incidents import an_open_incident, message_of, resolved
from tests.support.rows import NOON, an_alert

HOT = replace(an_alert("gpu-a04"), annotations={"summary": "gpu-a04 is hot", "runbook_url": "https://r/hot"})
FAN = replace(
    an_alert("gpu-a04"),
    rule="gpu/heat/GPUFanFailed",
    labels=Labels({"alertname": "GPUFanFailed", "node": "gpu-a04", "severity": "warning"}),
    annotations={"summary": "its fan stands still", "runbook_url": "https://r/hot"},
)


def body_of(message: Message) -> dict[str, Any]:
    assert message.facts is not None
    body: dict[str, Any] = json.loads(payload_of(message.facts, receiver="night"))
    return body


def test_a_firing_incident() -> None:
    body = body_of(message_of(an_open_incident(HOT, FAN), HOT, FAN))
    assert {key: body[key] for key in ("version", "status", "receiver", "truncatedAlerts", "groupKey")} == {
        "version": "4",
        "status": "firing",
        "receiver": "night",
        "truncatedAlerts": 0,
        "groupKey": "lab/node/gpu-a04",
    }
    assert body["commonLabels"] == {"cluster": "lab", "node": "gpu-a04", "severity": "warning"}
    assert body["commonAnnotations"] == {"runbook_url": "https://r/hot"}
    assert body["groupLabels"]["node"] == "gpu-a04"
    (hot,) = (one for one in body["alerts"] if one["labels"]["alertname"] == "GPUTemperatureHigh")
    assert hot["status"] == "firing"
    assert hot["annotations"]["summary"] == "gpu-a04 is hot"
    assert hot["endsAt"] == "0001-01-01T00:00:00Z"
    assert len(hot["fingerprint"]) == 16
    assert (body["incident"]["id"], body["incident"]["state"], body["incident"]["phase"]) == (
        "i1",
        "open",
        "firing",
    )


def test_a_resolved_incident_has_the_same_group_and_ended_alerts() -> None:
    firing, over = (
        body_of(message_of(one, HOT)) for one in (an_open_incident(HOT), resolved(an_open_incident(HOT)))
    )
    assert over["groupKey"] == firing["groupKey"]
    assert (over["status"], over["incident"]["phase"]) == ("resolved", "resolved")
    assert [one["fingerprint"] for one in over["alerts"]] == [one["fingerprint"] for one in firing["alerts"]]
    assert {one["status"] for one in over["alerts"]} == {"resolved"}
    assert datetime.fromisoformat(over["alerts"][0]["endsAt"]) == NOON + timedelta(minutes=5)


def test_a_large_incident_is_cut_and_says_so() -> None:
    many = [
        replace(HOT, labels=Labels({"alertname": "A", "node": "gpu-a04", "gpu": str(number)}))
        for number in range(MAX_ALERTS + 20)
    ]
    body = body_of(message_of(an_open_incident(*many), *many))
    assert (len(body["alerts"]), body["truncatedAlerts"]) == (MAX_ALERTS, 20)


def test_an_alert_that_is_no_longer_stored_has_what_its_incident_remembers() -> None:
    body = body_of(message_of(an_open_incident(HOT)))
    assert body["alerts"][0]["labels"] == {
        "cluster": "lab",
        "alertname": "GPUTemperatureHigh",
        "severity": "warning",
    }
    assert body["alerts"][0]["annotations"] == {"summary": "gpu-a04 is hot"}


def test_alerts_of_two_clusters_are_two_even_if_nothing_else_tells_them_apart() -> None:
    """A receiver would take the end of one for the end of the other."""
    elsewhere = replace(HOT, cluster="prod")
    (here,), (there,) = (
        body_of(message_of(an_open_incident(one), one))["alerts"] for one in (HOT, elsewhere)
    )
    assert here["fingerprint"] != there["fingerprint"]
    assert (here["labels"]["cluster"], there["labels"]["cluster"]) == ("lab", "prod")


def test_an_alert_that_is_about_to_fire_again_ended_after_it_began() -> None:
    """Its row has a new life already, which its incident does not know."""
    incident = resolved(an_open_incident(HOT))
    later = NOON + timedelta(hours=1)
    again = replace(HOT, life=replace(HOT.life, state=AlertState.PENDING, since=later, fired_at=None))
    (alert,) = body_of(message_of(incident, again))["alerts"]
    assert datetime.fromisoformat(alert["startsAt"]) == NOON
    assert datetime.fromisoformat(alert["endsAt"]) == NOON + timedelta(minutes=5)


def test_hostile_text_stays_one_line() -> None:
    hostile = replace(HOT, annotations={"summary": "hot\n\u202eApproved\x00"})
    body = body_of(message_of(an_open_incident(hostile), hostile))
    assert body["alerts"][0]["annotations"]["summary"].isprintable()
    assert body["incident"]["title"].isprintable()


def test_hostile_names_stay_one_line() -> None:
    node = "gpu-a04\n\u202eApproved"
    hostile = an_alert(node)
    impact = Impact(training="ml/\u202etrain\n")
    incident = replace(
        an_open_incident(hostile), impacts=(impact,), acknowledged_by="U1", acknowledged_by_name="Ann\u202e\n"
    )
    body = body_of(message_of(incident, hostile))
    assert body["groupLabels"]["node"] == body["commonLabels"]["node"]
    shown = [*body["groupLabels"].values(), *body["incident"]["affected"], body["incident"]["acknowledgedBy"]]
    assert [one for one in shown if not one.isprintable()] == []


def test_a_body_is_cut_to_what_receivers_take() -> None:
    long = {"summary": "s", "description": "d" * 7_000, "runbook": "r" * 7_000}
    many = [
        replace(HOT, labels=HOT.labels.with_(gpu=str(number)), annotations=long)
        for number in range(MAX_ALERTS + 20)
    ]
    message = message_of(an_open_incident(*many), *many)
    assert message.facts is not None
    raw = payload_of(message.facts, receiver="night")
    body = json.loads(raw)
    assert len(raw) <= MAX_BODY
    assert len(body["alerts"]) > 10
    assert len(body["alerts"]) + body["truncatedAlerts"] == len(many)


def test_links_of_the_settings_are_filled_in() -> None:
    context = IncidentContext(links={"grafana": "https://g/d/{node}", "rack": "https://g/{rack}"})
    body = body_of(message_of(an_open_incident(HOT), HOT, context=context))
    assert body["incident"]["links"] == {"grafana": "https://g/d/gpu-a04"}


def changes(before: Message, after: Message) -> bool:
    return digest_of(before) != digest_of(after)


def test_a_new_value_or_text_is_not_worth_a_post() -> None:
    first = message_of(an_open_incident(HOT), HOT)
    warmer = replace(HOT, value=99.0, annotations={"summary": "gpu-a04 is hotter"})
    assert not changes(first, message_of(an_open_incident(warmer), warmer))


def test_what_a_reader_must_know_is_worth_a_post() -> None:
    incident = an_open_incident(HOT)
    first = message_of(incident, HOT)
    fan_over: Alert = replace(FAN, life=replace(FAN.life, state=AlertState.RESOLVED, resolved_at=NOON))
    both, one_over = an_open_incident(HOT, FAN), an_open_incident(HOT, FAN, fan_over)
    assert changes(first, message_of(both, HOT, FAN))
    assert changes(message_of(both, HOT, FAN), message_of(one_over, HOT, fan_over))
    assert changes(first, message_of(resolved(incident, timedelta(hours=1)), HOT))
    acknowledged = replace(
        incident.with_event(IncidentEventType.ACKNOWLEDGED, NOON, who="U1"), acknowledged_by="U1"
    )
    assert changes(first, message_of(acknowledged, HOT))
