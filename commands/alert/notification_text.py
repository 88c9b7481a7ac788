"""Text about whom an alert notifies now, with every reason why somebody is not notified. Pure."""

from collections.abc import Iterable
from datetime import datetime

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from alerts.lifecycle import AlertState
from alerts.muting import Notification
from alerts.routing import Quiet, Routed
from alerts.rules import Severity
from alerts.silences import Silence
from collectors.facts.sentences import Sentence, listed, sentence


def notification_text(
    alert: Alert,
    incident: Incident | None,
    found: Notification,
    incident_silences: Iterable[Silence],
    now: datetime,
) -> list[Sentence]:
    """Return whom the alert notifies, and what keeps it from others. `incident`: the open one that it is in."""
    if alert.life.state is not AlertState.FIRING:
        return [sentence("nobody yet: it is pending")]
    if incident is None and alert.severity is Severity.INFO:
        return [sentence("nobody: an alert of severity info opens no incident")]
    said = [
        *(
            sentence("nobody until {at}: silence `{silence}` covers it", silence=one.id, at=one.ends_at)
            for one in found.silences
        ),
        *(
            sentence(
                "nobody until {at}: silence `{silence}` covers incident `{incident}`",
                silence=one.id,
                incident=one.incident,
                at=one.ends_at,
            )
            for one in incident_silences
        ),
    ]
    if found.inhibiting:
        names = listed((_named(one) for one in found.inhibiting), most=3)
        said.append(sentence("nobody: it is inhibited by {alerts}", alerts=names))
    if said:
        return said
    if incident is not None and incident.parent:
        return [
            sentence("those who have the card of `{parent}`, which speaks for it", parent=incident.parent)
        ]
    quiet = {id(end): why for end, why in found.quiet}
    said = [_notified(end, quiet.get(id(end)), now) for end in found.ends]
    return said or [sentence("nobody: no route fits it, and there is no default channel")]


def _named(alert: Alert) -> str:
    about = ", ".join(alert.own_subject.words().values())
    return f"{alert.name} ({about})" if about else alert.name


def _notified(end: Routed, quiet: Quiet | None, now: datetime) -> Sentence:
    route = " > ".join(", ".join(map(str, one.matchers)) for one in end.path if one.matchers)
    if not end.channels:
        return sentence("nobody, by the route `{route}`", route=route or "{}")
    channels = listed(end.channels)
    if quiet is not None:
        return _quiet(channels, quiet, now)
    if not end.path:
        return sentence("{channels}, as no route fits it", channels=channels)
    if not route:
        return sentence("{channels}, by the route for everything", channels=channels)
    return sentence("{channels}, by the route `{route}`", channels=channels, route=route)


def _quiet(channels: Sentence, quiet: Quiet, now: datetime) -> Sentence:
    name, until = quiet.interval.name, quiet.interval.changes_after(now)
    if until is None:
        return sentence(
            "not {channels}: the time interval `{interval}` keeps it quiet", channels=channels, interval=name
        )
    if quiet.is_within:
        return sentence(
            "not {channels} until {at}: it is muted in the time interval `{interval}`",
            channels=channels,
            at=until,
            interval=name,
        )
    return sentence(
        "not {channels} until {at}: it is active in the time interval `{interval}` only",
        channels=channels,
        at=until,
        interval=name,
    )
