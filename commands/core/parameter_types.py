"""Types of command parameters: durations, numbers, and names of what exists in the cluster or in our store.

What one refuses is said as a whole sentence with the parameter in it.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, ClassVar

import click

from collectors.facts.clock import DURATION_SHAPE, duration
from collectors.facts.sentences import as_code, sentence

DECORATION = " \t`'\"“”‘’.,;:!?…，。；：！？、"  # around a name in a sentence
MAX_NAME = 300  # characters of a name


class NameKind(StrEnum):
    """What a name is the name of. Its value is the word that people read."""

    NODE = "node"
    TRAINING = "training"
    RACK = "rack"
    POD = "pod"
    VOLUME = "volume"
    TEAM = "team"
    RUNBOOK = "runbook"
    ALERT = "alert"
    INCIDENT = "incident"
    PLAN = "plan"
    SILENCE = "silence"
    REQUEST = "request"
    BREAKER = "breaker"
    PERSON = "person"
    CLUSTER = "cluster"
    NAMESPACE = "namespace"
    AGENT = "agent"  # a DaemonSet
    REPAIR = "repair"
    GPU = "gpu"  # of a node
    RANK = "rank"  # of a training
    TAINT = "taint"


TAINT_SHAPE = re.compile(r"[\w./-]+(?:=[\w.-]*)?:(?:NoSchedule|PreferNoSchedule|NoExecute)", re.ASCII)
ROW_IDS = {  # the shape of the ids that we give
    NameKind.INCIDENT: re.compile(r"i\d{1,9}"),
    NameKind.PLAN: re.compile(r"p\d{1,9}"),
    NameKind.SILENCE: re.compile(r"s\d{1,9}"),
    NameKind.REQUEST: re.compile(r"c[0-9a-f]{8}"),
    NameKind.BREAKER: re.compile(r"b\d{1,9}"),
}


PREFIXES = {
    NameKind.INCIDENT: "i",
    NameKind.PLAN: "p",
    NameKind.SILENCE: "s",
    NameKind.BREAKER: "b",
}
LISTED = frozenset(
    {NameKind.SILENCE, NameKind.BREAKER, NameKind.TEAM}
)  # what only the list of its noun shows
NUMBERED = frozenset({NameKind.GPU, NameKind.RANK})  # what is named by a bare number


def parameter_label(parameter: click.Parameter | None) -> str:
    """Return what a parameter is called in a line: its option, or its argument's name."""
    if parameter is None:
        return ""
    if isinstance(parameter, click.Option):
        return parameter.opts[0]
    return parameter.human_readable_name.lower().replace("_", "-")


class DurationType(click.ParamType[timedelta]):
    """A duration in Prometheus notation: 30s, 5m, 1h30m, 7d."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        given = str(value)
        try:
            return duration(given)
        except ValueError:
            too_long = "`{parameter}`: `{given}` is too long a duration: 100y at most."
            other = "`{parameter}`: `{given}` is not a duration: write it like 30s, 5m, 1h30m or 7d."
            template = too_long if re.match(DURATION_SHAPE, given) else other
            self.fail(
                sentence(template, parameter=parameter_label(param), given=given[:MAX_NAME]), param, ctx
            )


class WholeNumberType(click.ParamType[int]):
    """A whole number, of at least `least` and at most `most`."""

    name = "number"

    def __init__(self, *, least: int = 0, most: int | None = None) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        bare = str(value).strip()
        is_number = re.fullmatch(r"-?[0-9]{1,18}", bare, re.ASCII)
        if is_number and self.least <= int(bare) and (self.most is None or int(bare) <= self.most):
            return int(bare)
        given = {"parameter": parameter_label(param), "given": bare[:MAX_NAME]}
        self.fail(
            sentence(
                "`{parameter}` must be a whole number, {least} or more, and `{given}` is not.",
                least=self.least,
                **given,
            )
            if self.most is None
            else sentence(
                "`{parameter}` must be a whole number, {least} to {most}, and `{given}` is not.",
                least=self.least,
                most=self.most,
                **given,
            ),
            param,
            ctx,
        )


class NumberType(click.ParamType[float]):
    """A number, 0 or more."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        bare = str(value).strip()
        if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,6})?", bare, re.ASCII):
            self.fail(
                sentence(
                    "`{parameter}` must be a number, 0 or more, and `{given}` is not.",
                    parameter=parameter_label(param),
                    given=bare[:MAX_NAME],
                ),
                param,
                ctx,
            )
        return float(bare)


class ChoiceType(click.Choice[str]):
    """One of several words, in any case."""

    def __init__(self, choices: Iterable[str] = ()) -> None:
        super().__init__(tuple(choices), case_sensitive=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            said = sentence(
                "`{parameter}`: `{given}` is not one of {choices}.",
                parameter=parameter_label(param),
                given=str(value)[:MAX_NAME],
                choices=as_code(self.choices),
            )
            self.fail(said, param, ctx)


class NameType(click.ParamType[str]):
    """A name of one of these kinds, as people copy it: with backticks, a comma or a full stop around it.

    Kubernetes' names and our ids are in lower case, names of alerts and the kinds in keys are not. `is_listed`: it is
    one of those that there are, so that a form has a menu of them. `names` are those that are always there.
    """

    name = "text"

    def __init__(
        self,
        *kinds: NameKind,
        keeps_case: bool = False,
        is_listed: bool = True,
        names: Iterable[str] = (),
    ) -> None:
        self.kinds = kinds
        self.keeps_case = keeps_case or NameKind.ALERT in kinds
        self.is_listed = is_listed
        self.names = tuple(names)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        bare = str(value).strip(DECORATION)
        if not value:
            return ""  # the default of an option
        if not bare:
            self.fail(sentence("`{parameter}` is missing.", parameter=parameter_label(param)), param, ctx)
        if len(bare) > MAX_NAME:
            self.fail(
                sentence(
                    "`{parameter}` is too long: a name has at most {most} characters.",
                    parameter=parameter_label(param),
                    most=MAX_NAME,
                ),
                param,
                ctx,
            )
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
POD = NameType(NameKind.POD)
POD_OR_TRAINING = NameType(NameKind.POD, NameKind.TRAINING)
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
BREAKER = NameType(NameKind.BREAKER)
# What may also be something that is gone, or that nothing lists: it is typed.
PERSON = NameType(NameKind.PERSON, keeps_case=True, is_listed=False)
NAMESPACE_NAME = NameType(NameKind.NAMESPACE, keeps_case=True, is_listed=False)
AGENT = NameType(NameKind.AGENT, is_listed=False)
GPU_NAME = NameType(NameKind.GPU, keeps_case=True, is_listed=False)
TAINT_NAME = NameType(NameKind.TAINT, keeps_case=True, is_listed=False)
RANK_NAME = NameType(NameKind.RANK, keeps_case=True, is_listed=False)
RECORDED = NameType(NameKind.NODE, NameKind.TRAINING, NameKind.TEAM, keeps_case=True, is_listed=False)


def kinds_of(parameter: click.Parameter) -> tuple[NameKind, ...]:
    """Return what the parameter's value may name; nothing for a number, a text and the like."""
    if isinstance(parameter.type, NameType):
        return parameter.type.kinds
    if isinstance(parameter.type, MatchersType):
        return tuple(MatchersType.labels)
    return ()
