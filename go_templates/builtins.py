"""Functions of Go's text/template itself: comparing, indexing, slicing."""

from collections.abc import Mapping, Sequence

from go_templates.printing import sprint
from go_templates.template_errors import RenderError
from go_templates.values import Arguments, TemplateSample, Value, truth, type_of

_BASIC = {bool: "bool", int: "int", float: "float", complex: "complex", str: "string"}


def negated(value: Value) -> bool:
    return not truth(value)


def escapable_text(values: Sequence[Value]) -> str:
    """Return what html, js and urlquery escape: a single string unchanged, anything else as Print formats it."""
    return sprint(["<no value>" if value is None else value for value in values])


def length(value: Value) -> int:
    if isinstance(value, str):
        return len(value.encode("utf-8", "replace"))  # Go counts bytes
    if isinstance(value, Mapping | Sequence):
        return len(value)
    raise RenderError("len of nil pointer" if value is None else f"len of type {type_of(value)}")


def index(value: Value, *keys: Value) -> Value:
    if value is None:
        raise RenderError("index of untyped nil")
    for key in keys:
        if isinstance(value, Mapping):
            if not isinstance(key, str):
                raise RenderError(
                    "value is nil; should be of type string"
                    if key is None
                    else f"value has type {type_of(key)}; should be string"
                )
            value = value.get(key, None if isinstance(value, Arguments) else "")
        elif isinstance(value, str):
            raw = value.encode("utf-8", "replace")
            value = raw[_position(key, len(raw) - 1)]
        elif isinstance(value, Sequence):
            value = value[_position(key, len(value) - 1)]
        elif value is None:
            raise RenderError("index of nil pointer")
        else:
            raise RenderError(f"can't index item of type {type_of(value)}")
    return value


def part(value: Value, *bounds: Value) -> Value:
    if len(bounds) > 3:
        raise RenderError(f"too many slice indexes: {len(bounds)}")
    if value is None:
        raise RenderError("slice of untyped nil")
    if not isinstance(value, str | tuple):
        raise RenderError(f"can't slice item of type {type_of(value)}")
    if isinstance(value, str) and len(bounds) == 3:
        raise RenderError("cannot 3-index slice a string")
    raw = value.encode("utf-8", "replace") if isinstance(value, str) else value
    places = [_position(bound, len(raw)) for bound in bounds]
    start, end, *_ = [*places, *(0, len(raw))[len(places) :]]
    if start > end or (len(places) == 3 and end > places[2]):
        raise RenderError(f"invalid slice index: {start} > {end}")
    cut = raw[start:end]
    return cut.decode("utf-8", "replace") if isinstance(cut, bytes) else cut


def _position(key: Value, last: int) -> int:
    if not isinstance(key, int) or isinstance(key, bool):
        raise RenderError(f"cannot index slice/array with {'nil' if key is None else 'type ' + type_of(key)}")
    if not 0 <= key <= last:
        raise RenderError(f"index out of range: {key}")
    return key


def call(value: Value, *_arguments: Value) -> Value:
    raise RenderError("call of nil" if value is None else f"non-function of type {type_of(value)}")


def any_equal(first: Value, *others: Value) -> bool:
    if not others:
        raise RenderError("missing argument for comparison")
    return any(_same(first, other) for other in others)


def _same(first: Value, second: Value) -> bool:
    kinds = _BASIC.get(type(first)), _BASIC.get(type(second))
    if kinds[0] != kinds[1]:
        if first is None or second is None:
            return False
        raise _incompatible(first, second)
    if kinds[0] is None:
        if first is None or second is None:
            return first is second
        if isinstance(second, TemplateSample):
            return first is second
        if isinstance(second, Mapping | tuple):
            raise RenderError(f"non-comparable type {type_of(second)}")
    return bool(first == second)


def _incompatible(first: Value, second: Value) -> RenderError:
    return RenderError(f"incompatible types for comparison: {type_of(first)} and {type_of(second)}")


def unequal(first: Value, second: Value) -> bool:
    return not any_equal(first, second)


def less(first: Value, second: Value) -> bool:
    for value in (first, second):
        if type(value) not in _BASIC:
            raise RenderError("invalid type for comparison")
    if type(first) is not type(second):
        raise _incompatible(first, second)
    if isinstance(first, bool | complex):
        raise RenderError("invalid type for comparison")
    return bool(first < second)


def less_or_equal(first: Value, second: Value) -> bool:
    return less(first, second) or any_equal(first, second)


def greater(first: Value, second: Value) -> bool:
    return not less_or_equal(first, second)


def greater_or_equal(first: Value, second: Value) -> bool:
    return not less(first, second)
