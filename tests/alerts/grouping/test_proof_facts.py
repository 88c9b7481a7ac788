"""Facts that prove that a fault is over: pods that waited for a volume, and metrics of the alert's own labels."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from alerts.cards.proof_text import waits_for, what_proved
from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident, resolve_if_over
from alerts.incidents.incident import Incident
from alerts.incidents.proofs import ProofFacts, with_proofs
from alerts.rules import Rule
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from collectors.facts.topology import ClaimFacts, Topology
from tests.support.alerting import NOON, a_topology, an_alert, minutes, resolved
from tests.support.grouping import add_alert
from tests.support.proofs import a_rule_with, topology_of

CLAIM = "vision/ckpt"
GPU = {"Hostname": "gpu-a01", "gpu": "3", "UUID": "GPU-3"}


def incident_of(*proofs: str, on: Mapping[str, str] | None = None) -> Incident:
    """Return the incident of resolved alerts, each with its own proofs."""
    incident: Incident | None = None
    for number, words in enumerate(proofs):
        name = f"Fault{number}"
        alert = an_alert(name, severity="critical", on=on or {"node": "gpu-a01"})
        alert = replace(alert, annotations={"summary": "It is lost.", "proof": words})
        rule: Rule = replace(a_rule_with(words), id=alert.rule, name=name)
        grouping = GroupingContext(rules={alert.rule: rule}, topology=a_topology())
        incident = incident or open_incident("i1", alert, channels=("C1",), now=NOON)
        for one in (alert, resolved(alert, NOON + minutes(1))):
            incident = add_alert(incident, one, grouping, NOON)
    assert incident is not None
    return incident


def looked(incident: Incident, *facts: ProofFacts) -> Incident:
    for minute, one in enumerate(facts, start=2):
        incident = with_proofs(incident, one, NOON + minutes(minute))
    return incident


def is_proven(incident: Incident) -> bool:
    return not resolve_if_over(incident, NOON + minutes(30)).is_open


def claim(waiting: Mapping[str, str], *running: str) -> ProofFacts:
    facts = ClaimFacts(name=CLAIM, waiting=waiting, running=running)
    topology: Topology = replace(a_topology(), claims={"pvc-1": facts, CLAIM: facts})
    return ProofFacts(topology=topology)


WAITS = claim({"vision/w": "gpu-a01"})


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param((WAITS, WAITS), False, id="it still waits"),
        pytest.param((WAITS, claim({}, "vision/w")), True, id="the pod that waited runs"),
        pytest.param((WAITS, claim({}, "vision/other")), False, id="another pod runs"),
        pytest.param((WAITS, claim({})), False, id="the pod that waited is gone"),
        pytest.param((claim({}, "vision/w"), claim({}, "vision/w")), False, id="a pod that always ran"),
        pytest.param(
            (claim({"vision/w": "gpu-a02"}), claim({}, "vision/w")),
            False,
            id="a pod that waited on another node",
        ),
        pytest.param((WAITS, ProofFacts(), claim({}, "vision/w")), True, id="after a blind minute"),
        pytest.param((WAITS, ProofFacts(topology=a_topology())), False, id="nobody knows the claim any more"),
    ],
)
def test_a_volume_mounts_again_when_a_pod_runs_that_waited_for_it(
    facts: tuple[ProofFacts, ...], expected: bool
) -> None:
    fault = incident_of("volume-mounted", on={"node": "gpu-a01", "volume": "pvc-1"})

    assert is_proven(looked(fault, *facts)) is expected


def test_without_the_name_of_the_volume_no_pod_proves_anything() -> None:
    fault = incident_of("volume-mounted", on={"node": "gpu-a01", "device": "/dev/rbd1"})

    assert not is_proven(looked(fault, WAITS, claim({}, "vision/w")))


def metric(*samples: tuple[Mapping[str, str], float]) -> ProofFacts:
    of_rule = tuple(Sample(labels=Labels(labels), value=value) for labels, value in samples)
    return ProofFacts(metrics={"gpu/heat/Fault0": of_rule})


OTHER = {"Hostname": "gpu-a01", "gpu": "4", "UUID": "GPU-4"}
ELSEWHERE = {"Hostname": "gpu-a02", "gpu": "3", "UUID": "GPU-9"}
WELL = metric((GPU, 1))


@pytest.mark.parametrize(
    ("first", "then", "expected"),
    [
        pytest.param(metric((GPU, 0)), WELL, True, id="it was not well, and is"),
        pytest.param(metric((GPU, float("nan"))), WELL, True, id="it had no value, and has one"),
        pytest.param(metric((OTHER, 1)), WELL, True, id="the others of its node reported without it"),
        pytest.param(metric((ELSEWHERE, 1)), WELL, False, id="its whole node was not scraped"),
        pytest.param(metric(), WELL, False, id="nothing was scraped"),
        pytest.param(ProofFacts(), WELL, False, id="nothing was answered"),
        pytest.param(WELL, WELL, False, id="it was always well"),
        pytest.param(metric((GPU, 0)), metric((OTHER, 1)), False, id="another GPU is well"),
        pytest.param(
            metric((GPU, 0)), metric(({**GPU, "UUID": "GPU-5"}, 1)), False, id="a new GPU with its number"
        ),
        pytest.param(metric((GPU, 0)), metric((GPU, 1), (GPU, 0)), False, id="one of two series is well"),
        pytest.param(metric((GPU, 0)), metric(({}, 1)), False, id="a value of nothing in particular"),
        pytest.param(
            metric(({"Hostname": "gpu-a01"}, 0)), metric(({"Hostname": "gpu-a01"}, 1)), True, id="its node"
        ),
    ],
)
def test_a_metric_proves_something_of_the_alert_that_it_names(
    first: ProofFacts, then: ProofFacts, expected: bool
) -> None:
    assert is_proven(looked(incident_of("metric", on=GPU), first, then)) is expected


@pytest.mark.parametrize(
    ("proofs", "said"),
    [
        pytest.param(("word",), "Stays open until somebody says incident resolve i1.", id="a word"),
        pytest.param(
            ("gpus-allocatable",),
            "Stays open until all 8 GPUs of gpu-a01 are allocatable again, or somebody says incident resolve i1.",
            id="GPUs",
        ),
        pytest.param(
            ("volume-mounted node-rebooted",),
            "Stays open until gpu-a01 has rebooted and is ready or a pod that waited for the volume runs, or somebody "
            "says incident resolve i1.",
            id="a volume",
        ),
        pytest.param(
            ("metric",),
            "Stays open until the metrics of gpu-a01 are back to normal, or somebody says incident resolve i1.",
        ),
        pytest.param(
            ("word", "word"),
            "Stays open until somebody says incident resolve i1.",
            id="two that wait for the same",
        ),
        pytest.param(
            ("node-rebooted", "gpus-allocatable"),
            "Stays open until gpu-a01 has rebooted and is ready, and until all 8 GPUs of gpu-a01 are allocatable "
            "again, or somebody says incident resolve i1.",
            id="two that wait for something else each",
        ),
        pytest.param(
            ("node-rebooted", "word"),
            "Stays open until somebody says incident resolve i1.",
            id="nothing that is seen ends the second",
        ),
        pytest.param(("",), "", id="its end is proof enough"),
    ],
)
def test_the_card_says_what_it_waits_for_in_one_sentence(proofs: tuple[str, ...], said: str) -> None:
    incident = looked(incident_of(*proofs), ProofFacts(topology=topology_of("8")))

    assert plain(waits_for(incident)) == said


@pytest.mark.parametrize(
    ("proof", "facts", "said"),
    [
        pytest.param(
            "gpus-allocatable", "7bb", "all 8 GPUs of gpu-a01 were allocatable again after a reboot"
        ),
        pytest.param("gpus-allocatable", "788", "all 8 GPUs of gpu-a01 were allocatable again"),
        pytest.param("gpus-allocatable", "7-", "gpu-a01 was no longer in the cluster"),
        pytest.param("node-rebooted", "8b", "gpu-a01 had rebooted and was ready"),
    ],
)
def test_it_says_in_the_past_what_proved_it_and_when(proof: str, facts: str, said: str) -> None:
    seen = (ProofFacts(topology=topology_of(letter)) for letter in facts)

    proved = plain(what_proved(looked(incident_of(proof), *seen)))
    assert proved == f"{said} (2026-03-02 12:03 UTC)"


def test_each_alert_needs_its_own_proof() -> None:
    """A reboot ends what held the volume, and not the doubt about the data on it."""
    incident = incident_of("node-rebooted", "word")
    rebooted = looked(incident, *(ProofFacts(topology=topology_of(letter)) for letter in "8b"))

    assert [one.name for one in incident.unproven] == ["Fault0", "Fault1"]
    assert [one.name for one in rebooted.unproven] == ["Fault1"]
    assert resolve_if_over(rebooted, NOON + minutes(9)).is_open


def test_a_crash_of_a_training_left_nothing_broken() -> None:
    assert is_proven(replace(incident_of("gpus-allocatable"), crash_of="vision/detr"))


def test_what_was_seen_moves_with_a_clock_step() -> None:
    incident = looked(
        incident_of("gpus-allocatable"), *(ProofFacts(topology=topology_of(one)) for one in "788")
    )
    (before,), (after,) = incident.members, incident.restated(minutes(60)).members

    assert before.proven is not None
    assert before.evidence is not None
    assert after.proven == replace(before.proven, at=NOON + minutes(63), since=NOON + minutes(63))
    assert after.evidence == replace(
        before.evidence, since=NOON + minutes(62), holds_since=NOON + minutes(63)
    )
