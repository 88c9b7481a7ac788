"""The truth of a card: the worst explanation leads, logs do not heal, and only what explains the end is the fix."""

from dataclasses import replace
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.cards.headline import headline
from alerts.cards.incident_card import incident_card
from alerts.cards.incident_context import Asked, IncidentAction, IncidentContext, StillOpen
from alerts.cards.message import Button, Buttons, Context
from alerts.cards.text import code, plain, text
from alerts.incidents.incident import Impact
from alerts.incidents.recurring_faults import Returned
from alerts.rules import Severity
from collectors.facts.queries import LogQuery, TimesUsual
from tests.alerts.cards.node_incidents import (
    FELL,
    FELL_ALERT,
    RULES,
    STORAGE,
    XID,
    XID_ALERT,
    after,
    formatted,
    incident_of,
    logged,
    over,
    shown,
    unmap,
    words,
)
from tests.support.alerting import NOON, a_rule, an_alert, minutes, resolved


def test_the_alert_that_explains_the_consequences_leads() -> None:
    both = incident_of(XID_ALERT, FELL_ALERT)

    assert headline(both) == "A GPU on gpu-a01 has fallen off the bus"
    assert "A reset does not recover it." in words(both)


def test_a_log_line_that_left_its_window_still_leads() -> None:
    aged = after(incident_of(XID_ALERT, FELL_ALERT), resolved(FELL_ALERT, NOON + minutes(10)))

    assert headline(aged) == "A GPU on gpu-a01 has fallen off the bus"
    assert aged.severity is Severity.CRITICAL
    assert (
        "A reset does not recover it. Logged 2026-03-02 12:01 UTC; nothing shows that it is over."
        in words(aged)
    )
    assert "✓" not in words(aged)


def test_another_log_line_that_left_its_window_gets_no_tick() -> None:
    milder = replace(FELL_ALERT, annotations={"summary": "A line."})
    worse = replace(XID_ALERT, annotations={"summary": "Dead.", "description": "It is."})
    aged = after(incident_of(worse, milder), resolved(milder, NOON + minutes(10)))

    assert "Also: logged 2026-03-02 12:01 UTC: A line" in words(aged)


@pytest.mark.parametrize(
    "counting",
    [{"above": 50.0}, {"novel": minutes(9999)}, {"times_usual": TimesUsual(factor=4, season=minutes(1440))}],
    ids=["a number of lines", "new lines", "more lines than usual"],
)
def test_a_rule_that_counts_lines_recovers_when_they_are_few(counting: dict[str, Any]) -> None:
    rule = logged("ErrorLogBurst")
    assert isinstance(rule.query, LogQuery)
    counts = replace(rule, query=replace(rule.query, **counting))
    burst = an_alert("ErrorLogBurst", summary="Many errors.")
    rules = {XID.id: XID, counts.id: counts}

    aged = after(incident_of(XID_ALERT, burst, rules=rules), resolved(burst, NOON + minutes(5)), rules=rules)

    assert "Also: ✓ over: Many errors" in words(aged)


def test_a_metric_that_has_recovered_gets_its_tick() -> None:
    well = after(incident_of(XID_ALERT, FELL_ALERT), resolved(XID_ALERT, NOON + minutes(10)))

    assert "Also: ✓ over: GPU 3 on gpu-a01 reported XID 79" in words(well)


def test_what_has_recovered_on_an_open_card_is_in_the_past() -> None:
    said = {
        "summary": "DNS is failing.",
        "headline": "DNS is failing.",
        "resolved_headline": "DNS was failing.",
    }
    dns = replace(XID_ALERT, annotations=said)
    both = incident_of(dns, FELL_ALERT)

    assert "Also: DNS is failing" in words(both)
    assert "Also: ✓ DNS was failing" in words(after(both, resolved(dns, NOON + minutes(10))))


def test_several_that_share_no_name_for_their_headline_are_in_the_past_too() -> None:
    said = {"summary": "2 tasks cannot resolve a name.", "resolved_headline": "Tasks on {node} could not."}
    first, second = (
        replace(an_alert("NamesFail", node=node), annotations=said) for node in ("gpu-a01", "gpu-a02")
    )
    rules = {rule.id: rule for rule in (XID, a_rule("NamesFail"))}
    both = incident_of(XID_ALERT, first, second, rules=rules)
    ends = (resolved(one, NOON + minutes(10)) for one in (XID_ALERT, first, second))
    ended = after(both, *ends, rules=rules)

    assert "Also: Tasks on gpu-a01 could not (and 1 more)" in words(ended)


@pytest.mark.parametrize(
    ("line", "has_time"),
    [("2026-03-02T12:01:07Z NVRM: Xid (PCI:0000:5d:00): 79", True), ("NVRM: Xid 79", False)],
)
def test_times_within_quoted_lines_are_said_to_be_their_own(line: str, has_time: bool) -> None:
    quoting = incident_of(replace(FELL_ALERT, texts=(line,)))

    blocks = incident_card(quoting, now=NOON).blocks
    said = [plain(one.text) for one in blocks if isinstance(one, Context)]
    assert ("The program itself wrote the times in these lines, often in UTC." in said) is has_time


def test_actions_of_what_leads_come_first() -> None:
    rules = {
        XID.id: replace(XID, template=replace(XID.template, actions=("node show {node}",))),
        FELL.id: replace(FELL, template=replace(FELL.template, actions=("node cordon {node}",))),
    }
    aged = after(incident_of(XID_ALERT, FELL_ALERT), resolved(FELL_ALERT, NOON + minutes(10)))

    assert "Next: Cordon gpu-a01" in words(aged, IncidentContext(rules=rules))


@pytest.mark.parametrize(
    ("before", "is_worse"),
    [
        pytest.param(unmap(device="/dev/rbd1", volume="pvc-1"), True, id="the same device"),
        pytest.param(unmap(), True, id="a device that the line does not name"),
        pytest.param(unmap(device="/dev/rbd2"), False, id="another device"),
    ],
)
def test_an_alert_that_is_worse_beside_another_leads_as_critical(before: Alert, is_worse: bool) -> None:
    incident = incident_of(before, formatted(), rules=STORAGE)

    assert headline(incident) == (
        "DATA LOSS on gpu-a01: /dev/rbd1 was formatted" if is_worse else "It cannot unmap"
    )
    assert incident.severity is (Severity.CRITICAL if is_worse else Severity.WARNING)
    types = [event.type.value for event in incident.events]
    assert types[-1] == ("severity_raised" if is_worse else "alert_added")


def test_what_came_before_makes_it_worse_also_when_it_is_seen_later() -> None:
    alone = incident_of(unmap(device="/dev/rbd2"), formatted(), rules=STORAGE)

    late = after(alone, unmap(device="/dev/rbd1"), formatted(), rules=STORAGE)

    assert headline(late).startswith("DATA LOSS")
    assert [event.type.value for event in late.events][-1] == "severity_raised"


CORDON = IncidentAction(plan="p1", line="node cordon gpu-a01", who="U1", who_name="Dana", state="done")
FIX = replace(CORDON, plan="p2", line="gpu repair", relieves=("GPUXID*",))
RUNS = replace(FIX, state="running")


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        ((), "Resolved after 12 min. No action was taken through Yardmaster."),
        ((CORDON,), "Resolved after 12 min. Meanwhile: node cordon gpu-a01 by Dana."),
        ((RUNS,), "Resolved after 12 min. Not finished yet: gpu repair by Dana."),
        ((FIX,), "Resolved after 12 min. Fixed by gpu repair by Dana."),
        (
            (CORDON, FIX),
            "Resolved after 12 min. Fixed by gpu repair by Dana. Meanwhile: node cordon gpu-a01 by Dana.",
        ),
    ],
)
def test_only_an_action_that_explains_the_alert_is_the_fix(
    actions: tuple[IncidentAction, ...], expected: str
) -> None:
    assert expected in words(over(incident_of(XID_ALERT)), IncidentContext(actions=actions))


def test_while_it_stands_a_cordon_is_done_and_what_is_left_is_next() -> None:
    rules = {
        XID.id: replace(
            XID, template=replace(XID.template, actions=("node cordon {node}", "node show {node}"))
        )
    }
    context = IncidentContext(rules=rules, actions=(CORDON,))

    assert "Done: node cordon gpu-a01 by Dana · Next: Show gpu-a01" in words(incident_of(XID_ALERT), context)


def test_an_owner_who_was_asked_is_named_with_the_time_instead_of_what_was_done() -> None:
    free = replace(CORDON, line="gpu free detr", relieves=("GPU*",))
    asked = Asked(owner="bo", owner_id="U_BO", until=NOON + minutes(30))
    context = IncidentContext(actions=(free,), asked=(asked, replace(asked, owner_id="")))

    said = words(incident_of(XID_ALERT), context)

    at = f"{NOON + minutes(30):%Y-%m-%d %H:%M} UTC"
    assert f"Asked: bo until {at}, bo until {at}" in said
    assert "Done" not in said
    assert "Asked" not in words(over(incident_of(XID_ALERT)), replace(context, asked=()))


def test_a_resolved_card_keeps_what_is_still_open_with_its_button() -> None:
    left = StillOpen(
        text=text(code("gpu-a01"), " is still cordoned."),
        button=Button(label="Uncordon gpu-a01", line="node uncordon gpu-a01"),
    )
    context = IncidentContext(still_open=(left,))

    card = shown(over(incident_of(XID_ALERT)), context)

    assert "gpu-a01 is still cordoned." in words(over(incident_of(XID_ALERT)), context)
    (buttons,) = [block for block in card.blocks if isinstance(block, Buttons)]
    assert [one.line for one in buttons.buttons] == ["node uncordon gpu-a01"]


def test_advice_that_the_history_contradicts_is_not_given() -> None:
    advice = "Cordon the node, drain it, and power it off and on."
    alert = replace(XID_ALERT, annotations={**XID_ALERT.annotations, "description": advice})
    incident = incident_of(alert)
    returned = Returned(member=incident.lead, repairs=2)

    assert advice in words(incident)
    said = words(incident, IncidentContext(rules=RULES, returned=returned))
    assert "do not reset or restart again" in said
    assert advice not in said


def test_an_alert_that_joined_names_what_the_incident_is_not_about() -> None:
    """A namespace's tasks are on the card of the cluster's DNS: its own words fill its sentence."""
    names = an_alert("NamesNotResolved", severity="warning", component="dns", namespace="vision-detr")
    names = replace(
        names,
        annotations={
            "summary": "3 tasks in vision-detr cannot resolve a name.",
            "resolved_headline": "Tasks in {namespace} could not resolve a name.",
        },
    )
    slow = an_alert("CoreDNSLatencyCritical", severity="critical", component="dns", summary="DNS is slow.")
    rules = {rule.id: rule for rule in (a_rule("CoreDNSLatencyCritical"), a_rule("NamesNotResolved"))}
    both = incident_of(slow, names, rules=rules)
    both = after(both, resolved(slow, NOON + minutes(9)), resolved(names, NOON + minutes(9)), rules=rules)

    assert not both.is_open
    assert "Also: Tasks in vision-detr could not resolve a name" in words(both)


@pytest.mark.parametrize(
    "usual", [None, TimesUsual(factor=4, season=minutes(1440))], ids=["a line", "a burst"]
)
def test_the_training_that_a_log_line_names_is_looked_at_before_its_node(usual: TimesUsual | None) -> None:
    rule = logged("ErrorLogBurst", actions=("node show {node}",))
    assert isinstance(rule.query, LogQuery)
    rule = replace(rule, query=replace(rule.query, times_usual=usual))
    alert = an_alert("ErrorLogBurst", summary="Many errors.", on={"node": "gpu-a01"})
    incident = incident_of(alert, rules={rule.id: rule})
    impact = Impact(training="job/reco/embed", name="reco/embed", is_named=True)
    context = IncidentContext(rules={rule.id: rule})

    assert "Next: Show reco/embed" in words(replace(incident, impacts=(impact,)), context)
    assert "Next: Show gpu-a01" in words(
        replace(incident, impacts=(replace(impact, is_named=False),)), context
    )
