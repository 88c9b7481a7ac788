"""Nodes of a parsed template."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    at: int  # an offset in the template's text


class DotNode(Node):
    """`.`"""


class NilNode(Node):
    """`nil`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantNode(Node):
    """A string, a boolean, or a number."""

    value: str | bool | int | float | complex


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldNode(Node):
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableNode(Node):
    name: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifierNode(Node):
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainNode(Node):
    """Fields of the value of an operand in parentheses or a function."""

    of: "Operand"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandNode(Node):
    """A function with its arguments, or a single operand."""

    operands: "tuple[Operand, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class PipeNode(Node):
    """Commands, each given the value of the previous one; the last value is set to the variables, if any."""

    commands: tuple[CommandNode, ...]
    variables: tuple[str, ...] = ()
    assigns: bool = False  # `=` sets an existing variable, `:=` declares one


Operand = DotNode | NilNode | ConstantNode | FieldNode | VariableNode | IdentifierNode | ChainNode | PipeNode


@dataclass(frozen=True, slots=True, kw_only=True)
class TextNode(Node):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionNode(Node):
    pipeline: PipeNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch(Node):
    """What is rendered by the value of a pipeline: `then`, or else `otherwise`."""

    pipeline: PipeNode
    then: "tuple[BodyNode, ...]"
    otherwise: "tuple[BodyNode, ...] | None" = None


class IfNode(Branch):
    """`{{if pipeline}}`"""


class WithNode(Branch):
    """`{{with pipeline}}`"""


class RangeNode(Branch):
    """`{{range pipeline}}`"""


class BreakNode(Node):
    """`{{break}}`"""


class ContinueNode(Node):
    """`{{continue}}`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateNode(Node):
    """`{{template "name" pipeline}}`: a call of another template with the pipeline's value as its dot."""

    name: str
    pipeline: PipeNode | None


BodyNode = TextNode | ActionNode | IfNode | WithNode | RangeNode | BreakNode | ContinueNode | TemplateNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A parsed template: its own nodes, and those of the templates that it defines."""

    text: str
    nodes: tuple[BodyNode, ...]
    defined: Mapping[str, tuple[BodyNode, ...]]
