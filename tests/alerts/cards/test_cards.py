"""The card of an incident: what, where, who is affected, what to do; text from outside never becomes markup."""

from dataclasses import replace

import pytest

from alerts.cards.message import Color, Context, Paragraph, Preformatted
from alerts.cards.sentence_spans import expanded
from alerts.cards.text import Span, Style, plain
from alerts.incidents.grouping import acknowledge
from alerts.incidents.incident import Incident
from tests.alerts.cards.conftest import (
    CONTEXT,
    DONE,
    FIX,
    GROUPING,
    buttons,
    card_of,
    ended,
    incident,
    lines,
)
from tests.support.alerting import NOON, an_alert, minutes
from tests.support.grouping import add_alert


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


def test_an_acknowledged_card_names_the_person_and_loses_the_button() -> None:
    acknowledged = acknowledge(incident(), who="U1", now=NOON)

    assert "Acknowledge" not in buttons(card_of(acknowledged))
    assert "acknowledged by U1" in " ".join(
        plain(b.text) for b in card_of(acknowledged).blocks if isinstance(b, Context)
    )


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


def test_evidence_of_what_is_over_is_said_to_be_what_was_seen() -> None:
    """It is in the present tense: `Kubelet stopped posting node status`."""
    one = incident()
    (member,) = one.members
    seen = replace(one, members=(replace(member, texts=("Ready is Unknown.",)),))
    over = replace(seen, resolved_at=NOON + minutes(5))

    assert "What was seen:" not in lines(card_of(seen))
    shown = card_of(over).blocks
    at = shown.index(Preformatted(lines=("Ready is Unknown.",)))
    assert isinstance(before := shown[at - 1], Paragraph)
    assert plain(before.text) == "What was seen:"


def test_text_from_outside_never_becomes_markup() -> None:
    hostile = "<!channel> <https://evil|press> *bold* `code` :fire:"
    shown = card_of(incident(summary=hostile))

    hostile_spans = [span for span in shown.title if hostile in span.text]
    assert [span.style for span in hostile_spans] == [Style.BOLD]
    assert all(not span.target for span in hostile_spans)
