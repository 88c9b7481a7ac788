"""This file has the nodes of a parsed template; `at` is always an offset in the template's text."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Nil:
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A string, a boolean, or a number as it counts where any type will do.

    `as_float` and `as_int` are what a number gives where a float or an integer is asked for.
    """

    at: int
    value: str | bool | int | float | complex
    as_int: int | None = None
    as_float: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    at: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    at: int
    name: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    at: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Fields of what an operand in parentheses (or a function) gives."""

    at: int
    of: "Operand"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A function with its arguments, or one operand alone."""

    at: int
    operands: "tuple[Operand, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Commands, each given the value of the one before; the last value goes to the variables, where there are."""

    at: int
    commands: tuple[Command, ...]
    variables: tuple[str, ...] = ()
    assigns: bool = False  # `=` sets what exists, `:=` declares


Operand = Dot | Nil | Constant | Field | Variable | Function | Chain | Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    at: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    at: int
    pipeline: Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class If:
    at: int
    pipeline: Pipeline
    then: "tuple[Node, ...]"
    otherwise: "tuple[Node, ...] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class With:
    at: int
    pipeline: Pipeline
    then: "tuple[Node, ...]"
    otherwise: "tuple[Node, ...] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    at: int
    pipeline: Pipeline
    then: "tuple[Node, ...]"
    otherwise: "tuple[Node, ...] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Continue:
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """`{{template "name" pipeline}}`: another template, its dot being the pipeline's value."""

    at: int
    name: str
    pipeline: Pipeline | None


Node = Text | Action | If | With | Range | Break | Continue | Invocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A whole template: its own nodes, and those of the templates that it defines."""

    text: str
    nodes: tuple[Node, ...]
    defined: Mapping[str, tuple[Node, ...]]
