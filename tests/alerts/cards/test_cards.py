"""The card of an incident: what, where, who is affected, what to do; text from outside never becomes markup."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.cards.desired_cards import desired_cards
from alerts.cards.event_words import event_text
from alerts.cards.incident_buttons import MAX_BUTTONS
from alerts.cards.incident_card import incident_card
from alerts.cards.incident_context import IncidentAction, IncidentContext
from alerts.cards.message import Buttons, Color, Context, Message, Paragraph, Preformatted
from alerts.cards.posted import CardKind, PostedCard, card_id
from alerts.cards.sentence_spans import expanded
from alerts.cards.suggested_actions import fill, label_of, suggestions
from alerts.cards.text import Span, Style, plain
from alerts.incidents.events import IncidentEvent, IncidentEventType
from alerts.incidents.grouping import GroupingContext, acknowledge, open_incident, resolve_if_over
from alerts.incidents.incident import Incident
from alerts.rules import Rule
from collectors.facts.subjects import Subject
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes, resolved
from tests.support.grouping import add_alert
from tests.support.incidents import replies_to

ACTIONS = ('node cordon {node} --reason "GPU hot"', "training show {training}", "node show {node}")
RULE = a_rule(actions=ACTIONS, runbook="gpu-temperature-high")
RULES = {RULE.id: RULE}
GROUPING = GroupingContext(rules=RULES, topology=a_topology())
CONTEXT = IncidentContext(rules=RULES, people={"ana": "U7"}, runbooks="https://books/")
DONE = IncidentAction(plan="p1", line="node cordon gpu-a01", who="U1", who_name="Dana", state="done")
FIX = replace(DONE, plan="p2", line="fans on", relieves=("GPUTemp*",))


def incident(*, severity: str = "warning", summary: str = "GPU 3 is hot: 91 °C.", **labels: str) -> Incident:
    alert = an_alert(severity=severity, summary=summary, on=labels or {"node": "gpu-a01", "gpu": "3"})
    return add_alert(open_incident("i7", alert, channels=("C1", "C2"), now=NOON), alert, GROUPING, NOON)


def ended(one: Incident) -> Incident:
    (member,) = one.members
    resolved_alerts = replace(one, members=(replace(member, state=resolved(an_alert(), NOON).life.state),))
    return resolve_if_over(resolved_alerts, NOON + minutes(12))


def card_of(one: Incident, context: IncidentContext = CONTEXT) -> Message:
    return incident_card(one, context=context, now=NOON)


def lines(shown: Message) -> list[str]:
    return [plain(shown.title), *(plain(b.text) for b in shown.blocks if isinstance(b, Paragraph))]


def buttons(shown: Message) -> dict[str, str]:
    return {b.label: b.line for block in shown.blocks if isinstance(block, Buttons) for b in block.buttons}


def test_the_first_three_lines_say_what_where_who_and_next() -> None:
    assert lines(card_of(incident()))[:3] == [
        "🟠 GPU 3 is hot: 91 °C",
        "Where: GPU 3 on gpu-a01 · On this node: vision/detr 16 GPUs, ana",
        "Next: Cordon gpu-a01 · runbook",
    ]


def test_a_place_in_the_title_is_not_repeated() -> None:
    shown = card_of(incident(summary="GPU 3 on gpu-a01 is hot: 91 °C."))

    assert lines(shown)[:2] == ["🟠 GPU 3 on gpu-a01 is hot: 91 °C", "On this node: vision/detr 16 GPUs, ana"]
    assert "rack-a" in " ".join(plain(b.text) for b in shown.blocks if isinstance(b, Context))


def test_the_owner_is_mentioned_by_chat_user_id() -> None:
    spans = [
        span
        for block in card_of(incident()).blocks
        if isinstance(block, Paragraph)
        for span in expanded(block.text)
    ]

    assert Span("ana", Style.PERSON, "U7") in spans
    assert Span("runbook", Style.LINK, "https://books/gpu-temperature-high.md") in spans


def test_a_node_where_nothing_runs_affects_no_training() -> None:
    assert lines(card_of(incident(node="infra-01")))[1] == "Where: infra-01 · Affects: no known training"
    assert lines(card_of(incident(component="prometheus")))[1] == "Where: prometheus"


@pytest.mark.parametrize(
    ("severity", "color", "mark"),
    [("critical", Color.CRITICAL, "🔴"), ("warning", Color.WARNING, "🟠"), ("info", Color.INFO, "🔵")],
)
def test_the_color_follows_the_severity(severity: str, color: Color, mark: str) -> None:
    shown = card_of(incident(severity=severity))

    assert shown.color is color
    assert plain(shown.title).startswith(mark)
    assert shown.notification == f"{severity.upper()}: GPU 3 is hot: 91 °C"


def test_buttons_are_the_suggested_actions_and_acknowledge() -> None:
    assert buttons(card_of(incident())) == {
        "Cordon gpu-a01": 'node cordon gpu-a01 --reason "GPU hot"',
        "Show gpu-a01": "node show gpu-a01",
        "Acknowledge": "alert ack i7",
    }


def test_an_action_that_the_subject_cannot_fill_is_not_suggested() -> None:
    assert suggestions(incident(component="dns"), RULES) == ()
    assert [one.line for one in suggestions(incident(namespace="vision", pod="detr-0"), RULES)] == [
        'node cordon gpu-a01 --reason "GPU hot"',
        "training show vision/detr",
        "node show gpu-a01",
    ]


def test_buttons_have_a_limit() -> None:
    rule = a_rule(actions=tuple(f"node show {{node}} --page {number}" for number in range(9)))

    assert len(buttons(card_of(incident(), IncidentContext(rules={rule.id: rule})))) <= MAX_BUTTONS


def test_an_acknowledged_card_names_the_person_and_loses_the_button() -> None:
    acknowledged = acknowledge(incident(), who="U1", now=NOON)

    assert "Acknowledge" not in buttons(card_of(acknowledged))
    assert "acknowledged by U1" in " ".join(
        plain(b.text) for b in card_of(acknowledged).blocks if isinstance(b, Context)
    )


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("running", "In progress: node cordon gpu-a01, by Dana"),
        ("done", "Done: node cordon gpu-a01 by Dana · Next: Show gpu-a01 · runbook"),
    ],
)
def test_started_actions_are_shown_instead_of_suggested_ones(state: str, expected: str) -> None:
    shown = card_of(incident(), replace(CONTEXT, actions=(replace(DONE, state=state),)))

    assert lines(shown)[2].startswith(expected)


@pytest.mark.parametrize("state", ["confirmed", "running", "done"])
def test_a_started_action_is_not_suggested_again(state: str) -> None:
    shown = card_of(incident(), replace(CONTEXT, actions=(replace(DONE, state=state),)))

    assert "Cordon gpu-a01" not in buttons(shown)
    assert "Show gpu-a01" in buttons(shown)


@pytest.mark.parametrize("state", ["failed", "cancelled", "undone"])
def test_a_failed_cancelled_or_undone_action_is_suggested_again(state: str) -> None:
    shown = card_of(incident(), replace(CONTEXT, actions=(replace(DONE, state=state),)))

    assert "Cordon gpu-a01" in buttons(shown)
    assert lines(shown)[2].startswith("Next: Cordon gpu-a01")


def test_a_resolved_card_names_the_fix() -> None:
    shown = card_of(ended(incident()), replace(CONTEXT, actions=(FIX,)))

    assert shown.color is Color.GOOD
    assert lines(shown)[0].startswith("✅ ")
    assert lines(shown)[2] == "Resolved after 12 min. Fixed by fans on by Dana."
    assert buttons(shown) == {}
    assert shown.notification.startswith("Resolved: ")


def test_a_resolved_card_without_actions_says_so() -> None:
    assert (
        lines(card_of(ended(incident())))[2]
        == "Resolved after 12 min. No action was taken through Yardmaster."
    )


def test_a_failed_action_is_not_a_fix() -> None:
    shown = card_of(ended(incident()), replace(CONTEXT, actions=(replace(DONE, state="failed"),)))

    assert "Fixed by" not in " ".join(lines(shown))


def test_only_an_open_card_shows_why_it_is_blind() -> None:
    blind = replace(CONTEXT, blind="prometheus: refused")

    assert "⚪ Cannot see it now: prometheus: refused" in lines(card_of(incident(), blind))
    assert not any("Cannot see" in line for line in lines(card_of(ended(incident()), blind)))


def test_a_card_without_data_shows_since_when_unless_one_alert_has_data() -> None:
    def unseen(**at: float) -> Incident:
        members = [
            replace(incident().members[0], alert=name, unseen_since=NOON + minutes(when) if when else None)
            for name, when in at.items()
        ]
        return replace(incident(), members=tuple(members))

    assert "⚪ Cannot see it now: no data since 2026-03-02 12:07 UTC" in lines(card_of(unseen(a=3, b=7)))
    assert not any("Cannot see" in line for line in lines(card_of(unseen(a=3, b=0))))


def test_a_silenced_card_is_quiet() -> None:
    shown = card_of(incident(), replace(CONTEXT, silenced_until=NOON + minutes(60)))

    assert shown.color is Color.QUIET
    assert "silenced until 2026-03-02 13:00 UTC" in plain(
        next(b.text for b in shown.blocks if isinstance(b, Context))
    )


def test_alerts_of_other_rules_are_listed_up_to_a_limit() -> None:
    one = incident()
    for number in range(9):
        one = add_alert(one, an_alert(f"Other{number}", node="gpu-a01"), GROUPING, NOON)

    (others,) = [line for line in lines(card_of(one)) if line.startswith("Also: ")]
    assert others.endswith("; and 4 more rules")


@pytest.mark.parametrize(
    ("mine", "theirs", "subject", "is_said"),
    [
        pytest.param(0.051, 0.051, "gpu-a01", False, id="one measurement, two thresholds"),
        pytest.param(0.051, 0.07, "gpu-a01", True, id="two measurements"),
        pytest.param(2, 2, "gpu-a01", True, id="two counts may be equal by chance"),
        pytest.param(0.051, 0.051, "gpu-a02", True, id="of another node"),
    ],
)
def test_a_milder_rule_over_the_same_measurement_does_not_repeat_the_headline(
    mine: float, theirs: float, subject: str, is_said: bool
) -> None:
    lead = replace(an_alert("Failing", severity="critical", node="gpu-a01"), value=mine)
    milder = replace(an_alert("Errors", node=subject), value=theirs)
    one = add_alert(incident(), lead, GROUPING, NOON)
    one = add_alert(one, milder, GROUPING, NOON)

    (others,) = [line for line in lines(card_of(one)) if line.startswith("Also: ")]
    assert (milder.annotations["summary"].rstrip(".") in others) == is_said


def test_alerts_of_one_rule_are_counted_in_the_title() -> None:
    one = incident()
    for number in (4, 5):
        one = add_alert(one, an_alert(node="gpu-a01", gpu=str(number)), GROUPING, NOON)

    assert lines(card_of(one))[0] == "🟠 GPU 3 is hot: 91 °C (+2 more)"


def test_evidence_is_preformatted_and_truncated() -> None:
    one = incident()
    (member,) = one.members
    texts = tuple(f"<!channel> *line* {number}" for number in range(9))
    shown = card_of(replace(one, members=(replace(member, texts=texts),)))

    assert [block for block in shown.blocks if isinstance(block, Preformatted)] == [
        Preformatted(lines=texts[:4])
    ]


def test_text_from_outside_never_becomes_markup() -> None:
    hostile = "<!channel> <https://evil|press> *bold* `code` :fire:"
    shown = card_of(incident(summary=hostile))

    hostile_spans = [span for span in shown.title if hostile in span.text]
    assert [span.style for span in hostile_spans] == [Style.BOLD]
    assert all(not span.target for span in hostile_spans)


HOSTILE = [
    "gpu-a01 --reason x",
    "gpu-a01\nnode cordon gpu-a02",
    "gpu-a01\tx",
    'gpu"a01',
    "gpu'a01",
    "gpu\\a01",
    "--all",
    "-h",
    "<!channel>",
    "<@U1>",
    "a&amp;b",
    "`rm`",
    "*a*",
    "$(reboot)",
    "a;b",
    "a|b",
    "{training}",
    "…",
    "gpu‐a01",  # U+2010 in the place of a hyphen-minus
    "gpu\u200ba01",
    "",
]


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_a_value_that_is_not_a_name_never_fills_an_action(value: str) -> None:
    assert fill("node cordon {node}", Subject(node=value, training="vision/detr")) is None


@pytest.mark.parametrize(
    "value",
    ["gpu-a01", "gpu-a01.dc1.example", "vision/detr", "10.0.0.11:9100", "ana@corp.example", "GPU-1", "a_b"],
)
def test_a_name_fills_an_action(value: str) -> None:
    assert fill("x {node} y {node}", Subject(node=value)) == f"x {value} y {value}"


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_filled_line_has_as_many_words_as_its_template(node: str, training: str) -> None:
    line = fill("node cordon {node} for {training}", Subject(node=node, training=training))

    assert line is None or line.split() == ["node", "cordon", node, "for", training]


def test_a_line_without_placeholders_needs_no_subject() -> None:
    assert fill("dns scale", Subject()) == "dns scale"


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ('node cordon gpu-a04 --reason "x y"', "Cordon gpu-a04"),
        ("dns scale", "Scale DNS"),
        ("gpu free --after 1h", "Free GPUs"),
        ("node list", "List nodes"),
        ("training show vision/detr", "Show vision/detr"),
    ],
)
def test_a_button_is_labeled_with_its_verb_and_its_object(line: str, label: str) -> None:
    assert label_of(line) == label


def test_links_are_filled_from_the_subject_or_left_out() -> None:
    links = {"grafana": "https://g/d/node?var-node={node}", "claim": "https://g/{volume}"}
    shown = card_of(incident(), replace(CONTEXT, links=links))

    foot = next(block.text for block in shown.blocks if isinstance(block, Context))
    assert [span.target for span in foot if span.style is Style.LINK] == ["https://g/d/node?var-node=gpu-a01"]


def test_there_is_one_card_per_channel() -> None:
    one = incident()
    desired = desired_cards(one, {})

    assert [card.id for card in desired] == ["incident/i7/C1", "incident/i7/C2"]
    assert desired_cards(one, {card.id: card for card in desired}) == []
    assert [card.channel for card in desired_cards(one, {desired[0].id: desired[0]})] == ["C2"]


@pytest.mark.parametrize("event_type", IncidentEventType)
def test_only_notifying_events_are_replies_in_each_thread(event_type: IncidentEventType) -> None:
    one = replace(
        incident(), events=(IncidentEvent(number=4, at=NOON, type=event_type, text="words", who="U1"),)
    )
    cards = [
        PostedCard(
            id=card_id(CardKind.INCIDENT, "i7", channel),
            cluster="prod-a",
            kind=CardKind.INCIDENT,
            row_id="i7",
            channel=channel,
        )
        for channel in one.channels
    ]
    desired = replies_to(one, cards, CONTEXT)

    notifies = event_type in (
        IncidentEventType.SEVERITY_RAISED,
        IncidentEventType.WORSENED,
        IncidentEventType.ACKNOWLEDGED,
        IncidentEventType.HANDED_OVER,
        IncidentEventType.GIVEN_BACK,
        IncidentEventType.REOPENED,
        IncidentEventType.RESOLVED,
    )
    assert [line.id for line in desired] == (["incident/i7/C1#4", "incident/i7/C2#4"] if notifies else [])
    assert {line.broadcast for line in desired} <= {
        event_type
        in (IncidentEventType.SEVERITY_RAISED, IncidentEventType.WORSENED, IncidentEventType.REOPENED)
    }


@pytest.mark.parametrize(
    ("event_type", "expected"),
    [
        (IncidentEventType.SEVERITY_RAISED, "Severity raised to words"),
        (IncidentEventType.WORSENED, "It became worse: words"),
        (IncidentEventType.ACKNOWLEDGED, "Acknowledged by U1."),
        (IncidentEventType.REOPENED, "Reopened by U1: words."),
        (IncidentEventType.OPENED, "Opened: words"),
        (IncidentEventType.ALERT_ADDED, "Alert added: words"),
        (IncidentEventType.ALERT_RESOLVED, "Over: words"),
        (IncidentEventType.ACTION_DONE, "Done: words by U1"),
        (IncidentEventType.TRAINING_FAILED, "A training died: words"),
    ],
)
def test_the_text_of_an_event(event_type: IncidentEventType, expected: str) -> None:
    event = IncidentEvent(number=2, at=NOON, type=event_type, text="words", who="U1")

    assert plain(event_text(incident(), event, context=CONTEXT)) == expected


def test_an_alert_that_fires_again_reopens_it_without_a_person() -> None:
    event = IncidentEvent(number=2, at=NOON, type=IncidentEventType.REOPENED, text="words")

    assert plain(event_text(incident(), event, context=CONTEXT)) == "Reopened: words"


def test_a_log_line_that_left_its_window_is_not_over() -> None:
    one = incident()
    logged = replace(one.members[0], is_logged=True)
    event = IncidentEvent(number=2, at=NOON, type=IncidentEventType.ALERT_RESOLVED, text=logged.summary)

    said = plain(event_text(replace(one, members=(logged,)), event, context=CONTEXT))

    assert said == f"No longer logged: {logged.summary}"


def test_the_last_reply_names_the_fix() -> None:
    one = ended(incident())

    reply = event_text(one, one.events[-1], context=replace(CONTEXT, actions=(FIX, DONE)))

    assert plain(reply) == (
        "Resolved after 12 min. Fixed by fans on by Dana. Meanwhile: node cordon gpu-a01 by Dana."
    )


def test_the_last_reply_says_that_the_node_has_left() -> None:
    one = ended(incident())
    left = replace(one.members[0], ended_reason="gpu-a01 is no longer in the cluster")
    one = replace(one, members=(left, *one.members[1:]))

    reply = event_text(one, one.events[-1], context=replace(CONTEXT, actions=(DONE,)))

    assert plain(reply) == "Resolved after 12 min: gpu-a01 is no longer in the cluster."


def test_an_unknown_rule_suggests_nothing_and_does_not_fail() -> None:
    rules: dict[str, Rule] = {}
    shown = card_of(incident(), IncidentContext(rules=rules))

    assert lines(shown)[2] == "Next: investigate; no action is suggested"


def test_an_action_whose_outcome_is_not_known_is_shown_as_that() -> None:
    context = replace(CONTEXT, actions=(replace(DONE, state="unknown"),))

    shown = card_of(incident(), context)
    assert "Not known whether node cordon gpu-a01 was done, by Dana; Yardmaster looks again" in "\n".join(
        lines(shown)
    )
    assert "Cordon gpu-a01" not in buttons(shown)
    assert "Not known whether node cordon gpu-a01 was done" in "\n".join(
        lines(card_of(ended(incident()), context))
    )
