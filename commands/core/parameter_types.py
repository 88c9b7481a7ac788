"""Types of command parameters: durations, and names of what exists in the cluster or in our store."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any, ClassVar

import click

from collectors.facts.clock import duration
from collectors.facts.sentences import Sentence, said_by, sentence

DECORATION = " \t`'\"“”‘’.,;:!?…，。；：！？、"  # around a name in a sentence
MAX_NAME = 300  # characters of a name


class NameKind(StrEnum):
    """What a name is the name of. Its value is the word that people read."""

    NODE = "node"
    TRAINING = "training"
    RACK = "rack"
    VOLUME = "volume"
    TEAM = "team"
    RUNBOOK = "runbook"
    ALERT = "alert"
    INCIDENT = "incident"
    PLAN = "plan"
    SILENCE = "silence"
    REQUEST = "request"


ROW_IDS = {  # the shape of the ids that we give
    NameKind.INCIDENT: re.compile(r"i\d{1,9}"),
    NameKind.PLAN: re.compile(r"p\d{1,9}"),
    NameKind.SILENCE: re.compile(r"s\d{1,9}"),
    NameKind.REQUEST: re.compile(r"c[0-9a-f]{8}"),
}


PREFIXES = {NameKind.INCIDENT: "i", NameKind.PLAN: "p", NameKind.SILENCE: "s"}


class DurationType(click.ParamType[timedelta]):
    """A duration in Prometheus notation: 30s, 5m, 1h30m, 7d."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        try:
            return duration(str(value))
        except ValueError as error:
            self.fail(said_by(error), param, ctx)


class WholeNumberType(click.ParamType[int]):
    """A whole number, of at least `least` and at most `most`."""

    name = "number"

    def __init__(self, *, least: int = 0, most: int | None = None) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        bare = str(value).strip()
        if not re.fullmatch(r"-?[0-9]{1,18}", bare, re.ASCII):
            self.fail(
                sentence(
                    "must be a whole number, {allowed}, and `{given}` is not",
                    allowed=self._allowed,
                    given=bare,
                ),
                param,
                ctx,
            )
        if int(bare) < self.least or (self.most is not None and int(bare) > self.most):
            self.fail(
                sentence("must be {allowed}, and `{given}` is not", allowed=self._allowed, given=bare),
                param,
                ctx,
            )
        return int(bare)

    @property
    def _allowed(self) -> Sentence:
        if self.most is None:
            return sentence("{least} or more", least=self.least)
        return sentence("{least} to {most}", least=self.least, most=self.most)


class NumberType(click.ParamType[float]):
    """A number, 0 or more."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        bare = str(value).strip()
        if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,6})?", bare, re.ASCII):
            self.fail(sentence("must be a number, 0 or more, and `{given}` is not", given=bare), param, ctx)
        return float(bare)


class NameType(click.ParamType[str]):
    """A name of one of these kinds, as people copy it: with backticks, a comma or a full stop around it.

    Kubernetes' names and our ids are in lower case, names of alerts and the kinds in keys are not.
    """

    name = "text"

    def __init__(self, *kinds: NameKind, keeps_case: bool = False) -> None:
        self.kinds = kinds
        self.keeps_case = keeps_case or NameKind.ALERT in kinds

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        bare = str(value).strip(DECORATION)
        if not value:
            return ""  # the default of an option
        if not bare:
            self.fail("a name is missing", param, ctx)
        if len(bare) > MAX_NAME:
            self.fail(sentence("a name has at most {most} characters", most=MAX_NAME), param, ctx)
        return with_prefix(bare if self.keeps_case else in_lower_case(bare), self.kinds)


def with_prefix(name: str, kinds: Iterable[NameKind]) -> str:
    """Return the id of a row that is named by its number alone: `10` is `i10` where an incident is meant."""
    if not (name.isascii() and name.isdecimal()):
        return name
    return next((f"{PREFIXES[kind]}{name}" for kind in kinds if kind in PREFIXES), name)


def in_lower_case(name: str) -> str:
    """Return a name in lower case; the key of a training as it is, for the kind in it has capitals."""
    return name if name.count("/") > 1 else name.lower()


class MatchersType(click.ParamType[str]):
    """A matcher of alerts: `node=gpu-a04`. A bare name of one of `labels` is written as one."""

    name = "text"
    labels: ClassVar[Mapping[NameKind, str]] = {NameKind.NODE: "node", NameKind.ALERT: "alertname"}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value)


DURATION = DurationType()
MATCHERS = MatchersType()
NODE = NameType(NameKind.NODE)
TRAINING = NameType(NameKind.TRAINING)
RACK = NameType(NameKind.RACK)
VOLUME = NameType(NameKind.VOLUME)
TEAM = NameType(NameKind.TEAM)
INCIDENT = NameType(NameKind.INCIDENT)
PLAN = NameType(NameKind.PLAN)
SILENCE = NameType(NameKind.SILENCE)
REQUEST = NameType(NameKind.REQUEST)
RUNBOOK = NameType(NameKind.RUNBOOK)
RULE = NameType(NameKind.ALERT)
INCIDENT_OR_ITS_ALERT = NameType(NameKind.INCIDENT, keeps_case=True)
ALERT_OR_INCIDENT = NameType(NameKind.ALERT, NameKind.INCIDENT)


class ExplainedOption(click.Option):
    """An option whose help is a sentence: of that click would make a plain string."""

    def __init__(self, declarations: Sequence[str], *, help: Sentence, **settings: Any) -> None:
        super().__init__(declarations, help=help, **settings)
        self.help = help


def reason_option(help: str, *, required: bool = False) -> click.Option:
    """Return the option. A required one has no default: without it the line opens its form."""
    if required:
        return click.Option(["--reason"], required=True, metavar="TEXT", help=help)
    return click.Option(["--reason"], default="", metavar="TEXT", help=help)


def lasting_option(help: str) -> click.Option:
    return click.Option(["--for", "lasting"], type=DURATION, default=None, metavar="DURATION", help=help)


def kinds_of(parameter: click.Parameter) -> tuple[NameKind, ...]:
    """Return what the parameter's value may name; nothing for a number, a text and the like."""
    if isinstance(parameter.type, NameType):
        return parameter.type.kinds
    if isinstance(parameter.type, MatchersType):
        return tuple(MatchersType.labels)
    return ()
