"""The incident book: what a cycle changes is proposed, and the book itself follows only what was stored."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from alerts.alert import Alert
from alerts.cards.card_book import CardBook
from alerts.cards.desired_cards import desired_cards, desired_replies
from alerts.cards.posted import PostedCard
from alerts.incidents.cycle_draft import CycleDraft
from alerts.incidents.grouping import REOPENS_WITHIN, GroupingContext, acknowledge
from alerts.incidents.incident import Incident
from alerts.incidents.incident_book import REMEMBERED_FOR, Effects, IncidentBook
from alerts.incidents.incident_draft import MAX_MEMBERS
from alerts.lifecycle import AlertState
from alerts.rules import ResolveWhen
from collectors.facts.labels import Labels
from collectors.facts.stepwise import result_of
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology, TrainingFacts
from tests.support.rows import NOON, an_alert

CLUSTER = an_alert().cluster
GROUPING = GroupingContext(rules={}, topology=Topology(cluster=CLUSTER))


def absorbed(book: IncidentBook, alerts: Sequence[Alert], at: datetime = NOON) -> Effects:
    steps = book.absorb(
        [(alert, at) for alert in alerts], grouping=GROUPING, channels_of=lambda _: ("C1",), now=at
    )
    return result_of(steps)


def store(book: IncidentBook, effects: Effects, numbers: Any = None) -> Effects:
    """Do what the recorder does with the effects."""
    numbers = numbers or count(1)
    numbered = effects.numbered(f"i{next(numbers)}" for _ in effects.opened)
    book.apply({"incidents": {incident.id: incident for incident in numbered.incidents}})
    return numbered


def resolved(alert: Alert, at: datetime) -> Alert:
    return replace(alert, life=replace(alert.life, state=AlertState.RESOLVED, resolved_at=at))


def about(label: str, topology: Topology) -> Alert:
    """Return an alert of our checks whose label `training` is this."""
    own = Subject(cluster=CLUSTER, namespace="vision", training=label)
    labels = Labels({"alertname": "TrainingFailed", "training": label, "severity": "warning"})
    return replace(an_alert(), labels=labels, own_subject=own, subject=topology.complete(own))


def test_a_proposal_changes_nothing_until_it_is_stored() -> None:
    book = IncidentBook(CLUSTER)
    first, again = absorbed(book, [an_alert("a")]), absorbed(book, [an_alert("a")])
    assert [one.group_key for one in first.opened] == [one.group_key for one in again.opened]
    assert list(book.open) == []
    store(book, first)
    assert absorbed(book, [an_alert("a")]) == Effects(before={}, changed={}, opened=())


def test_alerts_about_one_object_open_one_incident_in_one_cycle() -> None:
    book = IncidentBook(CLUSTER)
    second = replace(an_alert("a"), rule="gpu/heat/Another")
    effects = absorbed(book, [an_alert("a"), an_alert("b"), second])
    assert sorted(len(one.members) for one in effects.opened) == [1, 2]
    assert len({one.id for one in effects.numbered(["i1", "i2"]).incidents}) == 2


def test_an_alert_that_fires_and_resolves_in_one_cycle_leaves_a_resolved_incident() -> None:
    book = IncidentBook(CLUSTER)
    effects = absorbed(book, [an_alert("a"), resolved(an_alert("a"), NOON)])
    assert [one.is_open for one in effects.opened] == [False]


def test_it_follows_what_others_store() -> None:
    book = IncidentBook(CLUSTER)
    (incident,) = store(book, absorbed(book, [an_alert("a")])).incidents
    waiting = replace(incident, resolve_when=ResolveWhen.ACKNOWLEDGED)
    book.apply({"incidents": {incident.id: waiting}})
    gone = [resolved(an_alert("a"), NOON)]
    store(book, absorbed(book, gone))
    assert len(list(book.open)) == 1  # it waits for a person
    (open_one,) = book.open
    book.apply({"incidents": {open_one.id: acknowledge(open_one, who="U1", now=NOON)}})
    assert [one.is_open for one in absorbed(book, []).changed.values()] == [False]


def test_other_clusters_are_left_out() -> None:
    book = IncidentBook("another")
    incident = IncidentBook(CLUSTER)
    (opened,) = store(incident, absorbed(incident, [an_alert("a")])).incidents
    book.apply({"incidents": {opened.id: opened}})
    assert list(book.open) == []


def test_a_resolved_incident_can_be_reopened_for_a_while_and_is_then_forgotten() -> None:
    book, numbers = IncidentBook(CLUSTER), count(1)
    store(book, absorbed(book, [an_alert("a")]), numbers)
    end = NOON + timedelta(minutes=5)
    store(book, absorbed(book, [resolved(an_alert("a"), end)], end), numbers)
    soon = end + REOPENS_WITHIN - timedelta(minutes=1)
    book.forget(soon)
    assert [one.id for one in absorbed(book, [an_alert("a")], soon).changed.values()] == ["i1"]
    late = end + REOPENS_WITHIN
    book.forget(late)
    assert [one.earlier for one in absorbed(book, [an_alert("a")], late).opened] == ["i1"]
    later = end + REMEMBERED_FOR
    book.forget(later)
    assert book.get("i1") is None
    assert [one.earlier for one in absorbed(book, [an_alert("a")], later).opened] == [""]


def test_cards_are_wanted_for_what_changed_and_for_what_has_none() -> None:
    book = IncidentBook(CLUSTER)
    effects = store(book, absorbed(book, [an_alert("a"), an_alert("b")]))
    cards = CardBook(CLUSTER, book)
    quiet = absorbed(book, [])
    assert sorted(one.id for one, _ in cards.wanted(quiet, cards.lacking)) == [
        "i1",
        "i2",
    ]  # they were silenced when they opened
    (first, second) = effects.incidents
    cards.apply({"cards": {card.id: card for card in desired_cards(first, {})}})
    assert [one.id for one, _ in cards.wanted(quiet, cards.lacking)] == ["i2"]
    cards.apply({"cards": {card.id: card for card in desired_cards(second, {})}})
    assert cards.wanted(quiet, cards.lacking) == []
    changed = absorbed(book, [resolved(an_alert("b"), NOON)])
    assert [(one.id, missing) for one, missing in cards.wanted(changed, cards.lacking)] == [("i2", [])]


def test_an_incident_that_was_forgotten_does_not_come_back_without_its_cards() -> None:
    book, numbers = IncidentBook(CLUSTER), count(1)
    store(book, absorbed(book, [an_alert("a")]), numbers)
    (incident,) = book.open
    card_book = CardBook(CLUSTER, book)
    cards: dict[str, PostedCard] = {
        card.id: replace(card, message_id="1.1") for card in desired_cards(incident, {})
    }
    card_book.apply({"cards": cards})
    store(book, absorbed(book, [resolved(an_alert("a"), NOON)]), numbers)
    ended = book.get(incident.id)
    card_book.forget(book.forget(NOON + REMEMBERED_FOR), NOON + REMEMBERED_FOR)
    late: dict[str, Any] = {"incidents": {incident.id: ended}, "cards": cards}  # a plan for it ended late
    book.apply(late)
    card_book.apply(late)
    assert book.get(incident.id) is None
    assert card_book.cards_of(incident.id) == {}


def test_an_alert_stays_in_its_incident_when_its_training_gets_a_namesake() -> None:
    """Labels of a check get the key then: as of one alert that goes on, or as of another that fires for it."""
    name, key = "vision/bert", "vision/Job/bert"
    own = TrainingFacts(id=key, name=name)
    alone = Topology(cluster=CLUSTER, trainings={key: own}, keys={name: key})
    shared = Topology(cluster=CLUSTER, trainings={key: own, "vision/Job.batch.volcano.sh/bert": own})
    before, after = about(name, alone), about(key, shared)
    assert before.id != after.id

    book, numbers = IncidentBook(CLUSTER), count(1)
    card_book = CardBook(CLUSTER, book)
    (opened,) = store(book, absorbed(book, [before]), numbers).incidents
    card_book.apply({"cards": {card.id: card for card in desired_cards(opened, {})}})
    assert opened.group_key == f"training/{key}"

    goes_on = replace(before, own_subject=after.own_subject, subject=after.subject)
    assert absorbed(book, [goes_on]).opened == ()
    effects = absorbed(book, [goes_on, after, resolved(before, NOON)])
    assert effects.opened == ()
    assert [(one.id, missing) for one, missing in card_book.wanted(effects, card_book.lacking)] == [
        (opened.id, [])
    ]
    (incident,) = store(book, effects, numbers).incidents
    assert (incident.is_open, incident.group_key) == (True, opened.group_key)
    cards = tuple(card_book.cards_of(incident.id).values())
    assert desired_replies(incident, cards) == desired_replies(opened, cards)
    assert store(book, absorbed(book, [resolved(after, NOON)]), numbers).opened == ()
    assert not list(book.open)


class CountedIncidents(dict[str, Incident]):
    """Incidents by id, which count how often somebody goes through all of them."""

    times = 0

    def __iter__(self) -> Iterator[str]:
        self.times += 1
        return super().__iter__()


def test_a_storm_of_alerts_about_volumes_goes_through_the_incidents_once() -> None:
    book = IncidentBook(CLUSTER)
    stored = store(book, absorbed(book, [an_alert(f"n{number}") for number in range(20)])).incidents
    incidents = CountedIncidents({one.id: one for one in stored})
    draft = CycleDraft(incidents, {}, {}, GROUPING, MAX_MEMBERS)
    for number in range(50):
        own = Subject(cluster=CLUSTER, volume=f"vision/data-{number}")
        draft.add(replace(an_alert(f"v{number}"), own_subject=own, subject=own), ("C1",), NOON)
    assert incidents.times == 1
