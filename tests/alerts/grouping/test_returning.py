"""A returning fault: a GPU with the same XID after two repairs within a week is to be replaced, not reset again."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from alerts.alert import Alert
from alerts.cards.incident_card import incident_card
from alerts.cards.incident_context import IncidentContext
from alerts.cards.message import Paragraph
from alerts.cards.text import plain
from alerts.incidents.evidence import Proven
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.incidents.recurring_faults import returned
from alerts.rules import Proof, ResolveWhen
from commands.incident.card_context import incident_context
from tests.support.alerting import NOON, a_rule, a_topology, an_alert
from tests.support.grouping import add_alert
from tests.support.memory_store import MemoryStore

_PLAIN = a_rule("GPUXIDError", resolve_when=ResolveWhen.PROVEN)
RULE = replace(_PLAIN, template=replace(_PLAIN.template, annotations={"proof": "gpus-allocatable"}))
GROUPING = GroupingContext(rules={RULE.id: RULE}, topology=a_topology())
DAY = timedelta(days=1)


def an_xid(at: datetime, *, gpu: str = "3", xid: str = "48") -> Alert:
    labels = {"node": "gpu-a01", "gpu": gpu, "UUID": f"GPU-a01-{gpu}", "xid": xid}
    alert = an_alert("GPUXIDError", severity="critical", at=at, on=labels)
    return replace(alert, annotations={**alert.annotations, "proof": "gpus-allocatable"})


def incident_at(at: datetime, *, gpu: str = "3", xid: str = "48") -> Incident:
    alert = an_xid(at, gpu=gpu, xid=xid)
    return add_alert(open_incident(f"i{at:%d}", alert, channels=("C1",), now=at), alert, GROUPING, at)


def repaired(at: datetime, *, is_gone: bool = False, gpu: str = "3", xid: str = "48") -> Incident:
    incident = incident_at(at - timedelta(hours=3), gpu=gpu, xid=xid)
    proven = Proven(proof=Proof.GPUS_ALLOCATABLE, at=at, is_gone=is_gone)
    members = tuple(replace(member, proven=proven) for member in incident.members)
    return replace(incident, members=members, resolved_at=at)


NOW = incident_at(NOON)


def test_the_third_time_within_a_week_is_the_vendors() -> None:
    found = returned(NOW, [repaired(NOON - 6 * DAY), repaired(NOON - 2 * DAY)])
    assert found is not None
    assert (found.repairs, found.member.subject.gpu) == (2, "3")


@pytest.mark.parametrize(
    "earlier",
    [
        pytest.param([repaired(NOON - DAY)], id="the second time"),
        pytest.param([repaired(NOON - 8 * DAY), repaired(NOON - DAY)], id="one repair was long ago"),
        pytest.param([repaired(NOON - 3 * DAY, gpu="5"), repaired(NOON - DAY)], id="one was of another GPU"),
        pytest.param([repaired(NOON - 3 * DAY, xid="79"), repaired(NOON - DAY)], id="one was another XID"),
        pytest.param([repaired(NOON - 3 * DAY, is_gone=True), repaired(NOON - DAY)], id="the node was away"),
        pytest.param([incident_at(NOON - 3 * DAY), repaired(NOON - DAY)], id="one was never repaired"),
    ],
)
def test_fewer_repairs_of_the_same_fault_are_not(earlier: list[Incident]) -> None:
    assert returned(NOW, earlier) is None


def test_the_card_says_that_another_reset_will_not_repair_it() -> None:
    context = IncidentContext(returned=returned(NOW, [repaired(NOON - 6 * DAY), repaired(NOON - 2 * DAY)]))
    card = incident_card(NOW, context=context, now=NOON)
    said = [plain(block.text) for block in card.blocks if isinstance(block, Paragraph)]
    assert (
        "Repaired 2 times in 7 days, and it came back: do not reset or restart again; "
        "keep GPU 3 on gpu-a01 out of use, and have the part replaced by the vendor."
    ) in said


async def test_the_card_finds_the_repairs_of_the_week_in_the_store() -> None:
    store = MemoryStore()
    async with store.unit() as unit:
        for incident in (NOW, repaired(NOON - 6 * DAY), repaired(NOON - 2 * DAY)):
            await unit.rows(Incident).put(incident)
    async with store.read() as snapshot:
        context = await incident_context(NOW, snapshot, rules={RULE.id: RULE}, now=NOON)
    assert context.returned is not None
    assert context.returned.repairs == 2
