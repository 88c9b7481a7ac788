"""Incidents that time does not heal: they stay open until a proof is seen, whatever else happens.

One letter is one minute. An alert fires (`!`) or does not (`.`). The node has all its GPUs (`8`), lacks one that its
device plugin took out (`7`), was rebooted with all (`b`) or without one (`x`), is not ready after the reboot (`n`), has
left the cluster (`-`), or cannot be seen while the last that is known is well (`?`) or rebooted (`¿`). The incident is
open (`o`) or not (`.`).
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import pytest

from alerts.incidents.incident import Incident
from alerts.incidents.proofs import say_over
from alerts.rules import Rule, Timing
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from tests.support.alerting import NOON, a_rule, minutes
from tests.support.evaluation import EVERY, Canned, EvaluationStage
from tests.support.proofs import a_rule_with, topology_of

ONE_PROCESS_OR_MANY = pytest.mark.parametrize("restarts", [False, True], ids=["one process", "restarted"])


def a_yard(fires: str, rule: Rule, *, metric: str = "", values: str = "") -> EvaluationStage:
    """`metric`: what the proof query returns each minute; `.` is nothing, and `?` no answer to any query."""

    def heat(expr: str, at: datetime) -> Mapping[str, float]:
        minute = round((at - NOON) / EVERY)
        if expr == "fault":
            value = float(values[minute]) if values else 91
            return {"gpu-a01": value} if fires[minute] == "!" else {}
        return {"gpu-a01": float(metric[minute])} if metric[minute] not in ".?" else {}

    def dark(at: datetime) -> bool:
        return bool(metric) and metric[round((at - NOON) / EVERY)] == "?"

    return EvaluationStage(rules=(rule,), metrics=Canned(heat, dark))


async def film(yard: EvaluationStage, nodes: str, *, restarts: bool = False) -> str:
    shown = ""
    for minute, letter in enumerate(nodes):
        yard.topology, yard.sees_cluster = topology_of(letter), letter not in "?¿"
        if restarts and minute:
            await yard.restart(minute)
        await yard.round(minute)
        shown += "o" if any(one.is_open for one in await yard.incidents()) else "."
    return shown


@ONE_PROCESS_OR_MANY
@pytest.mark.parametrize(
    ("fires", "nodes", "shown"),
    [
        pytest.param("!!......", "88888888", "oooooooo", id="time does not heal"),
        pytest.param("!!......", "87777888", "ooooo...", id="its GPUs are allocatable again"),
        pytest.param("!!!!!!..", "87888888", "oooooo..", id="not while its alert fires"),
        pytest.param("!.......", "888bbbbb", "ooo.....", id="it was rebooted, and has all its GPUs"),
        pytest.param("!.......", "888xxxxx", "oooooooo", id="it was rebooted, and a GPU is still missing"),
        pytest.param("!.......", "888nnbbb", "ooooo...", id="it was rebooted, and is not ready yet"),
        pytest.param("!.......", "877????8", "ooooooo.", id="blindness proves nothing"),
        pytest.param("!.......", "8¿¿¿¿¿¿¿", "oooooooo", id="what was known last proves nothing"),
        pytest.param("!.......", "??bbbbbb", "oooooooo", id="a reboot that may be older than the look"),
        pytest.param("...!....", "87bbbbbb", "...ooooo", id="what came true before the fault"),
        pytest.param("!.......", "777-----", "ooo.....", id="the node left the cluster"),
        pytest.param(
            "!..!....", "87778888", "oooo....", id="it came back, was seen short again, and is well"
        ),
        pytest.param("!..!....", "877bbbbb", "oooooooo", id="the fault came back after the reboot"),
    ],
)
async def test_gpus_that_are_lost_stay_lost_until_they_are_seen(
    fires: str, nodes: str, shown: str, restarts: bool
) -> None:
    yard = a_yard(fires, a_rule_with("gpus-allocatable"))

    assert await film(yard, nodes, restarts=restarts) == shown


@pytest.mark.parametrize(
    ("nodes", "shown"),
    [
        pytest.param("888888", "oooooo", id="no reboot"),
        pytest.param("877788", "oooooo", id="its GPUs do not matter"),
        pytest.param("8nnbbb", "ooo...", id="a reboot, once it is ready"),
        pytest.param("8¿¿¿bb", "oooo..", id="a reboot, once it is seen"),
        pytest.param("88----", "oooooo", id="a node that left may still hold the volume"),
    ],
)
async def test_a_reboot_is_a_proof_of_its_own(nodes: str, shown: str) -> None:
    assert await film(a_yard("!.....", a_rule_with("node-rebooted")), nodes) == shown


@pytest.mark.parametrize(
    ("fires", "metric", "shown"),
    [
        pytest.param("!......", "1111111", "ooooooo", id="a metric that was always well"),
        pytest.param("!......", "1001111", "ooo....", id="a metric that is well again"),
        pytest.param("!......", "0111111", "o......", id="a metric that is well right after its alert fired"),
        pytest.param("!......", "0......", "ooooooo", id="a metric that is gone"),
        pytest.param("!......", "1...111", "ooooooo", id="a gap in a metric is not the fault"),
        pytest.param("!......", "10??111", "oooo...", id="a Prometheus that does not answer"),
        pytest.param("!!!!...", "0011111", "oooo...", id="not while its alert fires"),
        pytest.param(".......", "0000111", ".......", id="no alert"),
    ],
)
@ONE_PROCESS_OR_MANY
async def test_a_metric_proves_the_recovery(fires: str, metric: str, shown: str, restarts: bool) -> None:
    yard = a_yard(fires, a_rule_with("metric", query="well"), metric=metric)

    assert await film(yard, "8" * len(fires), restarts=restarts) == shown


async def test_a_fault_that_happens_once_more_while_its_alert_fires_needs_a_new_proof() -> None:
    """Its GPUs were seen back after the first time; that says nothing of the second."""
    yard = a_yard("!!!!....", a_rule_with("gpus-allocatable"), values="11122222")

    assert await film(yard, "87888888") == "oooooooo"


@pytest.mark.parametrize(
    ("proof", "severity", "shown"),
    [
        pytest.param("word", "critical", "oooooo", id="nothing but a word"),
        pytest.param("", "critical", "o.....", id="a template that names no proof"),
        pytest.param("word", "info", "......", id="context for others"),
    ],
)
async def test_which_alerts_need_a_proof(proof: str, severity: str, shown: str) -> None:
    assert await film(a_yard("!.....", a_rule_with(proof, severity=severity)), "87b7bb") == shown


async def test_an_alert_of_severity_info_does_not_keep_the_incident_of_another_open() -> None:
    hot = a_rule("Hot", expr="fault")
    yard = a_yard("!.....", a_rule_with("word", severity="info"))
    yard.rules = (*yard.rules, hot)
    yard.process()

    assert await film(yard, "888888") == "o....."


async def test_a_proof_query_is_sent_only_while_an_incident_waits_for_it() -> None:
    sent: list[str] = []
    yard = a_yard("..!....", a_rule_with("metric", query="well"), metric="0000111")
    heat = yard.metrics.heat
    yard.metrics.heat = lambda expr, at: sent.append(expr) or heat(expr, at)  # type: ignore[func-returns-value]

    assert await film(yard, "8888888") == "..oo..."
    assert sent.count("well") == 3  # from the minute in which the alert fires until it is proven


async def test_the_reply_says_what_proved_it_and_since_when() -> None:
    yard = a_yard("!!!...", a_rule_with("gpus-allocatable"))
    await film(yard, "87b7bb")
    (incident,) = await yard.incidents()

    assert incident.resolved_at == NOON + 4 * EVERY
    assert await yard.said() == [
        (
            "incident/i1/C1",
            "Resolved after 4 min: all 8 GPUs of gpu-a01 were allocatable again after a reboot "
            "(2026-03-02 12:04 UTC). No action was taken through Yardmaster.",
        )
    ]


@pytest.mark.parametrize(
    ("seen", "nodes", "shown"),
    [
        pytest.param("ss......", "87777888", "oooooo..", id="its GPUs are allocatable again, with a new one"),
        pytest.param("ss......", "87777777", "oooooooo", id="nothing shows that it is over"),
        pytest.param("sssss...", "87888888", "oooooo..", id="not while it has data"),
        pytest.param("ss..ss..", "87778888", "ooooooo.", id="it had data again meanwhile"),
    ],
)
@ONE_PROCESS_OR_MANY
async def test_an_alert_whose_target_has_no_data_any_more_ends_by_a_proof(
    seen: str, nodes: str, shown: str, restarts: bool
) -> None:
    """A GPU that was replaced never reports again: its alert would fire as long as its node is there."""
    yard = a_replaced_gpu(seen)

    assert (await film(yard, nodes, restarts=restarts))[: len(shown)] == shown


def a_replaced_gpu(seen: str) -> EvaluationStage:
    """Its alert fires while it has data (`s`), and keeps its state without (`.`)."""
    rule = replace(
        a_rule_with("gpus-allocatable"),
        query=PromQLQuery(expr="fault", presence="watched"),
        timing=Timing(keep_firing_for=minutes(3)),
    )

    def is_seen(at: datetime) -> bool:
        return seen[round((at - NOON) / EVERY)] == "s"

    metrics = Canned(lambda _expr, at: {"gpu-a01": 91.0} if is_seen(at) else {})
    metrics.present = lambda at: (Labels({"node": "gpu-a01"}),) if is_seen(at) else ()
    return EvaluationStage(rules=(rule,), metrics=metrics)


async def test_a_word_ends_an_alert_whose_target_has_no_data_any_more() -> None:
    yard = a_replaced_gpu("ss......")
    before = await film(yard, "8888")
    async with yard.store.unit() as unit:
        (incident,) = await unit.rows(Incident).find()
        await unit.rows(Incident).put(say_over(incident, who="U1", who_name="dana", now=NOON + minutes(4)))
    for minute in range(4, 8):
        await yard.round(minute)
    (after,) = await yard.incidents()

    assert (before, after.is_open) == ("oooo", False)
    assert await yard.said() == [
        (
            "incident/i1/C1",
            "Resolved after 4 min: dana said that it was over. No action was taken through Yardmaster.",
        )
    ]
