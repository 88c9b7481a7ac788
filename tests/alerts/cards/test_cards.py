"""An incident's card: what, where, who is hurt, what to do; and nothing from outside obeyed."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.cards.desired import desired_cards, desired_replies
from alerts.cards.incident_card import BUTTONS_AT_MOST, event_text, incident_card
from alerts.cards.incident_context import IncidentAction, IncidentContext
from alerts.cards.message import Buttons, Color, Context, Message, Paragraph, Preformatted, Span, Style, plain
from alerts.cards.posted import CardKind, PostedCard, card_id
from alerts.cards.suggested_actions import fill, label_of, suggested_actions
from alerts.incidents.grouping import GroupingContext, acknowledge, add_alert, open_incident, resolve_if_over
from alerts.incidents.incident import Incident, IncidentEvent, IncidentEventType
from alerts.rules import Rule
from collectors.facts.subjects import Subject
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes, resolved

ACTIONS = ('node cordon {node} --reason "GPU hot"', "training show {training}", "node show {node}")
RULE = a_rule(actions=ACTIONS, runbook="gpu-temperature-high")
RULES = {RULE.id: RULE}
GROUPING = GroupingContext(rules=RULES, topology=a_topology())
AROUND = IncidentContext(rules=RULES, people={"ana": "U7"}, runbooks="https://books/")
DONE = IncidentAction(plan="p1", line="node cordon gpu-a01", who="U1", who_name="Dana", state="done")


def incident(*, severity: str = "warning", summary: str = "GPU 3 is hot: 91 °C.", **labels: str) -> Incident:
    alert = an_alert(severity=severity, summary=summary, on=labels or {"node": "gpu-a01", "gpu": "3"})
    return add_alert(open_incident("i7", alert, channels=("C1", "C2"), now=NOON), alert, GROUPING, NOON)


def over(one: Incident) -> Incident:
    (member,) = one.members
    cleared = replace(one, members=(replace(member, state=resolved(an_alert(), NOON).life.state),))
    return resolve_if_over(cleared, NOON + minutes(12))


def view(one: Incident, context: IncidentContext = AROUND) -> Message:
    return incident_card(one, context=context, now=NOON)


def lines(shown: Message) -> list[str]:
    return [plain(shown.title), *(plain(b.text) for b in shown.blocks if isinstance(b, Paragraph))]


def buttons(shown: Message) -> dict[str, str]:
    return {b.label: b.line for block in shown.blocks if isinstance(block, Buttons) for b in block.buttons}


def test_the_first_three_lines_say_what_where_who_and_next() -> None:
    assert lines(view(incident()))[:3] == [
        "🟠 GPU 3 is hot: 91 °C",
        "Where: GPU 3 on gpu-a01 · Hurts: vision/detr (16 GPUs, ana)",
        "Next: Cordon gpu-a01 · runbook",
    ]


def test_a_place_that_the_title_names_is_not_said_twice() -> None:
    shown = view(incident(summary="GPU 3 on gpu-a01 is hot: 91 °C."))

    assert lines(shown)[:2] == ["🟠 GPU 3 on gpu-a01 is hot: 91 °C", "Hurts: vision/detr (16 GPUs, ana)"]
    assert "rack-a" in " ".join(plain(b.text) for b in shown.blocks if isinstance(b, Context))


def test_the_owner_is_mentioned_as_the_chat_knows_them() -> None:
    spans = [span for block in view(incident()).blocks if isinstance(block, Paragraph) for span in block.text]

    assert Span("ana", Style.PERSON, "U7") in spans
    assert Span("runbook", Style.LINK, "https://books/gpu-temperature-high.md") in spans


def test_nobody_is_hurt_where_nothing_runs() -> None:
    assert lines(view(incident(node="infra-01")))[1] == "Where: infra-01 · Hurts: no training that we know of"
    assert lines(view(incident(component="dns")))[1] == "Where: dns"


@pytest.mark.parametrize(
    ("severity", "tone", "mark"),
    [("critical", Color.CRITICAL, "🔴"), ("warning", Color.WARNING, "🟠"), ("info", Color.INFO, "🔵")],
)
def test_the_colour_follows_the_severity(severity: str, tone: Color, mark: str) -> None:
    shown = view(incident(severity=severity))

    assert shown.color is tone
    assert plain(shown.title).startswith(mark)
    assert shown.notification == f"{severity.upper()}: GPU 3 is hot: 91 °C"


def test_buttons_are_the_offers_and_two_of_ours() -> None:
    assert buttons(view(incident())) == {
        "Cordon gpu-a01": 'node cordon gpu-a01 --reason "GPU hot"',
        "Show gpu-a01": "node show gpu-a01",
        "I take it": "alert ack i7",
        "Why?": "alert why i7",
    }


def test_an_offer_for_what_the_subject_lacks_is_not_shown() -> None:
    assert suggested_actions(incident(component="dns"), RULES) == ()
    assert suggested_actions(incident(namespace="vision", pod="detr-0"), RULES) == (
        'node cordon gpu-a01 --reason "GPU hot"',
        "training show vision/detr",
        "node show gpu-a01",
    )


def test_buttons_have_a_limit() -> None:
    rule = a_rule(actions=tuple(f"node show {{node}} --page {number}" for number in range(9)))

    assert len(buttons(view(incident(), IncidentContext(rules={rule.id: rule})))) <= BUTTONS_AT_MOST


def test_who_has_taken_it_stands_on_the_card_and_the_button_goes() -> None:
    taken = acknowledge(incident(), who="U1", now=NOON)

    assert "I take it" not in buttons(view(taken))
    assert "taken by U1" in " ".join(plain(b.text) for b in view(taken).blocks if isinstance(b, Context))


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ("running", "Now: node cordon gpu-a01, by Dana"),
        ("done", "Done: node cordon gpu-a01 by Dana; waiting"),
    ],
)
def test_what_is_being_done_comes_before_what_could_be(state: str, says: str) -> None:
    shown = view(incident(), replace(AROUND, actions=(replace(DONE, state=state),)))

    assert lines(shown)[2].startswith(says)


@pytest.mark.parametrize("state", ["confirmed", "running", "done"])
def test_what_is_being_done_or_done_is_not_offered_again(state: str) -> None:
    shown = view(incident(), replace(AROUND, actions=(replace(DONE, state=state),)))

    assert "Cordon gpu-a01" not in buttons(shown)
    assert "Show gpu-a01" in buttons(shown)


@pytest.mark.parametrize("state", ["failed", "cancelled", "undone"])
def test_what_failed_or_was_taken_back_is_offered_again(state: str) -> None:
    shown = view(incident(), replace(AROUND, actions=(replace(DONE, state=state),)))

    assert "Cordon gpu-a01" in buttons(shown)
    assert lines(shown)[2].startswith("Next: Cordon gpu-a01")


def test_a_resolved_card_says_what_fixed_it() -> None:
    shown = view(over(incident()), replace(AROUND, actions=(DONE,)))

    assert shown.color is Color.GOOD
    assert lines(shown)[0].startswith("✅ ")
    assert lines(shown)[2] == "Resolved after 12 min. Fixed by node cordon gpu-a01 by Dana."
    assert buttons(shown) == {}
    assert shown.notification.startswith("Resolved: ")


def test_or_that_nothing_of_ours_did() -> None:
    assert lines(view(over(incident())))[2] == "Resolved after 12 min; it cleared without a deed of ours."


def test_a_deed_that_failed_has_fixed_nothing() -> None:
    shown = view(over(incident()), replace(AROUND, actions=(replace(DONE, state="failed"),)))

    assert "Fixed by" not in " ".join(lines(shown))


def test_blindness_is_said_while_it_is_open_only() -> None:
    blind = replace(AROUND, blind="prometheus: refused")

    assert "⚪ Cannot see it now: prometheus: refused" in lines(view(incident(), blind))
    assert not any("Cannot see" in line for line in lines(view(over(incident()), blind)))


def test_what_nothing_reports_on_says_since_when_unless_some_of_it_is_seen() -> None:
    def unseen(**at: float) -> Incident:
        members = [
            replace(incident().members[0], alert=name, unseen_since=NOON + minutes(when) if when else None)
            for name, when in at.items()
        ]
        return replace(incident(), members=tuple(members))

    assert "⚪ Cannot see it now: nothing reports on it since 2026-03-02 12:07 UTC" in lines(
        view(unseen(a=3, b=7))
    )
    assert not any("Cannot see" in line for line in lines(view(unseen(a=3, b=0))))


def test_silence_makes_it_quiet() -> None:
    shown = view(incident(), replace(AROUND, silenced_until=NOON + minutes(60)))

    assert shown.color is Color.QUIET
    assert "silenced until 2026-03-02 13:00 UTC" in plain(
        next(b.text for b in shown.blocks if isinstance(b, Context))
    )


def test_many_kinds_of_alerts_are_named_up_to_a_limit() -> None:
    one = incident()
    for number in range(9):
        one = add_alert(one, an_alert(f"Other{number}", node="gpu-a01"), GROUPING, NOON)

    (told,) = [line for line in lines(view(one)) if line.startswith("Also: ")]
    assert told.endswith("; and 4 more kinds")


def test_many_of_one_kind_are_counted_in_the_title() -> None:
    one = incident()
    for number in (4, 5):
        one = add_alert(one, an_alert(node="gpu-a01", gpu=str(number)), GROUPING, NOON)

    assert lines(view(one))[0] == "🟠 GPU 3 is hot: 91 °C (+2 more)"


def test_evidence_is_quoted_as_it_is_and_has_an_end() -> None:
    one = incident()
    (member,) = one.members
    texts = tuple(f"<!channel> *line* {number}" for number in range(9))
    shown = view(replace(one, members=(replace(member, texts=texts),)))

    assert [block for block in shown.blocks if isinstance(block, Preformatted)] == [
        Preformatted(lines=texts[:4])
    ]


def test_words_from_outside_are_never_markup_of_ours() -> None:
    hostile = "<!channel> <https://evil|press> *bold* `code` :fire:"
    shown = view(incident(summary=hostile))

    carrying = [span for span in shown.title if hostile in span.text]
    assert [span.style for span in carrying] == [Style.BOLD]
    assert all(not span.target for span in carrying)


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
    "gpu‐a01",  # a hyphen that is none
    "gpu\u200ba01",
    "",
]


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_a_value_that_is_no_name_never_fills_an_offer(value: str) -> None:
    assert fill("node cordon {node}", Subject(node=value, training="vision/detr")) is None


@pytest.mark.parametrize(
    "value",
    ["gpu-a01", "gpu-a01.dc1.example", "vision/detr", "10.0.0.11:9100", "ana@corp.example", "GPU-1", "a_b"],
)
def test_a_name_does(value: str) -> None:
    assert fill("x {node} y {node}", Subject(node=value)) == f"x {value} y {value}"


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_filled_line_has_as_many_words_as_it_was_written_with(node: str, training: str) -> None:
    line = fill("node cordon {node} for {training}", Subject(node=node, training=training))

    assert line is None or line.split() == ["node", "cordon", node, "for", training]


def test_a_line_without_placeholders_needs_no_subject() -> None:
    assert fill("dns scale", Subject()) == "dns scale"


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ('node cordon gpu-a04 --reason "x y"', "Cordon gpu-a04"),
        ("dns scale", "Scale dns"),
        ("gpu free --after 1h", "Free gpu"),
        ("training show vision/detr", "Show vision/detr"),
    ],
)
def test_a_button_is_labelled_with_its_verb_and_its_object(line: str, label: str) -> None:
    assert label_of(line) == label


def test_links_are_filled_from_the_subject_or_left_out() -> None:
    links = {"grafana": "https://g/d/node?var-node={node}", "claim": "https://g/{volume}"}
    shown = view(incident(), replace(AROUND, links=links))

    foot = next(block.text for block in shown.blocks if isinstance(block, Context))
    assert [span.target for span in foot if span.style is Style.LINK] == ["https://g/d/node?var-node=gpu-a01"]


def test_a_card_a_channel_and_none_twice() -> None:
    one = incident()
    wanted = desired_cards(one, {})

    assert [card.id for card in wanted] == ["incident/i7/C1", "incident/i7/C2"]
    assert desired_cards(one, {card.id: card for card in wanted}) == []
    assert [card.channel for card in desired_cards(one, {wanted[0].id: wanted[0]})] == ["C2"]


@pytest.mark.parametrize("what", IncidentEventType)
def test_what_is_loud_is_a_line_in_each_thread_and_the_rest_is_none(what: IncidentEventType) -> None:
    one = replace(incident(), events=(IncidentEvent(number=4, at=NOON, type=what, text="words", who="U1"),))
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
    wanted = desired_replies(one, cards, context=AROUND)

    is_loud = what in (
        IncidentEventType.SEVERITY_RAISED,
        IncidentEventType.ACKNOWLEDGED,
        IncidentEventType.REOPENED,
        IncidentEventType.RESOLVED,
    )
    assert [line.id for line in wanted] == (["incident/i7/C1#4", "incident/i7/C2#4"] if is_loud else [])
    assert {line.broadcast for line in wanted} <= {
        what in (IncidentEventType.SEVERITY_RAISED, IncidentEventType.REOPENED)
    }


@pytest.mark.parametrize(
    ("what", "says"),
    [
        (IncidentEventType.SEVERITY_RAISED, "Worse, now words"),
        (IncidentEventType.ACKNOWLEDGED, "U1 has taken it."),
        (IncidentEventType.REOPENED, "It is back: words"),
        (IncidentEventType.OPENED, "Opened: words"),
        (IncidentEventType.ALERT_ADDED, "Also: words"),
        (IncidentEventType.ALERT_RESOLVED, "Cleared: words"),
        (IncidentEventType.ACTION_DONE, "Done: words by U1"),
    ],
)
def test_what_a_line_says(what: IncidentEventType, says: str) -> None:
    event = IncidentEvent(number=2, at=NOON, type=what, text="words", who="U1")

    assert plain(event_text(incident(), event, context=AROUND)) == says


def test_the_last_line_says_what_fixed_it() -> None:
    one = over(incident())

    said = event_text(one, one.events[-1], context=replace(AROUND, actions=(DONE,)))

    assert plain(said) == "Resolved after 12 min. Fixed by node cordon gpu-a01 by Dana."


def test_the_last_line_says_that_the_node_has_left_rather_than_that_all_is_well() -> None:
    one = over(incident())
    left = replace(one.members[0], ended_reason="gpu-a01 is no longer in the cluster")
    one = replace(one, members=(left, *one.members[1:]))

    said = event_text(one, one.events[-1], context=replace(AROUND, actions=(DONE,)))

    assert plain(said) == "Resolved after 12 min: gpu-a01 is no longer in the cluster."


def test_a_rule_that_is_not_there_offers_nothing_and_does_not_fail() -> None:
    rules: dict[str, Rule] = {}
    shown = view(incident(), IncidentContext(rules=rules))

    assert lines(shown)[2] == "Next: look into it, there is nothing to press"
