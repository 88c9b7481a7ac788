"""Every kind of card declares the rows that it reads, and a change composes the cards that show it and no other."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.cards.message import Message
from alerts.cards.posted import CardId, CardKind, PostedCard, card_id
from alerts.cards.text import text
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.store import Row, RowsRead, StoreSnapshot
from bot.cards.card_catalogue import CARD_DEFINITIONS, CardCatalogue
from bot.cards.card_kind import CardContext, CardDefinition, Composed, Everywhere, own
from bot.delivery.desired_state import DesiredState
from collectors.internal_errors import InternalErrors
from collectors.trainings.training import Training, TrainingState
from commands.models import HandledRequest, Launch
from tests.bot.cards.full_cards import CONTEXT, FULL, SILENCE, a_parent, an_incident
from tests.support.memory_store import MemoryStore
from tests.support.rows import (
    NOON,
    a_card,
    a_handled_request,
    an_alert,
)
from tests.support.trainings import a_training

UNCHANGING = {Alert: "only the labels are read, which never change, or it is looked at again after a minute"}


class Spy:
    """A snapshot that notes which rows are read."""

    def __init__(self, snapshot: StoreSnapshot) -> None:
        self._snapshot = snapshot
        self.read: set[type[Any]] = set()

    def rows(self, row: type[Row]) -> RowsRead[Row]:
        self.read.add(row)
        return self._snapshot.rows(row)


async def a_store(*ids: str) -> MemoryStore:
    """A store with incidents, each with its card."""
    store = MemoryStore()
    async with store.unit() as unit:
        for id in ids:
            await unit.rows(Incident).put(an_incident(id, f"gpu-{id}"))
            await unit.rows(PostedCard).put(replace(a_card(id), cluster="prod-a"))
    return store


def test_every_kind_has_a_definition() -> None:
    missing = set(CardKind) - {one.kind for one in CARD_DEFINITIONS}
    assert not missing, f"bot/cards/card_catalogue.py has no definition of {missing}"


@pytest.mark.parametrize("definition", CARD_DEFINITIONS, ids=lambda one: one.kind.value)
async def test_a_composer_reads_just_what_it_depends_on(definition: CardDefinition) -> None:
    assert definition.kind in FULL, f"FULL has no rows for a card of {definition.kind.value}"
    store = MemoryStore()
    async with store.unit() as unit:
        for row in FULL[definition.kind]:
            await unit.rows(type(row)).put(row)
    async with store.read() as snapshot:
        spy = Spy(snapshot)
        composed = await CardCatalogue(CONTEXT).compose(a_card("i1", kind=definition.kind), spy, NOON)
    assert composed.message is not None, f"FULL needs the row of the {definition.kind.value} i1"
    undeclared = spy.read - set(UNCHANGING) - set(definition.depends_on)
    assert not undeclared, f"the card of {definition.kind.value} does not say that it depends on {undeclared}"
    unread = set(definition.depends_on) - spy.read
    assert not unread, f"no row makes the card of {definition.kind.value} read {unread}: add one to FULL"


async def _stale_after(store: MemoryStore, row: Any) -> set[str]:
    """Return the ids of the incidents whose cards a changed row makes stale."""
    desired = DesiredState(store, CardCatalogue(CONTEXT), InternalErrors())
    await desired.refresh(NOON)
    stop = store.listen(desired.mark_changed)
    async with store.unit() as unit:
        await unit.rows(type(row)).put(row)
    stop()
    return {entry.card.row_id for entry in desired.entries.values() if entry.is_stale}


async def test_a_changed_incident_composes_its_own_card_only() -> None:
    store = await a_store("i1", "i2", "i3")
    assert await _stale_after(store, an_incident("i2", "gpu-i2")) == {"i2"}


async def test_a_changed_member_composes_the_card_of_its_parent_and_its_own() -> None:
    store = await a_store("i1", "i2")
    card = a_card("i9", kind=CardKind.PARENT)
    async with store.unit() as unit:
        await unit.rows(ParentIncident).put(a_parent("i9"))
        await unit.rows(PostedCard).put(card)
    assert await _stale_after(store, replace(an_incident("i2", "gpu-i2"), parent="i9")) == {"i2", "i9"}


async def test_a_deleted_row_composes_its_own_card() -> None:
    store = await a_store("i1", "i2")
    desired = DesiredState(store, CardCatalogue(CONTEXT), InternalErrors())
    await desired.refresh(NOON)
    store.listen(desired.mark_changed)
    async with store.unit() as unit:
        await unit.rows(Incident).delete("i2")
    assert {entry.card.row_id for entry in desired.entries.values() if entry.is_stale} == {"i2"}


async def test_a_silence_composes_the_cards_of_its_cluster_only() -> None:
    store = await a_store("i1", "i2")
    other = PostedCard(
        id=CardId(card_id(CardKind.INCIDENT, "i9", "C1")),
        cluster="prod-b",
        kind=CardKind.INCIDENT,
        row_id="i9",
        channel="C1",
    )
    async with store.unit() as unit:
        await unit.rows(Incident).put(replace(an_incident("i9", "gpu-i9"), cluster="prod-b"))
        await unit.rows(PostedCard).put(other)
    assert await _stale_after(store, SILENCE) == {"i1", "i2"}


@pytest.mark.parametrize("row", [a_handled_request("g1"), an_alert("gpu-i1")], ids=["a request", "an alert"])
async def test_other_rows_compose_no_card(row: HandledRequest | Alert | Launch) -> None:
    assert await _stale_after(await a_store("i1"), row) == set()


async def test_blindness_composes_the_cards_of_its_cluster() -> None:
    store = await a_store("i1")
    desired = DesiredState(store, CardCatalogue(CONTEXT), InternalErrors())
    await desired.refresh(NOON)
    desired.mark_cluster(CardKind.INCIDENT, "prod-b")
    assert not any(entry.is_stale for entry in desired.entries.values())
    desired.mark_cluster(CardKind.INCIDENT, "prod-a")
    assert all(entry.is_stale for entry in desired.entries.values())


async def test_a_change_during_composing_is_not_lost() -> None:
    """The cards of a batch show one snapshot; what is committed meanwhile makes them stale again."""
    store = await a_store("i1", "i2")
    was_changed = False

    async def compose(card: PostedCard, snapshot: StoreSnapshot, _: CardContext, _now: datetime) -> Composed:
        nonlocal was_changed
        found = await snapshot.rows(Incident).get(card.row_id)
        assert found is not None
        if not was_changed:
            was_changed = True
            async with store.unit() as unit:
                await unit.rows(Incident).put(replace(an_incident("i2", "gpu-i2"), acknowledged_by="U1"))
        return Composed(message=Message(title=text(found.acknowledged_by or "nobody")))

    definition = CardDefinition(kind=CardKind.INCIDENT, compose=compose, depends_on={Incident: own})
    desired = DesiredState(store, CardCatalogue(CONTEXT, [definition]), InternalErrors())
    store.listen(desired.mark_changed)
    await desired.refresh(NOON)
    await desired.refresh(NOON)
    (second,) = [entry for entry in desired.entries.values() if entry.card.row_id == "i2"]
    assert second.desired is not None
    assert second.desired.message == Message(title=text("U1"))


def a_running(cluster: str, id: str) -> Training:
    """A training that started just before."""
    return a_training("vision", "detr", TrainingState.RUNNING, id=id, started=NOON - timedelta(seconds=58))


@pytest.mark.parametrize("later", [timedelta(seconds=3), timedelta(minutes=7), timedelta(hours=3)], ids=str)
@pytest.mark.parametrize("definition", CARD_DEFINITIONS, ids=lambda one: one.kind.value)
async def test_no_card_has_a_running_clock(definition: CardDefinition, later: timedelta) -> None:
    catalogue = CardCatalogue(replace(CONTEXT, training=a_running))
    store, card = MemoryStore(), a_card("i1", kind=definition.kind)
    async with store.unit() as unit:
        for row in FULL[definition.kind]:
            await unit.rows(type(row)).put(row)
    async with store.read() as snapshot:
        first = await catalogue.compose(card, snapshot, NOON)
        then = await catalogue.compose(card, snapshot, NOON + later)
    is_announced = first.next_due is not None and NOON + later >= first.next_due
    is_polled = definition.kind is CardKind.LAUNCH  # its training is not a row
    assert then.message == first.message or (is_announced and not is_polled)


def test_the_end_of_a_lease_changes_the_cards_of_its_cluster_at_once() -> None:
    affected = dict(CardCatalogue(CONTEXT).affected("leases", "prod-a/gpu-a01", None))

    assert affected[CardKind.INCIDENT] == Everywhere("prod-a")
