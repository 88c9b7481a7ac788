"""Suggestions of a card, by buttons and in words: each is possible and still to do, also over generated histories."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from alerts.cards.cluster_now import ClusterNow
from alerts.cards.incident_buttons import card_buttons
from alerts.cards.incident_card import incident_card
from alerts.cards.incident_context import IncidentAction, IncidentContext
from alerts.cards.message import Paragraph
from alerts.cards.offers import offers
from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from collectors.facts.subjects import Subject
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes, resolved
from tests.support.examples import by_profile
from tests.support.grouping import add_alert

RULE = a_rule(
    "VolumeFormatted",
    actions=(
        'volume freeze {volume} --node {node} --reason "lost"',
        "training stop {training} --keep-namespace",
        'node cordon {node} --reason "lost"',
        "gpu free {training}",
        "node show {node}",
        "training show {training}",
    ),
)
RULES = {RULE.id: RULE}
NODE, CLAIM, TRAINING = "gpu-a01", "vision/ckpt", "vision/detr"
SUBJECT = Subject(cluster="prod-a", node=NODE, volume=CLAIM, namespace="vision", training=TRAINING)


def incident_of(*, is_open: bool = True) -> Incident:
    alert = replace(an_alert("VolumeFormatted", node=NODE), subject=SUBJECT)
    grouping = GroupingContext(rules=RULES, topology=a_topology())
    incident = open_incident("i1", alert, channels=("C1",), now=NOON)
    incident = add_alert(incident, alert, grouping, NOON)
    if is_open:
        return incident
    ended = add_alert(incident, resolved(alert, NOON + minutes(5)), grouping, NOON + minutes(5))
    return replace(ended, resolved_at=NOON + minutes(5))


def offered(**cluster: object) -> list[str]:
    now = ClusterNow(**cluster)  # type: ignore[arg-type]
    return [
        " ".join(line.split()[:2])
        for line in offers(incident_of(), IncidentContext(rules=RULES, cluster=now))
    ]


EVERYTHING = ["volume freeze", "training stop", "node cordon", "gpu free", "node show", "training show"]


def test_what_is_not_known_is_offered() -> None:
    assert offered() == EVERYTHING


@pytest.mark.parametrize(
    ("cluster", "gone"),
    [
        pytest.param({"cordoned": {NODE}}, {"node cordon"}, id="cordoned, by anybody"),
        pytest.param({"frozen": {CLAIM}}, {"volume freeze"}, id="frozen"),
        pytest.param({"writers": {CLAIM: frozenset()}}, {"training stop"}, id="nobody writes to the volume"),
        pytest.param({"writers": {CLAIM: {"speech/asr"}}}, {"training stop"}, id="another one writes to it"),
        pytest.param({"over": {TRAINING}}, {"training stop", "gpu free"}, id="the training has ended"),
        pytest.param({"idle": {TRAINING}}, {"gpu free"}, id="the training holds no GPUs"),
        pytest.param(
            {"missing": {TRAINING}},
            {"training stop", "gpu free", "training show"},
            id="there is no such training",
        ),
        pytest.param(
            {"missing": {NODE}}, {"volume freeze", "node cordon", "node show"}, id="there is no such node"
        ),
    ],
)
def test_nothing_is_offered_that_is_so_or_has_no_object(cluster: dict[str, object], gone: set[str]) -> None:
    given = {name: frozenset(it) if isinstance(it, set) else it for name, it in cluster.items()}

    assert offered(**given) == [one for one in EVERYTHING if one not in gone]


@pytest.mark.parametrize("seed", range(200))
def test_buttons_and_the_next_step_of_any_history_are_possible_and_not_yet_so(seed: int) -> None:
    _check(seed)


@pytest.mark.soak
def test_so_they_are_of_many_more(record_property: Callable[[str, object], None]) -> None:
    seeds = range(200, by_profile(400, 5_000))
    for seed in seeds:
        _check(seed)
    record_property("counts", {"histories": len(seeds)})


def _check(seed: int) -> None:
    random = Random(seed)

    def some(*names: str) -> frozenset[str]:
        return frozenset(name for name in names if random.random() < 0.4)

    now = ClusterNow(
        cordoned=some(NODE),
        frozen=some(CLAIM),
        writers={CLAIM: some(TRAINING, "speech/asr")} if random.random() < 0.6 else {},
        idle=some(TRAINING),
        over=some(TRAINING),
        missing=some(NODE, CLAIM, TRAINING) if random.random() < 0.3 else frozenset(),
    )
    states = (
        "proposed",
        "confirmed",
        "waiting",
        "running",
        "done",
        "failed",
        "undone",
        "unknown",
        "cancelled",
    )
    lines = (
        f"node cordon {NODE}",
        f"volume freeze {CLAIM}",
        f"training stop {TRAINING}",
        f"gpu free {TRAINING}",
    )
    actions = tuple(
        IncidentAction(plan=f"p{number}", line=line, who="U1", who_name="Dana", state=random.choice(states))
        for number, line in enumerate(random.choices(lines, k=random.randrange(4)))
    )
    context = IncidentContext(rules=RULES, cluster=now, actions=actions)
    incident = incident_of(is_open=random.random() < 0.8)

    buttons = [
        one
        for one in card_buttons(incident, context).buttons
        if not one.line.startswith(("alert", "incident"))
    ]
    said = [
        plain(b.text)
        for b in incident_card(incident, context=context, now=NOON).blocks
        if isinstance(b, Paragraph)
    ]
    begun = {
        one.line for one in actions if one.state in ("confirmed", "waiting", "running", "done", "unknown")
    }

    for line in (one.line for one in buttons):
        verb, name = " ".join(line.split()[:2]), line.split()[2]
        assert name not in now.missing
        assert NODE not in now.missing or "--node" not in line
        assert f"{verb} {name}" not in begun
        assert not (verb == "node cordon" and name in now.cordoned)
        assert not (verb == "volume freeze" and name in now.frozen)
        assert not (verb in ("training stop", "gpu free") and name in now.over)
        assert not (verb == "gpu free" and name in now.idle)
        assert not (verb == "training stop" and CLAIM in now.writers and name not in now.writers[CLAIM])
    labels = [one.label for one in buttons]
    for text in (one for one in said if "Next: " in one and "investigate" not in one):
        assert text.rpartition("Next: ")[2].partition(" · ")[0] in labels
    assert incident.is_open or not labels
