"""The truth of a card: the worst explanation leads, logs do not heal, and only what explains the end is the fix."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.cards.desired_cards import desired_cards
from alerts.cards.headline import headline
from alerts.cards.incident_card import incident_card
from alerts.cards.incident_context import Asked, IncidentAction, IncidentContext, StillOpen
from alerts.cards.message import Button, Buttons, Message, Paragraph
from alerts.cards.posted import ThreadReply
from alerts.cards.text import code, plain, text
from alerts.incidents.grouping import GroupingContext, hand_over, open_incident, resolve_if_over
from alerts.incidents.incident import Incident
from alerts.incidents.recurring_faults import Returned
from alerts.rules import Consequence, Rule, Severity
from collectors.facts.queries import LogQuery, TimesUsual
from tests.support.alerting import NOON, a_rule, a_topology, an_alert, minutes, resolved
from tests.support.grouping import add_alert
from tests.support.incidents import replies_to
from tests.support.log_matches import message


def logged(name: str, **fields: object) -> Rule:
    rule = a_rule(name)
    template = replace(rule.template, **fields)  # type: ignore[arg-type]
    return replace(rule, query=LogQuery(match=message("x"), by=("node",), over=minutes(5)), template=template)


XID, FELL = a_rule("GPUXIDError"), logged("GPUFellOffBusLogged")
RULES = {rule.id: rule for rule in (XID, FELL)}
XID_ALERT = an_alert(
    "GPUXIDError", severity="critical", summary="GPU 3 on gpu-a01 reported XID 79.", gpu="3", node="gpu-a01"
)
FELL_ALERT = replace(
    an_alert("GPUFellOffBusLogged", severity="critical", at=NOON + minutes(1)),
    annotations={
        "summary": "A GPU on gpu-a01 has fallen off the bus.",
        "description": "A reset does not recover it.",
    },
)


def incident_of(*alerts: Alert, rules: Mapping[str, Rule] = RULES) -> Incident:
    incident = open_incident("i1", alerts[0], channels=("C1",), now=NOON)
    return after(incident, *alerts, rules=rules)


def after(incident: Incident, *alerts: Alert, rules: Mapping[str, Rule] = RULES) -> Incident:
    grouping = GroupingContext(rules=rules, topology=a_topology())
    for alert in alerts:
        incident = add_alert(incident, alert, grouping, alert.life.resolved_at or alert.life.since)
    return resolve_if_over(incident, NOON + minutes(20))


def shown(incident: Incident, context: IncidentContext | None = None) -> Message:
    return incident_card(incident, context=context or IncidentContext(rules=RULES), now=NOON)


def words(incident: Incident, context: IncidentContext | None = None) -> str:
    card = shown(incident, context)
    return "\n".join([plain(card.title), *(plain(b.text) for b in card.blocks if isinstance(b, Paragraph))])


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

    assert "Also: ✓ Many errors" in words(aged)


def test_a_metric_that_has_recovered_gets_its_tick() -> None:
    well = after(incident_of(XID_ALERT, FELL_ALERT), resolved(XID_ALERT, NOON + minutes(10)))

    assert "Also: ✓ GPU 3 on gpu-a01 reported XID 79" in words(well)


def test_actions_of_what_leads_come_first() -> None:
    rules = {
        XID.id: replace(XID, template=replace(XID.template, actions=("node show {node}",))),
        FELL.id: replace(FELL, template=replace(FELL.template, actions=("node cordon {node}",))),
    }
    aged = after(incident_of(XID_ALERT, FELL_ALERT), resolved(FELL_ALERT, NOON + minutes(10)))

    assert "Next: Cordon gpu-a01" in words(aged, IncidentContext(rules=rules))


FORMATTED = logged(
    "VolumeFormatted",
    worse_after=("VolumeUnmapFailed",),
    actions=("training stop {training}", "node cordon {node}"),
)
UNMAP = logged("VolumeUnmapFailed")
STORAGE = {rule.id: rule for rule in (FORMATTED, UNMAP)}


def formatted(device: str = "/dev/rbd1") -> Alert:
    alert = an_alert("VolumeFormatted", severity="info", node="gpu-a01", device=device, at=NOON + minutes(2))
    annotations = {
        "summary": "gpu-a01 is formatting a volume.",
        "worse_summary": f"DATA LOSS on gpu-a01: {device} was formatted.",
        "worse_description": "Write nothing more.",
    }
    return replace(alert, annotations=annotations)


def unmap(**labels: str) -> Alert:
    return an_alert("VolumeUnmapFailed", summary="It cannot unmap.", on={"node": "gpu-a01", **labels})


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


def test_data_loss_is_broadcast_in_an_incident_that_is_critical_already() -> None:
    about = logged("VolumeAboutToBeFormatted")
    rules = {**STORAGE, about.id: about}
    critical = an_alert("VolumeAboutToBeFormatted", severity="critical", node="gpu-a01")
    incident = incident_of(unmap(device="/dev/rbd1"), critical, formatted(), rules=rules)
    (card,) = desired_cards(incident, {})

    replies = replies_to(incident, [card], IncidentContext(rules=rules))

    assert [reply.broadcast for reply in replies] == [True, True]
    assert plain(replies[-1].text).startswith("It became worse: DATA LOSS on gpu-a01")
    assert replies[-1].buttons


def test_a_broadcast_says_what_the_card_says_also_when_something_else_happened_at_the_same_moment() -> None:
    rule = logged("VolumeAboutToBeFormatted")
    rule = replace(rule, template=replace(rule.template, actions=("node cordon {node}",)))
    rules = {**STORAGE, rule.id: rule}
    critical = an_alert("VolumeAboutToBeFormatted", severity="critical", node="gpu-a01")
    other = an_alert("VolumeMountFailed", severity="info", node="gpu-a01")
    incident = incident_of(unmap(device="/dev/rbd1"), critical, other, rules=rules)
    (card,) = desired_cards(incident, {})

    (reply,) = replies_to(incident, [card], IncidentContext(rules=rules))

    assert [event.type.value for event in incident.events[-2:]] == ["severity_raised", "alert_added"]
    said = plain(reply.text).split("\n")
    assert said[0] == f"Severity raised to critical: {headline(incident)}"
    assert len(said) == 3
    assert "node cordon gpu-a01" in [button.line for button in reply.buttons]


def test_what_came_before_makes_it_worse_also_when_it_is_seen_later() -> None:
    alone = incident_of(unmap(device="/dev/rbd2"), formatted(), rules=STORAGE)

    late = after(alone, unmap(device="/dev/rbd1"), formatted(), rules=STORAGE)

    assert headline(late).startswith("DATA LOSS")
    assert [event.type.value for event in late.events][-1] == "severity_raised"


CORDON = IncidentAction(plan="p1", line="node cordon gpu-a01", who="U1", who_name="Dana", state="done")
FIX = replace(CORDON, plan="p2", line="gpu repair", relieves=("GPUXID*",))


def over(incident: Incident) -> Incident:
    return after(incident, *(resolved(alert, NOON + minutes(12)) for alert in (XID_ALERT,)))


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        ((), "Resolved after 12 min. No action was taken through Yardmaster."),
        ((CORDON,), "Resolved after 12 min. Meanwhile: node cordon gpu-a01 by Dana."),
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


def hot(gpu: int, value: float) -> Alert:
    said = {
        "summary": f"GPU {gpu} on gpu-a01 is hot: {value} °C.",
        "headline": "{node} is hot: {gpus}, up to " + f"{value:.0f} °C.",
        "resolved_headline": "{node} was hot: {gpus}.",
    }
    return replace(an_alert(node="gpu-a01", gpu=str(gpu)), annotations=said, value=value)


HOT = {rule.id: rule for rule in (a_rule(),)}


def test_a_headline_speaks_of_the_group() -> None:
    one, two = hot(3, 91.2), hot(4, 109.4)

    assert headline(incident_of(one, rules=HOT)) == "gpu-a01 is hot: GPU 3, up to 91 °C"
    assert headline(incident_of(one, two, rules=HOT)) == "gpu-a01 is hot: 2 of 8 GPUs, up to 109 °C"


def test_other_alerts_are_reported_as_a_group_too() -> None:
    incident = incident_of(
        replace(XID_ALERT, annotations={"summary": "Dead.", "description": "It is."}),
        hot(3, 91.2),
        hot(4, 109.4),
        rules={**RULES, **HOT},
    )

    assert "Also: gpu-a01 is hot: 2 of 8 GPUs, up to 109 °C" in words(incident)


def test_a_headline_that_cannot_be_filled_is_the_summary() -> None:
    alert = replace(hot(3, 91), own_subject=an_alert().own_subject, subject=an_alert().subject)

    assert headline(incident_of(alert, rules=HOT)) == "GPU 3 on gpu-a01 is hot: 91 °C"


def test_a_resolved_card_is_in_the_past_tense() -> None:
    one, two = hot(3, 91.2), hot(4, 109.4)
    ended = [resolved(alert, NOON + minutes(5)) for alert in (one, two)]
    incident = after(incident_of(one, two, rules=HOT), *ended, rules=HOT)

    assert headline(incident) == "gpu-a01 was hot: 2 of 8 GPUs"
    assert headline(over(incident_of(XID_ALERT))) == "Over: GPU 3 on gpu-a01 reported XID 79"


def test_a_repeated_incident_says_how_often_and_how_long_it_stood() -> None:
    ended = over(incident_of(XID_ALERT))
    again = replace(XID_ALERT, life=replace(XID_ALERT.life, since=NOON + minutes(20)))
    reopened = after(ended, again)

    foot = "\n".join(plain(b.text) for b in shown(reopened).blocks if hasattr(b, "text"))
    assert "since 2026-03-02 12:20 UTC · 2 times in 20 min, 12 min in all" in foot
    assert (
        "Resolved after 3 min. No action was taken through Yardmaster. It happened 2 times in 23 min, 15 min in all."
        in words(after(reopened, resolved(again, NOON + minutes(23))))
    )


def test_a_new_incident_names_the_earlier_one() -> None:
    incident = replace(
        incident_of(XID_ALERT), earlier="i3", earlier_ended_at=NOON - minutes(15), is_repeat=True
    )

    foot = "\n".join(plain(b.text) for b in shown(incident).blocks if hasattr(b, "text"))
    assert "same as i3, resolved 2026-03-02 11:45 UTC" in foot


def replies_of(incident: Incident) -> list[ThreadReply]:
    (card,) = desired_cards(incident, {})
    return replies_to(incident, [card], IncidentContext(rules=RULES))


def test_a_reopened_incident_is_broadcast_with_the_first_lines_and_the_buttons() -> None:
    rules = {XID.id: replace(XID, template=replace(XID.template, actions=("node cordon {node}",)))}
    again = replace(XID_ALERT, life=replace(XID_ALERT.life, since=NOON + minutes(20)))
    reopened = after(over(incident_of(XID_ALERT)), again)
    (card,) = desired_cards(reopened, {})

    *_, reply = replies_to(reopened, [card], IncidentContext(rules=rules))

    assert reply.broadcast
    assert plain(reply.text).split("\n") == [
        "Reopened: GPU 3 on gpu-a01 reported XID 79 (2 times in 20 min, 12 min in all)",
        "On this node: vision/detr 16 GPUs, ana",
        "Next: Cordon gpu-a01",
    ]
    assert [one.line for one in reply.buttons] == ["node cordon gpu-a01", "alert ack i1"]


def test_a_reply_is_a_message_with_buttons_where_the_channel_has_them() -> None:
    (resolved_reply,) = replies_of(over(incident_of(XID_ALERT)))
    reply = replace(resolved_reply, buttons=(Button(label="Show", line="node show gpu-a01"),))

    shown = reply.content(has_buttons=True)

    assert isinstance(shown, Message)
    assert shown.notification == plain(reply.text)
    assert plain(shown.title) == plain(reply.text)
    assert [type(block).__name__ for block in shown.blocks] == ["Buttons"]
    assert reply.content(has_buttons=False) == reply.text
    assert replace(reply, buttons=()).content(has_buttons=True) == reply.text


def test_a_reply_about_what_is_over_by_now_has_no_buttons() -> None:
    assert all(not reply.buttons for reply in replies_of(over(incident_of(XID_ALERT))))


def test_a_reply_that_is_not_broadcast_says_its_fact_alone() -> None:
    handed = hand_over(incident_of(XID_ALERT), to="U2", to_name="eli", by_name="dana", now=NOON)
    *_, reply = replies_of(handed)
    assert plain(reply.text) == "Handed over to eli by dana."
    assert reply.buttons == ()


def test_a_resolved_card_says_the_other_alerts_in_the_past_too() -> None:
    other = an_alert("DNSFailing", summary="3 tasks cannot resolve a name.", on={"node": "gpu-a01"})
    ended = [resolved(alert, NOON + minutes(12)) for alert in (XID_ALERT, other)]

    said = words(after(incident_of(XID_ALERT, other), *ended))

    assert "Also: over: 3 tasks cannot resolve a name" in said


def test_a_danger_that_is_over_is_said_in_the_past_and_a_loss_stays_one() -> None:
    past = "It could not unmap."
    alert = formatted()
    alert = replace(alert, annotations={**alert.annotations, "resolved_headline": past})
    both = (unmap(), alert)
    ended = [resolved(one, NOON + minutes(12)) for one in both]

    def title(consequence: Consequence) -> str:
        known = {
            **STORAGE,
            FORMATTED.id: replace(FORMATTED, template=replace(FORMATTED.template, consequence=consequence)),
        }
        over = after(incident_of(*both, rules=known), *ended, rules=known)
        return headline(replace(over, resolved_at=NOON + minutes(13)))

    assert title(Consequence.DANGER) == "It could not unmap"
    assert title(Consequence.LOSS) == "DATA LOSS on gpu-a01: /dev/rbd1 was formatted"


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
