"""Cards per channel, and the replies in their threads: which events have one, and its words."""

from dataclasses import replace

import pytest

from alerts.cards.desired_cards import desired_cards
from alerts.cards.event_words import event_text
from alerts.cards.posted import CardKind, PostedCard, card_id
from alerts.cards.text import plain
from alerts.incidents.events import IncidentEvent, IncidentEventType
from tests.alerts.cards.conftest import (
    CONTEXT,
    DONE,
    FIX,
    ended,
    incident,
)
from tests.support.alerting import NOON
from tests.support.incidents import replies_to


def test_there_is_one_card_per_channel() -> None:
    one = incident()
    desired = desired_cards(one, {})

    assert [card.id for card in desired] == ["incident/i7/C1", "incident/i7/C2"]
    assert desired_cards(one, {card.id: card for card in desired}) == []
    assert [card.channel for card in desired_cards(one, {desired[0].id: desired[0]})] == ["C2"]


@pytest.mark.parametrize("event_type", IncidentEventType)
def test_only_notifying_events_are_replies_in_each_thread(event_type: IncidentEventType) -> None:
    one = replace(
        incident(), events=(IncidentEvent(number=4, at=NOON, type=event_type, text="words", who="U1"),)
    )
    cards = [
        PostedCard(
            id=card_id(CardKind.INCIDENT, "i7", channel),
            cluster="prod-a",
            kind=CardKind.INCIDENT,
            row_id="i7",
            channel=channel,
        )
        for channel in one.channels
    ]
    desired = replies_to(one, cards, CONTEXT)

    notifies = event_type in (
        IncidentEventType.SEVERITY_RAISED,
        IncidentEventType.WORSENED,
        IncidentEventType.ACKNOWLEDGED,
        IncidentEventType.HANDED_OVER,
        IncidentEventType.GIVEN_BACK,
        IncidentEventType.REOPENED,
        IncidentEventType.RESOLVED,
    )
    assert [line.id for line in desired] == (["incident/i7/C1#4", "incident/i7/C2#4"] if notifies else [])
    assert {line.broadcast for line in desired} <= {
        event_type
        in (IncidentEventType.SEVERITY_RAISED, IncidentEventType.WORSENED, IncidentEventType.REOPENED)
    }


@pytest.mark.parametrize(
    ("event_type", "expected"),
    [
        (IncidentEventType.SEVERITY_RAISED, "Severity raised to words"),
        (IncidentEventType.WORSENED, "It got worse: words"),
        (IncidentEventType.ACKNOWLEDGED, "Acknowledged by U1."),
        (IncidentEventType.REOPENED, "Reopened by U1: words."),
        (IncidentEventType.OPENED, "Opened: words"),
        (IncidentEventType.ALERT_ADDED, "Alert added: words"),
        (IncidentEventType.ALERT_RESOLVED, "Over: words"),
        (IncidentEventType.ACTION_DONE, "Done: words by U1"),
        (IncidentEventType.TRAINING_FAILED, "A training died: words"),
    ],
)
def test_the_text_of_an_event(event_type: IncidentEventType, expected: str) -> None:
    event = IncidentEvent(number=2, at=NOON, type=event_type, text="words", who="U1")

    assert plain(event_text(incident(), event, context=CONTEXT)) == expected


def test_an_alert_that_fires_again_reopens_it_without_a_person() -> None:
    event = IncidentEvent(number=2, at=NOON, type=IncidentEventType.REOPENED, text="words")

    assert plain(event_text(incident(), event, context=CONTEXT)) == "Reopened: words"


def test_a_log_line_that_left_its_window_is_not_over() -> None:
    one = incident()
    logged = replace(one.members[0], is_logged=True)
    event = IncidentEvent(number=2, at=NOON, type=IncidentEventType.ALERT_RESOLVED, text=logged.summary)

    said = plain(event_text(replace(one, members=(logged,)), event, context=CONTEXT))

    assert said == f"No longer logged: {logged.summary}"


def test_the_last_reply_names_the_fix() -> None:
    one = ended(incident())

    reply = event_text(one, one.events[-1], context=replace(CONTEXT, actions=(FIX, DONE)))

    assert plain(reply) == (
        "Resolved after 12 min. Fixed by fans on by Dana. Meanwhile: node cordon gpu-a01 by Dana."
    )


def test_the_last_reply_says_that_the_node_has_left() -> None:
    one = ended(incident())
    left = replace(one.members[0], ended_reason="gpu-a01 is no longer in the cluster")
    one = replace(one, members=(left, *one.members[1:]))

    reply = event_text(one, one.events[-1], context=replace(CONTEXT, actions=(DONE,)))

    assert plain(reply) == "Resolved after 12 min: gpu-a01 is no longer in the cluster."
