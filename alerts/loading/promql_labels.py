"""Labels of what a PromQL expression returns, where its outermost aggregation says them."""

from collectors.facts.promql.grammar import parse
from collectors.facts.promql.tree import Binary, Call, Group, Number, Part, String

_LEFT = ("and", "unless")  # sets, of which the left side's samples are returned
_KEEPING = frozenset(
    ("abs", "ceil", "clamp", "clamp_max", "clamp_min", "floor", "round", "sort", "sort_desc")
)
_CHOOSING = ("topk", "bottomk", "limitk", "limit_ratio")  # aggregations that return samples as they are


def output_labels(expr: str) -> set[str] | None:
    """Return the labels that a valid expression's samples may have; None if the series that it reads decide that."""
    return _of(parse(expr))


def _of(node: Part) -> set[str] | None:
    match node:
        case Group():
            return _of(node.inner[0])
        case Call() if node.is_aggregation:
            return _of_aggregation(node)
        case Binary():
            return _of_operation(node)
        case Call() if node.name in _KEEPING:
            return _of(node.inner[0])
        case _:
            return None


def _of_aggregation(node: Call) -> set[str] | None:
    if node.name in _CHOOSING:
        return _of(node.inner[-1])
    added = {one.value for one in node.inner[:-1] if isinstance(one, String)}
    if node.grouping != "without":
        return {*node.labels, *added}
    inner = _of(node.inner[-1])
    return None if inner is None else (inner - set(node.labels)) | added


def _of_operation(node: Binary) -> set[str] | None:
    left, right = (_of(one) for one in node.inner)
    if node.operator in _LEFT or _is_number(node.inner[1]):
        return left
    if _is_number(node.inner[0]):
        return right
    if node.operator == "or":
        return None if left is None or right is None else left | right
    many = right if node.many == "right" else left
    return None if many is None else many | set(node.included)


def _is_number(node: Part) -> bool:
    return isinstance(node, Number) or (isinstance(node, Group) and _is_number(node.inner[0]))
