"""Replies in a card's thread say what the card says, with the buttons that are still of use."""

from dataclasses import replace

from alerts.cards.desired_cards import desired_cards
from alerts.cards.headline import headline
from alerts.cards.incident_context import IncidentContext
from alerts.cards.message import Button, Color, Message
from alerts.cards.posted import ThreadReply
from alerts.cards.text import Span, bold, plain, text
from alerts.incidents.grouping import hand_over
from alerts.incidents.incident import Incident
from tests.alerts.cards.node_incidents import (
    RULES,
    STORAGE,
    XID,
    XID_ALERT,
    after,
    formatted,
    incident_of,
    logged,
    over,
    unmap,
)
from tests.support.alerting import NOON, an_alert, minutes
from tests.support.incidents import replies_to
from tests.support.rows import a_card, a_line


def test_data_loss_is_broadcast_in_an_incident_that_is_critical_already() -> None:
    about = logged("VolumeAboutToBeFormatted")
    rules = {**STORAGE, about.id: about}
    critical = an_alert("VolumeAboutToBeFormatted", severity="critical", node="gpu-a01")
    incident = incident_of(unmap(device="/dev/rbd1"), critical, formatted(), rules=rules)
    (card,) = desired_cards(incident, {})

    replies = replies_to(incident, [card], IncidentContext(rules=rules))

    assert [reply.broadcast for reply in replies] == [True, True]
    assert plain(replies[-1].text).startswith("It got worse: DATA LOSS on gpu-a01")
    assert replies[-1].buttons


def test_a_broadcast_says_what_the_card_says_also_when_something_else_happened_at_the_same_moment() -> None:
    rule = logged("VolumeAboutToBeFormatted")
    rule = replace(rule, template=replace(rule.template, actions=("node cordon {node}",)))
    rules = {**STORAGE, rule.id: rule}
    critical = an_alert("VolumeAboutToBeFormatted", severity="critical", node="gpu-a01")
    other = an_alert("VolumeMountFailed", severity="info", node="gpu-a01")
    incident = incident_of(unmap(device="/dev/rbd1"), critical, other, rules=rules)
    (card,) = desired_cards(incident, {})

    (reply,) = replies_to(incident, [card], IncidentContext(rules=rules))

    assert [event.type.value for event in incident.events[-2:]] == ["severity_raised", "alert_added"]
    said = plain(reply.text).split("\n")
    assert said[0] == f"Severity raised to critical: {headline(incident)}"
    content = reply.content(has_buttons=True)
    assert isinstance(content, Message)
    assert content.color is Color.CRITICAL
    assert len(said) == 3
    assert "node cordon gpu-a01" in [button.line for button in reply.buttons]


def replies_of(incident: Incident) -> list[ThreadReply]:
    (card,) = desired_cards(incident, {})
    return replies_to(incident, [card], IncidentContext(rules=RULES))


def test_a_reopened_incident_is_broadcast_with_the_first_lines_and_the_buttons() -> None:
    rules = {XID.id: replace(XID, template=replace(XID.template, actions=("node cordon {node}",)))}
    again = replace(XID_ALERT, life=replace(XID_ALERT.life, since=NOON + minutes(20)))
    reopened = after(over(incident_of(XID_ALERT)), again)
    (card,) = desired_cards(reopened, {})

    *_, reply = replies_to(reopened, [card], IncidentContext(rules=rules))

    assert reply.broadcast
    assert plain(reply.text).split("\n") == [
        "Reopened: GPU 3 on gpu-a01 reported XID 79 (2 times in 20 min, 12 min in all)",
        "On this node: vision/detr 16 GPUs, ana",
        "Next: Cordon gpu-a01",
    ]
    assert [one.line for one in reply.buttons] == ["node cordon gpu-a01", "alert ack i1"]


def test_a_reply_is_a_message_with_buttons_where_the_channel_has_them() -> None:
    (resolved_reply,) = replies_of(over(incident_of(XID_ALERT)))
    reply = replace(resolved_reply, buttons=(Button(label="Show", line="node show gpu-a01"),))

    shown = reply.content(has_buttons=True)

    assert isinstance(shown, Message)
    assert shown.notification == plain(reply.text)
    assert plain(shown.title) == plain(reply.text)
    assert [type(block).__name__ for block in shown.blocks] == ["Buttons"]
    assert reply.content(has_buttons=False) == reply.text
    assert replace(reply, buttons=()).content(has_buttons=True) == reply.text


def test_what_is_no_longer_offered_leaves_a_reply_as_button_and_as_next_step() -> None:
    cordon = Button(label="Cordon gpu-a01", line="node cordon gpu-a01")
    ack = Button(label="Acknowledge", line="alert ack i1")
    graph = Button(label="graph", address="https://grafana")
    lines = text("It fell.", Span("\n"), bold("Next: "), bold(cordon.label), Span("\n"), "Affects detr.")
    posted = replace(a_line(a_card("i1")), text=lines, buttons=(cordon, ack, graph))

    left = posted.offering({ack.line})

    assert left.buttons == (ack, graph)
    assert plain(left.text) == "It fell.\nAffects detr."
    assert posted.offering({cordon.line, ack.line}) == posted


def test_a_reply_about_what_is_over_by_now_has_no_buttons() -> None:
    assert all(not reply.buttons for reply in replies_of(over(incident_of(XID_ALERT))))


def test_a_reply_that_is_not_broadcast_says_its_fact_alone() -> None:
    handed = hand_over(incident_of(XID_ALERT), to="U2", to_name="eli", by_name="dana", now=NOON)
    *_, reply = replies_of(handed)
    assert plain(reply.text) == "Handed over to eli by dana."
    assert reply.buttons == ()
