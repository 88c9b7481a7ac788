"""The query DSL, as far as our source uses it, turned into tests of documents."""

from typing import Any

from demo.lookalikes.elasticsearch.indices import TIME
from demo.lookalikes.elasticsearch.mappings import Json, millis_of
from demo.lookalikes.elasticsearch.positions import intervals_test, span_first_test
from demo.lookalikes.elasticsearch.query_strings import query_string_test
from demo.lookalikes.elasticsearch.refusals import RefusalError, not_imitated, only
from demo.lookalikes.elasticsearch.value_tests import (
    Kinds,
    Test,
    all_of,
    any_of,
    equal,
    everything,
    exists,
    none_of,
    nothing,
    phrase,
    ranged,
    regexp,
)

_EVER = (float("-inf"), float("inf"))


def query_test(body: Json, kinds: Kinds) -> Test:
    """The test of a query. Refuses what the look-alike does not imitate."""
    if len(body) != 1:
        raise RefusalError(400, "parsing_exception", "a query has exactly one name")
    ((name, inside),) = body.items()
    match name:
        case "match_all":
            only(inside, set(), name)
            return everything
        case "bool":
            return _bool(inside, kinds)
        case "term":
            ((field, value),) = inside.items()
            return equal(field, value["value"] if isinstance(value, dict) else value, kinds)
        case "terms":
            ((field, values),) = inside.items()
            return any_of([equal(field, value, kinds) for value in values]) if values else nothing
        case "ids":
            only(inside, {"values"}, name)
            ids = frozenset(inside["values"])
            return lambda document: document.id in ids
        case "exists":
            only(inside, {"field"}, name)
            return exists(inside["field"], kinds)
        case "range":
            ((field, limits),) = inside.items()
            only(limits, {"gte", "gt", "lte", "lt", "format"}, name)
            return ranged(field, {sign: limits[sign] for sign in limits if sign != "format"}, kinds)
        case "match_phrase":
            ((field, options),) = inside.items()
            only(options, {"query"}, name)
            return phrase(field, options["query"], kinds) or nothing
        case "multi_match":
            only(inside, {"query", "type", "fields", "lenient"}, name)
            if inside["type"] != "phrase" or inside["lenient"] is not True:
                raise not_imitated("a `multi_match` that is no lenient phrase")
            return any_of([phrase(field, inside["query"], kinds) or nothing for field in inside["fields"]])
        case "query_string":
            only(inside, {"query", "fields", "lenient", "allow_leading_wildcard"}, name)
            return query_string_test(inside["query"], inside["fields"], kinds)
        case "regexp":
            ((field, options),) = inside.items()
            only(options, {"value", "case_insensitive"}, name)
            return regexp(field, options["value"], kinds, ignores_case=options.get("case_insensitive", False))
        case "intervals":
            ((field, rule),) = inside.items()
            return intervals_test(field, rule, kinds)
        case "span_first":
            return span_first_test(inside, kinds)
        case _:
            raise not_imitated(f"the query `{name}`")


def times_of(body: Json) -> tuple[float, float]:
    """The first and last time (in milliseconds) of documents that can match: too wide rather than too narrow."""
    ((name, inside),) = body.items()
    if name == "range" and TIME in inside:
        limits = inside[TIME]
        low = [_millis(limits[sign]) for sign in ("gte", "gt") if sign in limits]
        high = [_millis(limits[sign]) for sign in ("lte", "lt") if sign in limits]
        return max(low, default=_EVER[0]), min(high, default=_EVER[1])
    if name == "bool":
        parts = [times_of(part) for sort in ("filter", "must") for part in _listed(inside.get(sort, []))]
        if (shoulds := _listed(inside.get("should", []))) and inside.get("minimum_should_match") == 1:
            each = [times_of(part) for part in shoulds]
            parts.append((min(low for low, _ in each), max(high for _, high in each)))
        return (
            max((low for low, _ in parts), default=_EVER[0]),
            min((high for _, high in parts), default=_EVER[1]),
        )
    return _EVER


def _bool(inside: Json, kinds: Kinds) -> Test:
    only(inside, {"filter", "must", "should", "must_not", "minimum_should_match"}, "bool")
    if inside.get("minimum_should_match", 1) != 1:
        raise not_imitated("`minimum_should_match` other than 1")
    wanted = [
        query_test(part, kinds) for sort in ("filter", "must") for part in _listed(inside.get(sort, []))
    ]
    either = [query_test(part, kinds) for part in _listed(inside.get("should", []))]
    banned = [query_test(part, kinds) for part in _listed(inside.get("must_not", []))]
    tests = list(wanted)
    # Next to a filter, `should` only adds to the score unless the query sets `minimum_should_match`.
    if either and (not wanted or "minimum_should_match" in inside):
        tests.append(any_of(either))
    if banned:
        tests.append(none_of(banned))
    return all_of(tests) if tests else everything


def _listed(part: Any) -> list[Json]:
    return part if isinstance(part, list) else [part]


def _millis(value: object) -> float:
    try:
        return float(value) if isinstance(value, int | float) else millis_of(str(value))
    except ValueError as error:
        raise RefusalError(400, "parse_exception", f"failed to parse date field [{value}]") from error
