"""Alerts go on when an exporter names the same GPU, pod or node by other labels."""

from dataclasses import replace

import pytest

from alerts.engine import Known, RuleEvaluation, evaluate
from alerts.rules import Rule
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Sample, Seen
from collectors.facts.stepwise import result_of
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_rule, minutes

PACK = replace(a_rule(), query=PromQLQuery(expr="heat > 83", presence="heat", of_pack=True))
OWN = replace(PACK, query=PromQLQuery(expr="heat > 83", presence="heat"))
GPU = {"gpu": "3", "UUID": "GPU-1"}
BEFORE = {"Hostname": "nvidia-dcgm-exporter-x7k2p", **GPU}


def evaluated(
    rule: Rule,
    *found: dict[str, str],
    known: Known | None = None,
    present: list[dict[str, str]] | None = None,
) -> RuleEvaluation:
    result = Seen(
        source="prometheus",
        at=NOON,
        samples=tuple(Sample(labels=Labels(one), value=91) for one in found),
        present=None if present is None else tuple(map(Labels, present)),
    )
    now = NOON + minutes(1 if known else 0)
    return result_of(evaluate(rule, known or {}, result, cluster=CLUSTER, renderer=a_renderer(), now=now))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BEFORE, {"node": "gpu-a01", **GPU}),
        ({"Hostname": "gpu-a01", "gpu": "3"}, {"node": "gpu-a01", "gpu": "3"}),
        ({"instance": "10.0.0.11:9100"}, {"instance": "gpu-a01", "node": "gpu-a01"}),
        (
            {"Hostname": "gpu-a01", "exported_namespace": "vision", "exported_pod": "detr-0"},
            {"node": "gpu-a01", "namespace": "vision", "pod": "detr-0"},
        ),
    ],
    ids=["by its UUID", "by node and index", "by node", "by pod"],
)
def test_the_same_thing_by_other_labels_is_the_same_alert(
    before: dict[str, str], after: dict[str, str]
) -> None:
    first = evaluated(PACK, before)
    then = evaluated(PACK, after, known=first.alerts)
    assert set(then.alerts) == set(first.alerts)
    assert then.changes == ()
    (alert,) = then.alerts.values()
    assert alert.subject.node == "gpu-a01"


@pytest.mark.parametrize(
    "after",
    [
        {"node": "gpu-a01", "gpu": "3", "UUID": "GPU-2"},
        {"node": "gpu-a01", "xid": "79", **GPU},
        {"node": "gpu-a02", "gpu": "3"},
    ],
    ids=["another GPU", "something else about it", "another node"],
)
def test_another_thing_is_another_alert(after: dict[str, str]) -> None:
    first = evaluated(PACK, {"Hostname": "gpu-a01", **GPU})
    then = evaluated(PACK, after, known=first.alerts)
    assert set(then.alerts).isdisjoint(first.alerts)


def test_where_it_is_not_clear_which_is_which_nothing_is_carried_over() -> None:
    first = evaluated(PACK, {"Hostname": "gpu-a01", **GPU})
    then = evaluated(PACK, {"node": "gpu-a01", **GPU}, {"hostname": "gpu-a01", **GPU}, known=first.alerts)
    assert set(then.alerts).isdisjoint(first.alerts)


def test_rules_of_ones_own_are_as_in_prometheus() -> None:
    first = evaluated(OWN, BEFORE)
    then = evaluated(OWN, {"node": "gpu-a01", **GPU}, known=first.alerts)
    assert set(then.alerts).isdisjoint(first.alerts)


def test_an_alert_ends_when_its_subject_is_watched_by_other_labels() -> None:
    known = evaluated(PACK, BEFORE, present=[BEFORE]).alerts
    elsewhere = {"Hostname": "gpu-a01", "gpu": "3", "UUID": "GPU-2"}
    assert set(evaluated(PACK, known=known, present=[elsewhere]).alerts) == set(known)
    disk = evaluated(PACK, {"instance": "10.0.0.11:9100", "mountpoint": "/data"}).alerts
    root = {"node": "gpu-a01", "mountpoint": "/"}
    assert set(evaluated(PACK, known=disk, present=[{"instance": "10.0.0.11:9100", **root}]).alerts) == set(
        disk
    )
    assert evaluated(PACK, known=known, present=[{"Hostname": "gpu-a01", **GPU}]).alerts == {}
    assert set(evaluated(OWN, known=known, present=[{"Hostname": "gpu-a01", **GPU}]).alerts) == set(known)
