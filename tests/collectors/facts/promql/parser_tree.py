"""The tree of an expression as promql-parser reads it, and as we do, in one form that can be compared."""

from typing import Any

import promql_parser

from collectors.facts.promql.grammar import parse
from collectors.facts.promql.tree import Binary, Call, Group, Number, Part, Subquery, VectorSelector

_OPERATORS = {"Equal": "=", "NotEqual": "!=", "Re": "=~", "NotRe": "!~"}
# What is wrong with the meaning of an expression whose grammar is right. Our reader knows the grammar alone.
_OF_MEANING = (
    *(
        "expected type",
        "at least one non-empty matcher",
        "unknown function",
        "argument",
        "unknown escape",
        "set twice",
    ),
    *("ranges only allowed", "must contain only scalar", "between scalars", "set operator", "illegal regex"),
    *(
        "out of bounds",
        "subquery is only allowed",
        "must be greater than 0",
        "many-to-many",
        "must not occur in",
    ),
    *(
        "no grouping",
        "can only be used",
        "must be of type",
        "not allowed with",
        "many values",
        "only allowed",
    ),
)


def theirs(expr: str) -> Any:
    """Return the tree of promql-parser. Raises ValueError where it refuses the grammar, and Meaningless otherwise."""
    try:
        return _of_theirs(promql_parser.parse(expr))
    except ValueError as error:
        if any(words in str(error) for words in _OF_MEANING):
            raise MeaninglessError(str(error)) from error
        raise


class MeaninglessError(Exception):
    """An expression that the parser refuses for what it means."""


def _of_theirs(node: Any) -> Any:
    match node:
        case promql_parser.NumberLiteral():
            return "number", repr(node.val)
        case promql_parser.StringLiteral():
            return "string"
        case promql_parser.ParenExpr():
            return "group", _of_theirs(node.expr)
        case promql_parser.UnaryExpr():
            return "-", _of_theirs(node.expr)
        case promql_parser.BinaryExpr():
            return str(node.op).strip(), _matching(node.modifier), _of_theirs(node.lhs), _of_theirs(node.rhs)
        case promql_parser.VectorSelector():
            return _selector(node, None)
        case promql_parser.MatrixSelector():
            return _selector(node.vector_selector, _seconds(node.range))
        case promql_parser.SubqueryExpr():
            return "subquery", _seconds(node.range), _seconds(node.offset), _of_theirs(node.expr)
        case promql_parser.Call():
            return node.func.name, "", (), *map(_of_theirs, node.args)
        case promql_parser.AggregateExpr():
            by = node.modifier
            kind = (
                ("by" if by.type == promql_parser.AggModifierType.By else "without") if by is not None else ""
            )
            arguments = (one for one in (node.param, node.expr) if one is not None)
            labels = tuple(by.labels) if by is not None else ()
            return str(node.op), kind, labels, *map(_of_theirs, arguments)
        case _:
            raise NotImplementedError(type(node))


def _matching(modifier: Any) -> Any:
    card = promql_parser.VectorMatchCardinality
    if modifier is None or modifier.card not in (card.ManyToOne, card.OneToMany):
        return "", ()
    return "left" if modifier.card == card.ManyToOne else "right", tuple(modifier.group_labels or ())


def _selector(node: Any, window: float | None) -> Any:
    matchers = [
        (one.name, _OPERATORS[str(one.op).rpartition(".")[2]], one.value) for one in node.matchers.matchers
    ]
    return "selector", node.name or "", sorted(matchers), window, _seconds(node.offset)


def _seconds(offset: Any) -> float:
    return float(offset.total_seconds()) if offset is not None else 0.0


def ours(expr: str) -> Any:
    """Return our tree likewise. Raises PromQLSyntaxError."""
    return _of_ours(parse(expr), expr)


def _of_ours(node: Part, expr: str) -> Any:
    inner = [_of_ours(one, expr) for one in node.inner]
    match node:
        case Number():
            return "number", repr(node.value)
        case Group(sign=""):
            return "group", *inner
        case Group(sign="+"):
            return inner[0]
        case Group():  # the parser makes one number of a sign and a number
            return ("number", repr(-float(inner[0][1]))) if inner[0][0] == "number" else ("-", *inner)
        case Binary():
            return node.operator, (node.many, node.included), *inner
        case VectorSelector():
            matchers = sorted((one.label, one.operator, one.text) for one in node.matchers)
            window = node.range.total_seconds() if node.range is not None else None
            name = node.metric if expr[node.start] != "{" else ""
            return "selector", name, matchers, window, node.offset.total_seconds()
        case Subquery():
            return "subquery", node.range.total_seconds(), node.offset.total_seconds(), *inner
        case Call():
            return node.name, node.grouping, node.labels, *inner
        case _:
            return "string"
