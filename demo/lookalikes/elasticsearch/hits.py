"""Hits: documents sorted, and in the form of an answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from demo.lookalikes.elasticsearch.indices import Document
from demo.lookalikes.elasticsearch.mappings import Json, date_of
from demo.lookalikes.elasticsearch.refusals import RefusalError, not_imitated, only
from demo.lookalikes.elasticsearch.value_tests import Kinds

_SHOWN = {"size", "sort", "_source", "fields"}
_INSERTION = ("_doc", "_shard_doc", "_seq_no")
_SORTABLE = ("date", "long", "double")

SortKey = Callable[[Document], tuple[tuple[bool, float], ...]]


def sort_key(sort: Sequence[Any]) -> SortKey:
    """The sort key for a `sort`. Documents without a value come last, in either direction."""
    orders: list[tuple[str, int]] = []
    for one in sort:
        ((name, options),) = one.items() if isinstance(one, dict) else ((one, {}),)
        only(options, {"order", "unmapped_type"}, "sort")
        orders.append((name, -1 if options.get("order", "asc") == "desc" else 1))

    def key(document: Document) -> tuple[tuple[bool, float], ...]:
        return tuple(_part(document, name, sign) for name, sign in orders)

    return key


def must_be_sortable(sort: Sequence[Any], kinds: Kinds) -> None:
    """Refuse to sort an index by a field that it lacks or cannot sort by."""
    for one in sort:
        ((name, options),) = one.items() if isinstance(one, dict) else ((one, {}),)
        kind = kinds.get(name)
        if name in _INSERTION or kind in _SORTABLE:
            continue
        if kind is not None:
            raise not_imitated(f"sorting by `{name}`, a {kind}")
        if "unmapped_type" not in options:
            raise RefusalError(
                400, "query_shard_exception", f"No mapping found for [{name}] in order to sort on"
            )


def hits_of(
    documents: Sequence[Document], shown: Json, size: int, kinds_of: Callable[[str], Kinds]
) -> list[Json]:
    """The first `size` documents in the order of `shown`, with the fields that it names."""
    only({name: value for name, value in shown.items() if name in _SHOWN}, _SHOWN, "hits")
    sort = shown.get("sort", [])
    key = sort_key(sort) if sort else None
    ordered = sorted(documents, key=key) if key else list(documents)
    return [_hit(document, shown, sort, kinds_of(document.index)) for document in ordered[:size]]


def after_key(sort: Sequence[Any], after: Sequence[Any]) -> tuple[tuple[bool, float], ...]:
    """The position of a `search_after` in the order of `sort_key`."""
    if len(after) != len(sort):
        raise RefusalError(
            400,
            "illegal_argument_exception",
            f"search_after has {len(after)} value(s) but sort has {len(sort)}.",
        )
    parts = []
    for one, value in zip(sort, after, strict=True):
        options = next(iter(one.values())) if isinstance(one, dict) else {}
        sign = -1 if options.get("order", "asc") == "desc" else 1
        parts.append((value is None, 0.0 if value is None else sign * value))
    return tuple(parts)


def _part(document: Document, name: str, sign: int) -> tuple[bool, float]:
    if name in _INSERTION:
        return False, sign * document.number
    values = document.values.get(name)
    if not values:
        return True, 0.0
    return False, sign * (min(values) if sign > 0 else max(values))


def _hit(document: Document, shown: Json, sort: Sequence[Any], kinds: Kinds) -> Json:
    hit: Json = {"_index": document.index, "_id": document.id, "_score": None}
    if shown.get("_source", True) is True:
        hit["_source"] = document.source
    elif shown["_source"] is not False:
        raise not_imitated("a `_source` that is a list")
    if "fields" in shown:
        hit["fields"], ignored = _fields(document, shown["fields"], kinds)
        if ignored:
            hit["ignored_field_values"] = ignored
        if not hit["fields"]:
            del hit["fields"]
    if sort:
        hit["sort"] = [_sort_value(document, one) for one in sort]
    return hit


def _fields(document: Document, requested: Sequence[Any], kinds: Kinds) -> tuple[Json, Json]:
    found: Json = {}
    ignored: Json = {}
    for one in requested:
        name = one["field"] if isinstance(one, Mapping) else one
        if "*" in name:
            raise not_imitated("wildcards in `fields`")
        if values := document.values.get(name):
            found[name] = [date_of(value) if kinds.get(name) == "date" else value for value in values]
        if too_long := document.ignored.get(name):
            ignored[name] = list(too_long)
    return found, ignored


def _sort_value(document: Document, one: Any) -> Any:
    name = next(iter(one)) if isinstance(one, dict) else one
    if name in _INSERTION:
        return document.number
    values = document.values.get(name)
    return values[0] if values else None
