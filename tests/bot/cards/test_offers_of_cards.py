"""An incident's card suggests no cordon that stands, whichever incident it was made for, and looks again later."""

from dataclasses import replace
from datetime import timedelta

from alerts.cards.message import Buttons
from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.incident import Incident
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext, Composed
from commands.models import CordonLease
from tests.support.alerting import a_rule
from tests.support.incidents import an_open_incident
from tests.support.memory_store import MemoryStore
from tests.support.rows import NOON, a_card, a_lease

RULE = a_rule(actions=("node cordon {node}", "node show {node}"))


async def composed(*leases: CordonLease) -> Composed:
    opened = an_open_incident()
    member = replace(opened.members[0], rule=RULE.id)
    store = MemoryStore()
    async with store.unit() as unit:
        await unit.rows(Incident).put(replace(opened, members=(member,)))
        for lease in leases:
            await unit.rows(CordonLease).put(lease)
    context = CardContext(rules=lambda: {RULE.id: RULE}, training=lambda *_: None, blind=lambda *_: {})
    card: PostedCard = a_card("i1", kind=CardKind.INCIDENT)
    async with store.read() as snapshot:
        return await CardCatalogue(context).compose(card, snapshot, NOON)


def lines(card: Composed) -> list[str]:
    assert card.message is not None
    return [one.line for block in card.message.blocks if isinstance(block, Buttons) for one in block.buttons]


async def test_a_cordon_of_another_incident_is_not_offered_again() -> None:
    lease = a_lease(NOON - timedelta(days=1), "gpu-a04", id="lab/gpu-a04", cluster="lab", incident="i0")

    assert lines(await composed())[:2] == ["node cordon gpu-a04", "node show gpu-a04"]
    assert lines(await composed(lease))[0] == "node show gpu-a04"
    assert lines(await composed(replace(lease, lifted_at=NOON)))[0] == "node cordon gpu-a04"


async def test_a_card_that_offers_something_looks_at_the_cluster_again() -> None:
    due = (await composed()).next_due

    assert due is not None
    assert due - NOON <= timedelta(minutes=1)
