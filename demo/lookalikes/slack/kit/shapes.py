"""Building blocks of the Block Kit rules, with errors in Slack's words."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

#: Yields the errors of one value; the second argument is its JSON pointer.
Shape = Callable[[Any, str], Iterator[str]]


def diagnostic(text: str, pointer: str) -> str:
    """Return one error as Slack formats it."""
    return f"{text} [json-pointer:{pointer or '/'}]"


def string(most: int, *, least: int = 0) -> Shape:
    """A string of `least` to `most` characters."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield diagnostic("must provide a string", pointer)
        elif len(value) > most:
            yield diagnostic(f"must be less than {most + 1} characters", pointer)
        elif len(value) < least:
            yield diagnostic(f"must be more than {least - 1} characters", pointer)

    return check


def boolean(value: Any, pointer: str) -> Iterator[str]:
    """True or false."""
    if not isinstance(value, bool):
        yield diagnostic("must provide a boolean", pointer)


def integer(value: Any, pointer: str) -> Iterator[str]:
    """A whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        yield diagnostic("must provide an integer", pointer)


def anything(value: Any, pointer: str) -> Iterator[str]:
    """A value that is not validated."""
    yield from ()


def slack_file(value: Any, pointer: str) -> Iterator[str]:
    """A file, by its id or by its URL and not by both."""
    if not isinstance(value, dict) or set(value) not in ({"id"}, {"url"}):
        yield diagnostic("must provide either an id or a url", pointer)


def one_of(*words: str) -> Shape:
    """One of a few words."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        if value not in words:
            yield diagnostic(f"must be one of: {', '.join(words)}", pointer)

    return check


def record(required: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None) -> Shape:
    """An object with these fields and no others."""
    known = {**required, **(optional or {})}

    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield diagnostic("must provide an object", pointer)
            return
        for name in required:
            if value.get(name) is None:
                yield diagnostic(f"missing required field: {name}", pointer)
        for name, inner in value.items():
            if name not in known:
                yield diagnostic(f"invalid additional property: {name}", pointer)
            elif inner is not None:
                yield from known[name](inner, f"{pointer}/{name}")

    return check


def array(of: Shape, most: int, *, least: int = 0) -> Shape:
    """A list of `least` to `most` items."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield diagnostic("must provide an array", pointer)
            return
        if len(value) > most:
            yield diagnostic(f"no more than {most} items allowed", pointer)
        if len(value) < least:
            yield diagnostic(f"no less than {least} items allowed", pointer)
        for index, item in enumerate(value):
            yield from of(item, f"{pointer}/{index}")

    return check


def typed(kinds: Mapping[str, Shape]) -> Shape:
    """An object whose `type` chooses its shape."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield diagnostic("must provide an object", pointer)
        elif not isinstance(value.get("type"), str):
            yield diagnostic("missing required field: type", pointer)
        elif value["type"] not in kinds:
            yield diagnostic(f"unsupported type: {value['type']}", f"{pointer}/type")
        else:
            yield from kinds[value["type"]](value, pointer)

    return check


def text(most: int, *, plain: bool = False) -> Shape:
    """A text object of 1 to `most` characters; `plain` excludes mrkdwn."""
    written = string(most, least=1)
    kinds: dict[str, Shape] = {
        "plain_text": record({"type": anything, "text": written}, {"emoji": boolean}),
    }
    if not plain:
        kinds["mrkdwn"] = record({"type": anything, "text": written}, {"verbatim": boolean})
    inner = typed(kinds)

    def check(value: Any, pointer: str) -> Iterator[str]:
        found = list(inner(value, pointer))
        if found:
            yield diagnostic("failed to match all allowed schemas", pointer)
        yield from found

    return check
