"""Alertmanager's view of alerts and silences: the JSON of its API, version 2, as amtool, karma and Grafana read it."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from alerts.alert import Alert
from alerts.matching import Matcher, Operator
from alerts.silences import Silence
from bot.receiving.silence_wire import WireMatcher
from collectors.facts.labels import Labels

RECEIVER = "yardmaster"  # we have routes to channels, and no receivers with names
GROUPED_BY = "alertname"  # in /alerts/groups

_OFFSET, _PRIME, _SEPARATOR = 14695981039346656037, 1099511628211, 0xFF


@lru_cache(maxsize=65_536)  # of a large storm: it is computed byte by byte
def fingerprint(labels: Labels) -> str:
    """Return the labels' fingerprint as Prometheus' common library computes it: FNV-1a, 64 bits, in hex."""
    state = _OFFSET
    for name, value in labels.pairs:
        for part in (name, value):
            for byte in (*part.encode(), _SEPARATOR):
                state = (state ^ byte) * _PRIME & 0xFFFFFFFFFFFFFFFF
    return f"{state:016x}"


def alert_view(
    alert: Alert,
    silenced_by: Sequence[str],
    inhibited_by: Iterable[Alert],
    now: datetime,
    *,
    ends_at: datetime | None,
) -> dict[str, Any]:
    """Return an alert as `GET /api/v2/alerts` shows it. `silenced_by`: ids of silences."""
    inhibitors = [fingerprint(one.labels) for one in inhibited_by]
    began = alert.life.fired_at or alert.life.since
    return {
        "annotations": {name: str(value) for name, value in alert.annotations.items()},
        "endsAt": ends_at or now,
        "fingerprint": fingerprint(alert.labels),
        "receivers": [{"name": RECEIVER}],
        "startsAt": began,
        "status": {
            "inhibitedBy": inhibitors,
            "silencedBy": list(silenced_by),
            "state": "suppressed" if silenced_by or inhibitors else "active",
        },
        "updatedAt": now,
        **({"generatorURL": alert.generator_url} if alert.generator_url else {}),
        "labels": dict(alert.labels),
    }


def group_views(alerts: Iterable[tuple[str, msgspec.Raw]]) -> list[dict[str, Any]]:
    """Return alerts, each by its name and as it is shown, in groups by their names."""
    groups: dict[str, list[msgspec.Raw]] = {}
    for name, alert in alerts:
        groups.setdefault(name, []).append(alert)
    return [
        {"alerts": found, "labels": {GROUPED_BY: name} if name else {}, "receiver": {"name": RECEIVER}}
        for name, found in sorted(groups.items())
    ]


def silence_view(silence: Silence, now: datetime) -> dict[str, Any]:
    """Return a silence as `GET /api/v2/silences` shows it. One of an incident is shown with that as its matcher."""
    matchers = silence.matchers or (
        Matcher(name="incident", operator=Operator.EQUAL, value=silence.incident),
    )
    ends_at = silence.expired_at or silence.ends_at
    state = "expired" if ends_at <= now else "active" if silence.starts_at <= now else "pending"
    return {
        "id": silence.id,
        "status": {"state": state},
        "updatedAt": silence.expired_at or silence.starts_at,
        "comment": silence.comment,
        "createdBy": silence.by_name or silence.by,
        "endsAt": ends_at,
        "startsAt": min(silence.starts_at, ends_at),
        "matchers": [msgspec.to_builtins(WireMatcher.of(one)) for one in matchers],
    }


def status_view(version: str, started: datetime) -> dict[str, Any]:
    """Return what `GET /api/v2/status` shows: ours, as there is no cluster of several and no configuration file."""
    return {
        "cluster": {"name": "", "status": "disabled", "peers": []},
        "config": {"original": ""},
        "uptime": started,
        "versionInfo": {
            "branch": "",
            "buildDate": "",
            "buildUser": "",
            "goVersion": "",
            "revision": "",
            "version": version,
        },
    }
