"""Rows that evaluation cycles store: alerts, incidents, one card per channel, each thread reply once."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from alerts.alert import Alert
from alerts.cards.posted import PostedCard
from alerts.incidents.grouping import acknowledge
from alerts.incidents.incident import Incident
from alerts.incidents.proofs import NO_FACTS
from alerts.lifecycle import AlertState
from alerts.matching import parse_matchers
from alerts.routing import Route
from alerts.rules import ResolveWhen, Severity
from collectors.facts.topology import Topology
from tests.bot.evaluation.recorder.conftest import RULE, a_yard, by_rule
from tests.support.alerting import CLUSTER, NOON, a_rule, a_topology, minutes
from tests.support.evaluation import Canned, EvaluationStage


async def test_a_firing_alert_opens_an_incident_with_a_card_and_no_reply() -> None:
    yard = a_yard((0, 30))
    await yard.run(10)

    (incident,) = await yard.incidents()
    assert (incident.id, incident.group_key, incident.opened_at) == ("i1", "node/gpu-a01", NOON + minutes(2))
    assert [one.training for one in incident.impacts] == ["vision/detr"]
    assert [card.id for card in await yard.cards()] == ["incident/i1/C1"]
    assert await yard.said() == []  # the card itself shows that it opened


async def test_a_fault_from_start_to_end() -> None:
    yard = a_yard((0, 10))
    await yard.run(20)

    (incident,) = await yard.incidents()
    (alert,) = await yard.alerts()
    assert incident.resolved_at == NOON + minutes(11)
    assert alert.life.state is AlertState.RESOLVED
    assert [card.id for card in await yard.cards()] == ["incident/i1/C1"]
    assert await yard.said() == [
        ("incident/i1/C1", "Resolved after 9 min. No action was taken through Yardmaster.")
    ]


async def test_a_pending_alert_that_clears_leaves_no_trace() -> None:
    yard = a_yard((0, 2))
    await yard.round(0)
    pending = [alert.life.state for alert in await yard.alerts()]
    await yard.run(4, start=1)

    assert pending == [AlertState.PENDING]
    assert (await yard.alerts(), await yard.incidents(), await yard.cards()) == ([], [], [])


async def test_a_blind_source_leaves_the_store_unchanged() -> None:
    yard = a_yard((0, 5))
    yard.metrics.dark = lambda at: at >= NOON + minutes(4)
    await yard.run(4)
    before = (await yard.alerts(), await yard.incidents(), await yard.cards(), await yard.lines())

    await yard.run(90, start=4)

    assert (await yard.alerts(), await yard.incidents(), await yard.cards(), await yard.lines()) == before


async def test_an_alert_that_fired_and_resolved_while_blind_gets_a_resolved_card() -> None:
    yard = a_yard((4, 12))
    yard.metrics.dark = lambda at: NOON + minutes(3) <= at < NOON + minutes(20)
    await yard.run(21)

    (incident,) = await yard.incidents()
    assert not incident.is_open
    assert incident.opened_at == NOON + minutes(6)
    assert len(await yard.cards()) == 1
    assert [text.partition(" after")[0] for _card, text in await yard.said()] == ["Resolved"]


async def test_an_alert_that_returns_soon_reopens_its_incident() -> None:
    yard = a_yard((0, 5), (12, 17))
    await yard.run(30)

    (incident,) = await yard.incidents()
    assert [event.type.value for event in incident.events] == [
        "opened",
        "alert_resolved",
        "resolved",
        "reopened",
        "alert_resolved",
        "resolved",
    ]
    assert [text.split()[0] for _card, text in await yard.said()] == ["Resolved", "Reopened:", "Resolved"]
    assert [line.broadcast for line in await yard.lines()] == [False, True, False]
    assert len(await yard.cards()) == 1


async def test_an_alert_that_returned_while_blind_reopens_a_final_card() -> None:
    yard = a_yard((0, 5), (12, 90))
    yard.metrics.dark = lambda at: NOON + minutes(10) <= at < NOON + minutes(50)
    await yard.run(50)
    async with yard.store.unit() as unit:
        (card,) = await unit.rows(PostedCard).find()
        await unit.rows(PostedCard).put(
            replace(card, is_final=True, message_id="1.1")
        )  # ten minutes after its end
    await yard.run(52, start=50)

    (incident,) = await yard.incidents()
    assert incident.is_open
    assert [(card.message_id, card.is_final) for card in await yard.cards()] == [("1.1", False)]


async def test_an_alert_that_returns_late_opens_another_incident() -> None:
    yard = a_yard((0, 5), (45, 50))
    await yard.run(55)

    assert [incident.id for incident in await yard.incidents()] == ["i1", "i2"]
    assert len(await yard.cards()) == 2


async def test_a_raised_severity_is_reported_once_per_channel() -> None:
    bad = a_rule("NodeDead", severity="critical", expr="NodeDead", summary="{{ $labels.node }} is dead.")
    warm = replace(a_rule(expr="GPUTemperatureHigh"))
    routes = (
        Route(matchers=parse_matchers("severity=critical"), channels=("C9",), continues=True),
        Route(channels=("C2",)),
    )
    yard = EvaluationStage(
        rules=(warm, bad), metrics=by_rule(GPUTemperatureHigh=(0, 30), NodeDead=(3, 30)), routes=routes
    )
    await yard.run(10)

    (incident,) = await yard.incidents()
    assert incident.severity is Severity.CRITICAL
    assert incident.channels == ("C2", "C9")
    assert sorted(card.channel for card in await yard.cards()) == ["C2", "C9"]
    assert sorted(await yard.said()) == [
        (f"incident/i1/{channel}", said)
        for channel in ("C2", "C9")
        for said in (
            "Severity raised to critical: gpu-a01 is dead\n"
            "Affects: vision/detr 16 GPUs, ana\nNext: investigate; no action is suggested",
        )
    ]
    assert [[button.label for button in line.buttons] for line in await yard.worded()] == [
        ["Acknowledge"],
        ["Acknowledge"],
    ]


async def test_an_info_alert_opens_no_incident_but_joins_an_open_one() -> None:
    quiet = a_rule("Note", severity="info", expr="Note")
    loud = a_rule("GPUTemperatureHigh", expr="GPUTemperatureHigh")
    yard = EvaluationStage(rules=(quiet, loud), metrics=by_rule(Note=(0, 20), GPUTemperatureHigh=(5, 10)))
    await yard.run(5)
    before = await yard.incidents()
    await yard.run(9, start=5)

    (incident,) = await yard.incidents()
    assert before == []
    assert {member.name for member in incident.members} == {"Note", "GPUTemperatureHigh"}
    assert incident.lead.name == "GPUTemperatureHigh"


async def test_an_info_alert_does_not_reopen_an_incident() -> None:
    quiet = a_rule("Note", severity="info", expr="Note")
    loud = a_rule("GPUTemperatureHigh", expr="GPUTemperatureHigh")
    yard = EvaluationStage(rules=(quiet, loud), metrics=by_rule(Note=(10, 20), GPUTemperatureHigh=(0, 5)))
    await yard.run(30)

    (incident,) = await yard.incidents()
    assert [event.type.value for event in incident.events] == ["opened", "alert_resolved", "resolved"]


async def test_an_incident_that_resolves_when_acknowledged_is_open_until_then() -> None:
    yard = a_yard(
        (0, 5), rules=(replace(RULE, template=replace(RULE.template, resolve_when=ResolveWhen.ACKNOWLEDGED)),)
    )
    await yard.run(20)
    (waiting,) = await yard.incidents()
    async with yard.store.unit() as unit:
        await unit.rows(Incident).put(acknowledge(waiting, who="U1", now=NOON + minutes(20)))
    await yard.round(20)

    (after,) = await yard.incidents()
    assert waiting.is_open
    assert not after.is_open
    assert [text.split(" after")[0] for _, text in await yard.said()] == ["Acknowledged by U1.", "Resolved"]


async def test_an_incident_keeps_its_alert_when_the_topology_arrives_late() -> None:
    """Before the first snapshot only the address is known; the alert must stay in its incident afterwards."""

    def heat(_expr: str, at: datetime) -> Mapping[str, float]:
        return {"10.0.0.11:9100": 91} if at < NOON + minutes(10) else {}

    yard = a_yard(metrics=Canned(heat), topology=Topology(cluster=CLUSTER))
    await yard.run(5)
    before = await yard.incidents()
    yard.topology = a_topology()
    await yard.restart(5)
    await yard.run(20, start=5)

    (incident,) = await yard.incidents()
    assert [one.group_key for one in before] == [incident.group_key]
    assert incident.subject.rack == "rack-a"
    assert not incident.is_open


async def test_the_values_on_a_card_are_updated_once_a_minute() -> None:
    values = iter(range(80, 200))
    fast = replace(RULE, interval=minutes(0.25))
    yard = a_yard(rules=(fast,), metrics=Canned(lambda _expr, _at: {"gpu-a01": float(next(values))}))
    seen: list[float] = []
    for quarter in range(20):
        yard.metrics.asked = NOON + minutes(quarter / 4)
        done = await yard.scheduler.run_cycle(yard.metrics.asked)
        await yard.recorder.record(done.batch(NO_FACTS), rules=yard.scheduler.rules, topology=yard.topology)
        seen += [alert.value for alert in await yard.alerts() if alert.is_firing]

    assert seen == [88, 88, 88, 88, 92, 92, 92, 92, 96, 96, 96, 96]


async def test_rows_of_two_clusters_stay_apart() -> None:
    yard = a_yard((0, 9))
    await yard.run(3)
    async with yard.store.unit() as unit:
        (alert,) = await unit.rows(Alert).find()
        await unit.rows(Alert).put(
            replace(alert, cluster="prod-b", life=replace(alert.life, state=AlertState.PENDING))
        )
    await yard.run(20, start=3)

    assert {alert.cluster for alert in await yard.alerts()} == {"prod-a", "prod-b"}
    standing, _evaluated = await yard.recorder.restore()
    assert {alert.cluster for alert in standing} == set()
