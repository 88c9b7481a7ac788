"""A twin: the same alert from our own rule and from a sender is one member of its incident. Pure.

It fires as long as either of them does. What it says is what our rule says, which knows more; the sender's alert is
kept as its twin.
"""

from dataclasses import replace

from alerts.alert import Alert
from alerts.incidents.incident import Member
from alerts.lifecycle import AlertState
from alerts.rules import Rule
from collectors.facts.labels import Labels

# And the name of the alert, as `Alert.rule`: not of its sender, as several may send one alert.
RECEIVED_PREFIX = "received/"


def is_received(rule: str) -> bool:
    """Whether an alert with this `rule` was received."""
    return rule.startswith(RECEIVED_PREFIX)


def twin_of(cluster: str, rule: Rule | None, labels: Labels, external: frozenset[str]) -> str:
    """Return the id that our own alert has with these labels; empty if no rule of ours has the name.

    `external`: labels that senders add to what their rules find, and our alerts lack.
    """
    if rule is None:
        return ""
    own = Labels({name: value for name, value in labels.items() if name not in external})
    return f"{cluster}/{rule.id}/{own.key}"


def with_twin(ours: Member, twin: Alert) -> Member:
    """Return the member of our own alert after an update of its twin."""
    known = replace(ours, twin=twin.id, twin_fires=twin.is_firing)
    if twin.is_firing:
        if ours.is_firing:
            return known
        return replace(
            known,
            is_twin_alone=True,
            state=AlertState.FIRING,
            since=twin.life.since,
            resolved_at=None,
            ended_reason="",
        )
    if not (ours.is_firing and ours.is_twin_alone):
        return known
    return replace(
        known,
        is_twin_alone=False,
        state=AlertState.RESOLVED,
        resolved_at=twin.life.resolved_at,
        ended_reason=twin.ended_reason,
    )


def beside_twin(member: Member, before: Member | None, alert: Alert) -> Member:
    """Return the member as it is now, which was `before`: one that our rule ends stands while its twin fires."""
    if is_received(member.rule):
        return replace(member, twin=alert.twin) if alert.twin else member
    if before is None or not before.twin:
        return member
    kept = replace(member, twin=before.twin, twin_fires=before.twin_fires)
    if member.is_firing or not before.twin_fires:
        return kept
    return replace(kept, is_twin_alone=True, state=AlertState.FIRING, resolved_at=None, ended_reason="")
