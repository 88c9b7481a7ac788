"""Labels of what a PromQL expression returns, where its outermost aggregation says them."""

import promql_parser
from promql_parser import AggModifierType, VectorMatchCardinality

_LEFT = ("and", "unless")  # sets, of which the left side's samples are returned
_KEEPING = frozenset(
    ("abs", "ceil", "clamp", "clamp_max", "clamp_min", "floor", "round", "sort", "sort_desc")
)
_CHOOSING = ("topk", "bottomk", "limitk", "limit_ratio")  # aggregations that return samples as they are


def output_labels(expr: str) -> set[str] | None:
    """Return the labels that a valid expression's samples may have; None if the series that it reads decide that."""
    return _of(promql_parser.parse(expr))


def _of(tree: promql_parser.Expr) -> set[str] | None:
    match tree:
        case promql_parser.ParenExpr() | promql_parser.UnaryExpr():
            return _of(tree.expr)
        case promql_parser.AggregateExpr():
            return _of_aggregation(tree)
        case promql_parser.BinaryExpr():
            return _of_operation(tree)
        case promql_parser.Call() if tree.func.name in _KEEPING:
            return _of(tree.args[0])
        case _:
            return None


def _of_aggregation(tree: promql_parser.AggregateExpr) -> set[str] | None:
    operation = str(tree.op)
    if operation in _CHOOSING:
        return _of(tree.expr)
    added = {tree.param.val} if isinstance(tree.param, promql_parser.StringLiteral) else set()
    if tree.modifier is None:
        return added
    if tree.modifier.type == AggModifierType.By:
        return {*tree.modifier.labels, *added}
    inner = _of(tree.expr)
    return None if inner is None else (inner - set(tree.modifier.labels)) | added


def _of_operation(tree: promql_parser.BinaryExpr) -> set[str] | None:
    left, right = _of(tree.lhs), _of(tree.rhs)
    operation, modifier = str(tree.op), tree.modifier
    if operation in _LEFT or isinstance(tree.rhs, promql_parser.NumberLiteral):
        return left
    if isinstance(tree.lhs, promql_parser.NumberLiteral):
        return right
    if operation == "or":
        return None if left is None or right is None else left | right
    if modifier is not None and modifier.card == VectorMatchCardinality.OneToMany:
        left = right
    if left is None or modifier is None:
        return left
    return {*left, *(modifier.group_labels or ())}
