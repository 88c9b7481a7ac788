"""A kind of card: its composer and the rows that it depends on."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from alerts.cards.culprits import Culprit
from alerts.cards.message import Message
from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.events import last_number
from alerts.incidents.grouping import REOPENS_WITHIN
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.rules import Rule
from alerts.store import Row, StoreSnapshot
from collectors.facts.queries import Query
from collectors.trainings.training import Training
from commands.core.testable_nodes import ANY_TESTS, NodeTests
from commands.incident.seen_cluster import SeenCluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """What a card should show now, None for nothing. `next_due`: when that changes without a change of rows.

    `is_only_an_edit`: it is for a card that was posted; one that was not needs no message any more.
    `last_event`: the number of the last event of the row that it shows.
    """

    message: Message | None
    is_final: bool = False  # the card will never change again
    next_due: datetime | None = None
    is_only_an_edit: bool = False
    last_event: int = 0

    def due_after(self, now: datetime) -> datetime | None:
        """Return when to compose again. A past `next_due` is ignored, or the loop would never sleep."""
        return self.next_due if self.next_due is not None and self.next_due > now else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CardContext:
    """What cards show in addition to the store. The functions return the current state."""

    rules: Callable[[], Mapping[str, Rule]]
    training: Callable[[str, str], Training | None]  # cluster, namespace/name
    blind: Callable[[str, Iterable[Query]], Mapping[str, str]]  # cluster, queries -> blind source -> reason
    cluster: Callable[[str], SeenCluster | None] = lambda _name: None
    culprits: Callable[[Incident], tuple[Culprit, ...]] = lambda _incident: ()
    people: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by cluster
    runbooks: str = ""
    tests: NodeTests = ANY_TESTS
    reopens_within: timedelta = REOPENS_WITHIN  # until then the card of an incident that ended may change
    many_clusters: bool = False  # then every button names its cluster
    wants_facts: Callable[[str], bool] = lambda _channel: False  # whether a channel wants Message.facts
    has_buttons: Callable[[str], bool] = lambda _channel: True
    has_menus: Callable[[str], bool] = lambda _channel: True


@dataclass(frozen=True, slots=True)
class Everywhere:
    """All cards of the kind in a cluster."""

    cluster: str


Affected = Iterable[str] | Everywhere  # the ids of the rows whose cards show it, or all of a cluster

Compose = Callable[[PostedCard, StoreSnapshot, CardContext, datetime], Awaitable[Composed]]
_Eventful = TypeVar("_Eventful", Incident, ParentIncident)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardDefinition:
    """A kind of card.

    `depends_on`: each row type that `compose` reads, and which cards of this kind a changed row of it affects.
    `deleted`: which cards one affects that was deleted, by its id; else the card of this very row.
    """

    kind: CardKind
    compose: Compose
    depends_on: Mapping[type[Any], Callable[[Any], Affected]]
    deleted: Mapping[type[Any], Callable[[str], Affected]] = field(default_factory=dict)


def composer_of(
    kind: type[Row],
    compose: Callable[[Row, PostedCard, StoreSnapshot, CardContext, datetime], Awaitable[Composed]],
) -> Compose:
    """Return what composes a card from its row; a row that is gone shows nothing any more."""

    async def composed(
        card: PostedCard, snapshot: StoreSnapshot, shared: CardContext, now: datetime
    ) -> Composed:
        found = await snapshot.rows(kind).get(card.row_id)
        if found is None:
            return Composed(message=None, is_final=True)
        return await compose(found, card, snapshot, shared, now)

    return composed


def unchanging(kind: type[Row], message: Callable[[Row], Message]) -> Compose:
    """Return what composes a card that shows its row once, and never changes."""

    async def composed(
        found: Row, _card: PostedCard, _snapshot: StoreSnapshot, _shared: CardContext, _now: datetime
    ) -> Composed:
        return Composed(message=message(found), is_final=True)

    return composer_of(kind, composed)


def composer_with_events(
    kind: type[_Eventful],
    compose: Callable[[_Eventful, PostedCard, StoreSnapshot, CardContext, datetime], Awaitable[Composed]],
) -> Compose:
    """Return what composes a card from its row, and says which event of it was the last."""

    async def numbered(
        found: _Eventful, card: PostedCard, snapshot: StoreSnapshot, shared: CardContext, now: datetime
    ) -> Composed:
        made = await compose(found, card, snapshot, shared, now)
        return replace(made, last_event=last_number(found.events))

    return composer_of(kind, numbered)


def own(row: Any) -> Affected:
    """The card of this very row."""
    return (row.id,)


def all_of_its_cluster(row: Any) -> Affected:
    """All cards of the kind in the row's cluster."""
    return Everywhere(row.cluster)


def all_where_it_was(id: str) -> Affected:
    """All cards of the kind in the cluster of a deleted row whose id begins with it, as that of a lease does."""
    return Everywhere(id.partition("/")[0])
