"""Access to values as by Go's reflection: fields, methods, elements, and calls with checked types."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from go_templates.functions import Environment, NativeFunction, fits, in_go
from go_templates.moments import method
from go_templates.printing import MAX_OUTPUT, format_value
from go_templates.template_errors import RenderError
from go_templates.values import AlertData, Arguments, GoDuration, TemplateSample, Time, Value, type_of


def printable_value(value: Value) -> str:
    # Go dereferences a pointer before printing it, so the & of a sample does not show.
    return format_value(value, depth=1) if isinstance(value, TemplateSample) else format_value(value)


def called(name: str, native: NativeFunction, world: Environment, given: Sequence[Value]) -> Value:
    try:
        value = native.call(world, *given) if native.needs_world else native.call(*given)
    except (RenderError, ArithmeticError, ValueError) as error:
        raise RenderError(f"error calling {name}: {error}") from None
    if isinstance(value, str) and len(value) > MAX_OUTPUT:
        raise RenderError(f"error calling {name}: the text is longer than {MAX_OUTPUT} characters")
    return value


def checked(value: Value, kind: str) -> Value:
    if fits(value, kind):
        return value
    if value is None:
        raise RenderError(f"invalid value; expected {in_go(kind)}")
    raise RenderError(f"wrong type for value; expected {in_go(kind)}; got {type_of(value)}")


def field(value: Value, name: str, given: Sequence[Value]) -> Value:
    """Return a field of a struct, a value of a map, or the result of a method of a time or a duration."""
    if value is None:
        return None
    if isinstance(value, Time | GoDuration) and (known := method(value, name)):
        return applied(known, name, given)
    if given:
        raise RenderError(f"{name} is not a method but has arguments")
    if isinstance(value, AlertData | TemplateSample):
        try:
            return value.field(name)
        except KeyError:
            raise RenderError(f"can't evaluate field {name} in type {type_of(value)}") from None
    if isinstance(value, Mapping):
        return value.get(name, None if isinstance(value, Arguments) else "")
    raise RenderError(f"can't evaluate field {name} in type {type_of(value)}")


def applied(known: Callable[..., Value], name: str, given: Sequence[Value]) -> Value:
    try:
        return known(*given)
    except TypeError:
        raise RenderError(f"wrong number or type of args for {name}") from None
    except (OverflowError, ValueError) as error:
        raise RenderError(f"error calling {name}: {error}") from None


def elements(value: Value, names: int) -> Iterator[tuple[Value, Value]]:
    """Yield what `range` iterates over: sorted keys and values of a map, a vector, or the integers below a number."""
    match value:
        case None:
            return
        case Mapping():
            for key in sorted(value):
                yield key, value[key]
        case tuple():
            yield from enumerate(value)
        case bool():
            raise RenderError("range can't iterate over a bool")
        case int():
            if names > 1:
                raise RenderError(f"can't use {value} to iterate over more than one variable")
            yield from ((None, number) for number in range(value))
        case _:
            raise RenderError(f"range can't iterate over {format_value(value)}")
