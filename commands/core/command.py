"""Command declarations: click parameters that parse into a typed action, and its handler."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, Self, TypeVar

import click

from alerts.cards.message import Block, Message
from commands.core.context import CommandContext, Undoing
from commands.core.parameters import RequiredUnless
from commands.core.request import ActorKind, Request
from commands.execution.disruption import Disruption
from commands.execution.plan import HeldBy, Stage
from commands.execution.rights import Right
from commands.execution.stake import Stake
from commands.execution.steps import Step

Action = TypeVar("Action")

EVERY_SOURCE = ("*",)


class UnusableError(Exception):
    """The command cannot be run. The text tells its sender what is wrong and what to do; `blocks` say more."""

    def __init__(self, reason: str, *, blocks: tuple[Block, ...] = ()) -> None:
        super().__init__(reason)
        self.blocks = blocks


class UnknownNameError(UnusableError):
    """There is nothing with this name. `near` has the names that were probably meant."""

    def __init__(self, reason: str, *, name: str, near: tuple[str, ...]) -> None:
        super().__init__(reason)
        self.name = name
        self.near = near


class DeniedError(UnusableError):
    """The actor is not permitted. `plan` is the plan that they tried to confirm or cancel, if any.

    `teams` are those that may run the whole line, so that they can be asked to.
    """

    def __init__(self, reason: str, *, plan: str = "", teams: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.plan = plan
        self.teams = teams


class CommandOutcome(StrEnum):
    """The end of a line, for programs that read the answer."""

    DONE = "done"  # answered, recorded, or proposed as a plan
    FAILED = "failed"  # something outside did not answer
    WRONG = "wrong"  # the line cannot be run as it is
    REFUSED = "refused"  # the actor is not permitted


@dataclass(frozen=True, slots=True, kw_only=True)
class FormRequest:
    """A form of a command that somebody has to fill in. `words` are the arguments that are known."""

    command: "AnyCommand"
    words: tuple[str, ...]
    cluster: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An immediate reply to one person; it is not stored.

    A channel that can open a form opens it instead of showing the message.
    """

    message: Message
    outcome: CommandOutcome = CommandOutcome.DONE
    is_public: bool = False  # posted in the channel, visible to everyone
    beside_card: Message | None = None  # said instead to who asked, where a card shows the message
    form: FormRequest | None = None
    has_card: bool = False  # a card follows, so a question that only one person sees may go away


Handler = Callable[[Request], Awaitable[Answer | None]]  # runs a line; None: there is nothing to answer


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDraft:
    """The result of planning: the stages of steps, and what to know before confirming them."""

    title: str  # imperative: "Cordon gpu-a04"
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()
    disrupts: tuple[Disruption, ...] = ()
    lines: tuple[str, ...] = ()  # which together do the same: it may be divided into them
    may_end: tuple[Disruption, ...] = ()  # what it leads to later, unless somebody objects
    ask_owners: bool = False  # it waits until the owners of what it ends have answered
    stakes: tuple[Stake, ...] = ()  # of what it ends and may end; priced by the planner if not given
    breaks: tuple[str, ...] = ()  # why it needs a second person, beyond the running work that `disrupts` ends
    decided: tuple[str, ...] = ()  # what is decided beyond the steps: policy and limits
    is_dry_run: bool = False  # the API server accepted a dry run of the steps
    blockers: tuple[str, ...] = ()  # what steps would have to wait for now, found by the dry run
    nothing_to_do: str = ""  # the reason, if there is nothing to do
    undo_of: str = ""  # the plan that this one reverts
    over_budget: str = ""  # why it does not wait for the gates that hold it back
    held_by: tuple[HeldBy, ...] = ()  # these gates
    replaces: str = ""  # the plan in whose place it is, which ends when this one is confirmed
    is_fixed: bool = False  # built from an uploaded file, so it cannot be planned again
    relieves: tuple[str, ...] = ()  # patterns of alert names, besides those of its command

    @classmethod
    def nothing(cls, why: str) -> Self:
        """Return the draft of a command that has nothing to do."""
        return cls(title="", nothing_to_do=why)

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(step for stage in self.stages for step in stage.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(Generic[Action]):
    """One command. Exactly one of `read`, `record` and `plan` is set.

    read: answers and changes nothing. record: changes only our own store, at once. plan: returns steps that are
    previewed and confirmed before they run.
    """

    noun: str
    verb: str
    summary: str  # one line, imperative
    action: Callable[..., Action]
    example: str
    parameters: tuple[click.Parameter, ...] = ()
    read: Callable[[Action, CommandContext], Awaitable[Answer]] | None = None
    record: Callable[[Action, CommandContext], Awaitable[Answer]] | None = None
    plan: Callable[[Action, CommandContext], Awaitable[PlanDraft]] | None = None
    for_everyone: bool = False  # everyone in the channel: help, incident views
    checks_permission_itself: bool = False  # open to everyone; the handler refuses actors itself
    owns: Callable[[Any, CommandContext], Awaitable[bool]] | None = (
        None  # whether what a line is about is the actor's
    )
    table: type[Any] | None = None  # the type of the row that an argument names: it determines the cluster
    rights: Collection[Right] = ()
    shows: tuple[str, ...] = ()  # sources: one that cannot be seen now is named in the answer
    shows_received: bool = False  # alerts of senders: what was accepted just now is waited for
    relieves: tuple[str, ...] = ()  # patterns of alert names: its effect explains why such an alert ends
    # What an undo of any plan has to know about this noun; declared by one of its commands.
    undoing: Undoing | None = None
    details: str = ""  # extra text for the docs
    for_whom: str = ""  # who may use it, where the handler checks that itself
    synonyms: tuple[str, ...] = ()  # what people say instead of the name; with options: "free gpus --free"
    repeats_last: bool = False  # its form begins with the options that the person gave it last
    allows_extra: bool = field(default=False)  # words after `--` are for the program: action(extra=…)
    needs_extra: bool = False  # it says nothing without them

    def __post_init__(self) -> None:
        if sum(way is not None for way in (self.read, self.record, self.plan)) != 1:
            raise ValueError(f"{self.name}: exactly one of read, record and plan")

    async def is_own(self, action: Any, context: CommandContext) -> bool:
        """Whether what this line is about is the actor's own or their team's: they need no grant for it."""
        if self.owns is None or context.actor.kind is ActorKind.AUTOMATION:
            return False
        return await self.owns(action, context)

    @property
    def name(self) -> str:
        return f"{self.noun} {self.verb}".strip()

    @property
    def changes_something(self) -> bool:
        return self.read is None

    @property
    def usage(self) -> str:
        """The usage line, from the parameters: `node cordon NODE [--reason TEXT]`."""
        parts = [self.name]
        for parameter in self.parameters:
            if isinstance(parameter, click.Argument):
                name = parameter.human_readable_name.upper().replace("_", "-")
                shown = f"{name}…" if parameter.nargs == -1 else name
                parts.append(shown if parameter.required else f"[{shown}]")
            elif isinstance(parameter, click.Option) and not parameter.hidden:
                flag = parameter.opts[0]
                value = "" if parameter.is_flag else f" {(parameter.metavar or parameter.name or '').upper()}"
                always = parameter.required and not isinstance(parameter, RequiredUnless)
                parts.append(f"{flag}{value}" if always else f"[{flag}{value}]")
        if self.allows_extra:
            parts.append("-- ARGUMENT…" if self.needs_extra else "[-- ARGUMENT…]")
        return " ".join(parts)


AnyCommand = Command[Any]
