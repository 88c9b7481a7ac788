"""Headlines: the alert that leads, as a group, in the past tense, and how often it stood before."""

from dataclasses import replace

from alerts.alert import Alert
from alerts.cards.headline import headline
from alerts.cards.text import plain
from alerts.rules import Consequence
from tests.alerts.cards.node_incidents import (
    FORMATTED,
    RULES,
    STORAGE,
    XID_ALERT,
    after,
    formatted,
    incident_of,
    over,
    shown,
    unmap,
    words,
)
from tests.support.alerting import NOON, a_rule, an_alert, minutes, resolved


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
