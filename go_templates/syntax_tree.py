"""Nodes of a parsed template; `at` is always an offset in the template's text."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DotNode:
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NilNode:
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantNode:
    """A string, a boolean, or a number."""

    at: int
    value: str | bool | int | float | complex


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldNode:
    at: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableNode:
    at: int
    name: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifierNode:
    at: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainNode:
    """Fields of the value of an operand in parentheses or a function."""

    at: int
    of: "Operand"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandNode:
    """A function with its arguments, or a single operand."""

    at: int
    operands: "tuple[Operand, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class PipeNode:
    """Commands, each given the value of the previous one; the last value is set to the variables, if any."""

    at: int
    commands: tuple[CommandNode, ...]
    variables: tuple[str, ...] = ()
    assigns: bool = False  # `=` sets an existing variable, `:=` declares one


Operand = DotNode | NilNode | ConstantNode | FieldNode | VariableNode | IdentifierNode | ChainNode | PipeNode


@dataclass(frozen=True, slots=True, kw_only=True)
class TextNode:
    at: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionNode:
    at: int
    pipeline: PipeNode


@dataclass(frozen=True, slots=True, kw_only=True)
class IfNode:
    at: int
    pipeline: PipeNode
    then: "tuple[BodyNode, ...]"
    otherwise: "tuple[BodyNode, ...] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WithNode:
    at: int
    pipeline: PipeNode
    then: "tuple[BodyNode, ...]"
    otherwise: "tuple[BodyNode, ...] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeNode:
    at: int
    pipeline: PipeNode
    then: "tuple[BodyNode, ...]"
    otherwise: "tuple[BodyNode, ...] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakNode:
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinueNode:
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateNode:
    """`{{template "name" pipeline}}`: a call of another template with the pipeline's value as its dot."""

    at: int
    name: str
    pipeline: PipeNode | None


BodyNode = TextNode | ActionNode | IfNode | WithNode | RangeNode | BreakNode | ContinueNode | TemplateNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A parsed template: its own nodes, and those of the templates that it defines."""

    text: str
    nodes: tuple[BodyNode, ...]
    defined: Mapping[str, tuple[BodyNode, ...]]
