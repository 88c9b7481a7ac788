"""A rule says whom its incident concerns: those on the subject, everybody, its holder, or bystanders."""

from dataclasses import replace

import pytest

from alerts.cards.concerned import concerned
from alerts.cards.incident_context import IncidentContext
from alerts.cards.text import plain
from alerts.incidents.events import IncidentEventType
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.impacts import with_failures
from alerts.incidents.incident import Incident
from alerts.rules import ImpactScope, Rule
from collectors.facts.queries import LogQuery
from collectors.facts.topology import TrainingFacts
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes
from tests.support.grouping import add_alert
from tests.support.log_matches import message

NODE = {"node": "gpu-a01"}


def scoped(name: str, scope: ImpactScope | None, *, is_logged: bool = False) -> Rule:
    rule = a_rule(name)
    query = LogQuery(match=message("x"), by=("node",), over=minutes(5)) if is_logged else rule.query
    return replace(rule, query=query, template=replace(rule.template, impact=scope))


def incident_of(*rules: Rule, texts: tuple[str, ...] = (), on: dict[str, str] = NODE) -> Incident:
    grouping = GroupingContext(rules={rule.id: rule for rule in rules}, topology=a_topology())
    alerts = [replace(an_alert(rule.name, on=on, summary="Bad."), texts=texts) for rule in rules]
    incident = open_incident("i1", alerts[0], channels=("C1",), now=NOON)
    for alert in alerts:
        incident = add_alert(incident, alert, grouping, NOON)
    return incident


def said(incident: Incident) -> str:
    return plain(concerned(incident, IncidentContext()))


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (None, "Where: gpu-a01 · Affects: vision/detr 16 GPUs, ana"),
        (ImpactScope.SUBJECT, "Where: gpu-a01 · Affects: vision/detr 16 GPUs, ana"),
        (ImpactScope.HOLDER, "Where: gpu-a01 · Held by: vision/detr 16 GPUs, ana"),
        (ImpactScope.BYSTANDERS, "Where: gpu-a01 · On this node: vision/detr 16 GPUs, ana"),
        (ImpactScope.CLUSTER, "Where: gpu-a01 · Affects everybody: 2 trainings run in this cluster"),
    ],
)
def test_the_verb_follows_what_the_rule_says(scope: ImpactScope | None, expected: str) -> None:
    assert said(incident_of(scoped("Bad", scope))) == expected


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (ImpactScope.SUBJECT, "Where: gpu-a01 · Affected: vision/detr 16 GPUs, ana"),
        (ImpactScope.HOLDER, "Where: gpu-a01 · Was held by: vision/detr 16 GPUs, ana"),
        (ImpactScope.CLUSTER, "Where: gpu-a01 · Affected everybody: 2 trainings ran in this cluster"),
    ],
)
def test_once_it_is_over_the_verb_is_in_the_past_tense(scope: ImpactScope, expected: str) -> None:
    assert said(replace(incident_of(scoped("Bad", scope)), resolved_at=NOON)) == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"component": "dns"}, "Where: dns · Affects everybody: 2 trainings run in this cluster"),
        ({"component": "apiserver"}, "Where: apiserver · Affects everybody: 2 trainings run in this cluster"),
        ({"component": "prometheus"}, "Where: prometheus"),
    ],
)
def test_a_component_that_all_depend_on_concerns_everybody(labels: dict[str, str], expected: str) -> None:
    assert said(incident_of(scoped("Bad", None), on=labels)) == expected


def test_the_node_of_a_log_line_is_not_where_a_component_of_the_cluster_is() -> None:
    both = incident_of(scoped("Slow", ImpactScope.CLUSTER), on={"component": "dns"})
    rule = scoped("NewError", ImpactScope.BYSTANDERS)
    line = an_alert("NewError", on={"component": "coredns", "node": "gpu-a01"})
    grouping = GroupingContext(rules={rule.id: rule}, topology=a_topology())

    joined = add_alert(both, line, grouping, NOON)
    alone = add_alert(open_incident("i2", line, channels=(), now=NOON), line, grouping, NOON)

    assert said(joined).startswith("Where: dns · Affects everybody")
    assert alone.group_key == "component/dns"
    assert said(alone).startswith("Where: dns")


def test_a_training_that_one_alert_affects_is_not_a_bystander_of_another() -> None:
    incident = incident_of(scoped("Noise", ImpactScope.BYSTANDERS), scoped("Hot", ImpactScope.SUBJECT))
    other = incident_of(scoped("Hot", ImpactScope.SUBJECT), scoped("Noise", ImpactScope.BYSTANDERS))

    assert said(incident) == said(other) == "Where: gpu-a01 · Affects: vision/detr 16 GPUs, ana"


@pytest.mark.parametrize("word", ["speech/asr-0", "speech/asr"])
def test_a_training_that_the_line_names_is_shown(word: str) -> None:
    rule = scoped("Noise", ImpactScope.BYSTANDERS, is_logged=True)
    incident = incident_of(rule, texts=(f'Error syncing pod, skipping pod="{word}"',))

    assert said(incident).endswith("; speech/asr 4 GPUs, bo · Named in the line: speech/asr 4 GPUs, bo")


def test_a_training_that_is_named_and_alone_on_the_node_is_shown_once() -> None:
    rule = scoped("Noise", ImpactScope.BYSTANDERS, is_logged=True)
    incident = incident_of(rule, texts=('Error syncing pod, skipping pod="speech/asr"',))
    alone = replace(incident, impacts=tuple(impact for impact in incident.impacts if impact.is_named))

    assert said(alone).endswith("Named in the line: speech/asr 4 GPUs, bo")
    assert said(alone).count("speech/asr") == 1


def test_a_namespace_of_a_training_in_the_line_names_it() -> None:
    rule = scoped("Noise", ImpactScope.BYSTANDERS, is_logged=True)
    alert = replace(an_alert("Noise", on=NODE), texts=('pod="speech-asr/worker-7"',))
    topology = replace(a_topology(), training_of={"speech-asr": "speech/asr"})
    grouping = GroupingContext(rules={rule.id: rule}, topology=topology)

    incident = add_alert(open_incident("i1", alert, channels=(), now=NOON), alert, grouping, NOON)

    assert said(incident).endswith("Named in the line: speech/asr 4 GPUs, bo")


def failed_at(minute: float, *, node: str = "gpu-a01") -> TrainingFacts:
    return TrainingFacts(
        id="vision/onbad",
        owner="ana",
        failed_at=NOON + minutes(minute),
        failure="worker 0 failed, exit code 134",
    )


@pytest.mark.parametrize(
    ("minute", "node", "joins"),
    [
        pytest.param(1, "gpu-a01", True, id="after the alert, on its node"),
        pytest.param(-2, "gpu-a01", True, id="shortly before the alert"),
        pytest.param(-30, "gpu-a01", False, id="long before"),
        pytest.param(1, "gpu-a02", False, id="on another node"),
    ],
)
def test_a_training_that_died_on_the_node_joins_its_incident(minute: float, node: str, joins: bool) -> None:
    incident = incident_of(scoped("Bad", None))
    topology = replace(a_topology(), failed_on={node: (failed_at(minute, node=node),)})

    after = with_failures(incident, topology)

    died = [event.text for event in after.events if event.type is IncidentEventType.TRAINING_FAILED]
    assert died == (["vision/onbad: worker 0 failed, exit code 134"] if joins else [])
    assert ("vision/onbad ana, died " in said(after)) is joins
    assert with_failures(after, topology) is after
