"""Alerts go on when an exporter names the same GPU, pod or node by other labels."""

from dataclasses import replace

import pytest

from alerts.engine import Known, RuleEvaluation, evaluate
from alerts.incidents.group_keys import group_key_of
from alerts.rules import Rule
from collectors.facts.labels import Labels
from collectors.facts.queries import CheckQuery, PromQLQuery
from collectors.facts.results import Sample, Seen
from collectors.facts.stepwise import result_of
from collectors.facts.topology import Topology, TrainingFacts
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


def test_an_alert_of_a_check_goes_on_when_its_training_gets_a_namesake() -> None:
    """Its label is the name of the training, and the key while another one has the name too."""
    name, key, other = "vision/bert", "vision/Job/bert", "vision/Job.batch.volcano.sh/bert"
    rule = replace(a_rule(), query=CheckQuery(name="failed_trainings"))
    both = {one: TrainingFacts(id=one, name=name) for one in (key, other)}
    alone = Topology(cluster=CLUSTER, trainings={key: both[key]}, keys={name: key})
    shared = Topology(cluster=CLUSTER, trainings=both)

    def asked(topology: Topology, known: Known, at: int, *labels: str) -> RuleEvaluation:
        samples = tuple(
            Sample(labels=Labels({"namespace": "vision", "training": one}), value=1) for one in labels
        )
        return result_of(
            evaluate(
                rule,
                known,
                Seen(source="checks", at=NOON + minutes(at), samples=samples),
                cluster=CLUSTER,
                renderer=a_renderer(topology),
                now=NOON + minutes(at),
            )
        )

    first = asked(alone, {}, 0, name)
    then = asked(shared, first.alerts, 1, key, other)
    assert len(then.alerts) == 2
    assert {change.alert.id for change in then.changes}.isdisjoint(one.id for one in first.alerts.values())
    (own,) = (then.alerts[one] for one in first.alerts)
    assert (own.subject.training, own.life.since) == (key, NOON)
    (new,) = (one for one in then.alerts.values() if one.subject.training == other)
    assert group_key_of(new) != group_key_of(own)
    again = asked(alone, then.alerts, 2, name)
    assert own.id in {one.id for one in again.alerts.values()}
