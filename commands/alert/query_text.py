"""A rule's query as a rule file writes it, for people. Pure."""

from collections.abc import Iterator, Mapping
from datetime import timedelta

from collectors.facts.clock import format_duration
from collectors.facts.log_match import render_match
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery, Query


def query_lines(query: Query) -> tuple[str, ...]:
    """Return the lines of the query, with the keys of a rule file."""
    match query:
        case PromQLQuery():
            return tuple(query.expr.strip().splitlines())
        case CheckQuery():
            return (f"check: {query.name}", *_with("with", query.parameters))
        case LogQuery():
            return tuple(_log_lines(query))


def _log_lines(query: LogQuery) -> Iterator[str]:
    yield f"logs.match: {render_match(query.match)}"
    if query.store_match is not None:
        yield f"logs.{query.store_match.store}: {query.store_match.text}"
    if query.level is not None:
        yield f"logs.level: {query.level.name.lower()}"
    yield f"logs.by: {', '.join(query.by)}"
    yield f"logs.over: {format_duration(query.over)}"
    yield f"logs.above: {query.above:g}"
    if query.novel is not None:
        yield f"logs.novel: {format_duration(query.novel)}"
    if query.times_usual is not None:
        usual = query.times_usual
        yield f"logs.times_usual: factor {usual.factor:g}, season {format_duration(usual.season)}"
    if query.extract is not None:
        yield f"logs.extract: {query.extract}"


def _with(key: str, parameters: Mapping[str, object]) -> tuple[str, ...]:
    return (
        (f"{key}: {', '.join(f'{name} {_value(one)}' for name, one in parameters.items())}",)
        if parameters
        else ()
    )


def _value(one: object) -> str:
    if isinstance(one, timedelta):
        return format_duration(one)
    if isinstance(one, list | tuple | set | frozenset):
        return " ".join(map(_value, one))
    return f"{one:g}" if isinstance(one, float) else str(one)
