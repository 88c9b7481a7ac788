"""This file has what a command is: declared once, as click parameters that give a typed deed."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Generic, TypeVar

import click

from alerts.cards.message import Button, Message
from collectors.facts.clock import duration
from commands.core.context import CommandContext
from commands.plans.plan import Risk
from commands.plans.steps import Step

Action = TypeVar("Action")


class UnusableError(Exception):
    """The line cannot be done. The text is for the person who wrote it: what is wrong, and what to do."""


class DeniedError(UnusableError):
    """The person may not do it. `plan`: the one that they would have confirmed or left."""

    def __init__(self, reason: str, *, plan: str = "") -> None:
        super().__init__(reason)
        self.plan = plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes back to one person at once, and is not kept."""

    message: Message
    is_public: bool = False  # in the channel, for everybody there


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDraft:
    """What planning gives: the steps, and what to know before confirming them."""

    title: str  # as an order: "Cordon gpu-a04"
    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    disrupts: tuple[str, ...] = ()
    nothing_to_do: str = ""  # why there is nothing to do, if so
    alternatives: tuple[Button, ...] = ()  # what might be wanted instead
    undo_of: str = ""  # the plan that this one takes back
    is_fixed: bool = False  # made from what came with the line (a file): it cannot be planned anew


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """A right that Kubernetes must have given us: for the chart's RBAC and for `doctor`."""

    group: str  # "" for the core group
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    namespace: str = ""  # the only one where it is needed; "" for the whole cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(Generic[Action]):
    """One command. Exactly one of `look`, `note` and `plan` is set.

    look: answers, changes nothing. note: changes only what we remember, at once. plan: gives steps that are
    shown and confirmed before they are done.
    """

    noun: str
    verb: str
    summary: str  # one line, as an order
    action: Callable[..., Action]
    example: str
    parameters: tuple[click.Parameter, ...] = ()
    read: Callable[[Action, CommandContext], Awaitable[Answer]] | None = None
    record: Callable[[Action, CommandContext], Awaitable[Answer]] | None = None
    plan: Callable[[Action, CommandContext], Awaitable[PlanDraft]] | None = None
    risk: Risk = Risk.READ
    for_everyone: bool = False  # everybody in the channel: help, incident views
    checks_permission_itself: bool = False  # anybody may ask: the deed refuses whoever it is not for
    table: str = (
        ""  # the table of the row that it names: plans, incidents, silences or claims; theirs is the cluster
    )
    rights: tuple[Right, ...] = ()
    details: str = ""  # what the docs add
    allows_extra: bool = field(default=False)  # words after `--` are somebody else's program's: deed(extra=…)

    def __post_init__(self) -> None:
        if sum(way is not None for way in (self.read, self.record, self.plan)) != 1:
            raise ValueError(f"{self.name}: exactly one of look, note and plan")
        if (self.risk is Risk.READ) != (self.read is not None or self.record is not None):
            raise ValueError(f"{self.name}: only a plan has a risk, and it always has one")

    @property
    def name(self) -> str:
        return f"{self.noun} {self.verb}".strip()

    @property
    def changes_something(self) -> bool:
        return self.read is None

    @property
    def usage(self) -> str:
        """`node cordon NODE [--reason TEXT]`, from the parameters."""
        parts = [self.name]
        for parameter in self.parameters:
            if isinstance(parameter, click.Argument):
                name = parameter.human_readable_name.upper().replace("_", "-")
                shown = f"{name}…" if parameter.nargs == -1 else name
                parts.append(shown if parameter.required else f"[{shown}]")
            elif isinstance(parameter, click.Option) and not parameter.hidden:
                flag = parameter.opts[0]
                value = "" if parameter.is_flag else f" {(parameter.metavar or parameter.name or '').upper()}"
                parts.append(f"{flag}{value}" if parameter.required else f"[{flag}{value}]")
        if self.allows_extra:
            parts.append("[-- ARGUMENT…]")
        return " ".join(parts)


AnyCommand = Command[Any]


class DurationType(click.ParamType[timedelta]):
    """A duration as Prometheus writes it: 30s, 5m, 1h30m, 7d."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        try:
            return duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class RowNameType(click.ParamType[str]):
    """The name that we gave a row: i7, p12, s3. It may be written large."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value).lower()


DURATION = DurationType()
ROW_NAME = RowNameType()
