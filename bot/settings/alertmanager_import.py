"""Alertmanager's configuration read as our settings: routes, inhibition, time intervals, and what has no counterpart.

Receivers become channels, whose ids somebody must give. What cannot be carried over is a note, with what to do instead.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from alerts.matching import Matcher, Operator, parse_matchers

_TIMERS = ("group_by", "group_wait", "group_interval", "repeat_interval")
_KINDS = {  # of receivers: what stands in their place here
    "slack_configs": "the Slack channel's id, `slack:C0123456`",
    "webhook_configs": "a webhook of `channels.webhook`, `webhook:<name>`",
}
_OTHER_KIND = "a channel that reaches the same people; docs/channels.md has the kinds"
_INSTEAD = {
    "group_by": "alerts about one thing are one incident with one card; nothing is to be done",
    "group_wait": "a card is posted at once and edited while more alerts come; nothing is to be done",
    "group_interval": "a card is edited as soon as something changes; nothing is to be done",
    "repeat_interval": "a critical incident that nobody acknowledged is repeated after incidents.remind_after",
}
_GLOBALS = {
    "global": "credentials and addresses of services: give those of our channels in `slack` and `channels`",
    "templates": "cards are composed here: annotations give the text, and runbooks the pages",
    "tracing": "there is no tracing",
}


class ImportRefusedError(Exception):
    """The file is not a configuration of Alertmanager. The text says why."""


@dataclass(slots=True, kw_only=True)
class Imported:
    """Our settings, and a note for each thing that has no counterpart or needs a hand."""

    settings: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def import_alertmanager(text: str, channels: Mapping[str, str]) -> Imported:
    """Return the settings of a configuration. `channels`: the channel of each receiver. Raises ImportRefusedError."""
    try:
        config = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ImportRefusedError(f"is not YAML: {error}") from error
    if not isinstance(config, dict) or not isinstance(config.get("route"), dict):
        raise ImportRefusedError("has no `route`: it is not a configuration of Alertmanager")
    try:
        return _Import(config, channels).read()
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ImportRefusedError(
            f"is not built like a configuration of Alertmanager: {_fault(error)}"
        ) from error


def _fault(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


class _Import:
    def __init__(self, config: dict[str, Any], channels: Mapping[str, str]) -> None:
        self._config = config
        self._receivers = {
            str(one["name"]): one
            for one in config.get("receivers") or ()
            if isinstance(one, dict) and "name" in one
        }
        self._channels = channels
        self._used: dict[str, None] = {}
        self._found = Imported()
        self._timers: dict[str, set[str]] = {}

    def read(self) -> Imported:
        top = self._config["route"]
        if "receiver" not in top:
            raise ImportRefusedError("the root route has no receiver")
        if top.get("matchers") or top.get("match") or top.get("match_re"):
            raise ImportRefusedError("the root route must not have any matchers")
        self._found.settings["routes"] = [self._route(top, "route")]
        if intervals := dict(self._intervals()):
            self._found.settings["time_intervals"] = intervals
        rules = self._config.get("inhibit_rules") or ()
        if inhibit := [self._inhibit(rule, f"inhibit_rules[{n}]") for n, rule in enumerate(rules)]:
            self._found.settings["inhibit_rules"] = inhibit
        self._found.notes[:0] = [*self._notes()]
        return self._found

    def _notes(self) -> Iterator[str]:
        """Yield what concerns the whole file: receivers first, as they need a hand."""
        for name in self._used:
            if name in self._channels or self._goes_nowhere(name):
                continue
            kinds = [key for key in self._receivers.get(name, {}) if key.endswith("_configs")]
            instead = "; ".join(dict.fromkeys(_KINDS.get(kind, _OTHER_KIND) for kind in kinds)) or _OTHER_KIND
            given = ", ".join(kinds) or "unknown"
            yield f"receiver `{name}` ({given}): give its channel with --channel '{name}=ID', {instead}"
        for name in self._receivers:
            if name not in self._used:
                yield f"receiver `{name}`: no route uses it; left out"
        for timer, values in self._timers.items():
            yield f"{timer} ({', '.join(sorted(values))}): {_INSTEAD[timer]}"
        known = ("route", "receivers", "inhibit_rules", "time_intervals", "mute_time_intervals")
        for key in self._config:
            if key not in known:
                yield f"{key}: {_GLOBALS.get(str(key), 'has no counterpart; left out')}"

    def _goes_nowhere(self, name: str) -> bool:
        """Whether the receiver has no integration: what goes there is dropped."""
        return name in self._receivers and not any(
            key.endswith("_configs") and value for key, value in self._receivers[name].items()
        )

    def _route(self, route: dict[str, Any], path: str) -> dict[str, Any]:
        own: dict[str, Any] = {}
        if matchers := self._matchers(route, path, "matchers", "match", "match_re"):
            own["match"] = matchers
        if (receiver := route.get("receiver")) is not None:
            self._used[str(receiver)] = None
            if str(receiver) not in self._channels and self._goes_nowhere(str(receiver)):
                own["nobody"] = True
            else:
                own["channels"] = [self._channels.get(str(receiver), str(receiver))]
        if route.get("continue"):
            own["continue"] = True
        for timer in _TIMERS:
            if timer in route:
                given = route[timer]
                said = ", ".join(map(str, given)) or "none" if isinstance(given, list) else str(given)
                self._timers.setdefault(timer, set()).add(said)
        for names in ("mute_time_intervals", "active_time_intervals"):
            if route.get(names):
                own[names] = [str(name) for name in route[names]]
        known = {"matchers", "match", "match_re", "receiver", "continue", "routes", *_TIMERS}
        for key in route.keys() - known - {"mute_time_intervals", "active_time_intervals"}:
            self._found.notes.append(f"{path}.{key}: has no counterpart; left out")
        children = route.get("routes") or ()
        if children:
            own["routes"] = [self._route(one, f"{path}.routes[{n}]") for n, one in enumerate(children)]
        return own

    def _matchers(self, of: dict[str, Any], path: str, new: str, equal: str, pattern: str) -> str:
        """Return the matchers of all three forms as one text. Raises ImportRefusedError."""
        found: list[Matcher] = []
        for text in of.get(new) or ():
            try:
                found += parse_matchers(str(text))
            except ValueError as error:
                raise ImportRefusedError(f"{path}.{new}: {error}") from error
        for key, operator in ((equal, Operator.EQUAL), (pattern, Operator.MATCHES)):
            for name, value in (of.get(key) or {}).items():
                found.append(Matcher(name=str(name), operator=operator, value=str(value)))
        return ", ".join(map(str, found))

    def _intervals(self) -> Iterator[tuple[str, Any]]:
        for key in ("mute_time_intervals", "time_intervals"):
            for one in self._config.get(key) or ():
                yield str(one["name"]), [_plain(period) for period in one.get("time_intervals") or ()]

    def _inhibit(self, rule: dict[str, Any], path: str) -> dict[str, Any]:
        own: dict[str, Any] = {
            side: self._matchers(rule, path, f"{side}_matchers", f"{side}_match", f"{side}_match_re")
            for side in ("source", "target")
        }
        if rule.get("equal"):
            own["equal"] = [str(name) for name in rule["equal"]]
        known = {
            f"{side}_{form}" for side in ("source", "target") for form in ("matchers", "match", "match_re")
        }
        for key in rule.keys() - known - {"equal", "name"}:
            self._found.notes.append(f"{path}.{key}: has no counterpart; left out")
        return own


def _plain(period: dict[str, Any]) -> dict[str, Any]:
    """Return the period as our settings write it; numbers of YAML's clock are text again."""
    plain: dict[str, Any] = {
        key: [str(one) for one in value] if isinstance(value, list) else str(value)
        for key, value in period.items()
        if key != "times" and value is not None
    }
    if times := period.get("times"):
        plain["times"] = [{edge: _clock(time[edge]) for edge in ("start_time", "end_time")} for time in times]
    return plain


def _clock(written: str | int) -> str:
    return f"{written // 60:02}:{written % 60:02}" if isinstance(written, int) else written


def as_yaml(found: Imported) -> str:
    """Return the settings as YAML, with the notes as comments before them."""
    head = [
        "# From an Alertmanager's configuration, by `yardmaster routes import`.",
        *(f"# * {' '.join(note.split())}" for note in found.notes),
    ]
    body = yaml.safe_dump(found.settings, sort_keys=False, allow_unicode=True, width=120)
    return "\n".join(head) + "\n" + body
