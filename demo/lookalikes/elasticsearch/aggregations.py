"""This file counts and groups documents, with the aggregations that our source asks for and no others."""

from collections.abc import Callable, Sequence
from typing import Any

from demo.lookalikes.elasticsearch.indices import Document
from demo.lookalikes.elasticsearch.mappings import Json, date_of, millis_of
from demo.lookalikes.elasticsearch.queries import query_test
from demo.lookalikes.elasticsearch.refusals import RefusalError, not_imitated, only
from demo.lookalikes.elasticsearch.value_tests import Kinds

Hits = Callable[[Sequence[Document], Json, int], Json]  # documents, what to show, from where: a hits object
KindsOf = Callable[[str], Kinds]  # index -> its fields

_MOST_IN_TOP_HITS = 100  # index.max_inner_result_window


class Aggregator:
    """Answers `aggs` over documents. `hits` renders a top_hits; `kinds_of` gives each index' fields."""

    def __init__(self, kinds_of: KindsOf, hits: Hits) -> None:
        self._kinds_of = kinds_of
        self._hits = hits

    def answer(self, aggs: Json, documents: Sequence[Document]) -> Json:
        return {name: self._one(name, dict(said), documents) for name, said in aggs.items()}

    def _one(self, name: str, said: Json, documents: Sequence[Document]) -> Json:
        inner = said.pop("aggs", {})
        if len(said) != 1:
            raise RefusalError(400, "parsing_exception", f"aggregation [{name}] must have exactly one type")
        ((kind, inside),) = said.items()
        match kind:
            case "composite":
                return self._composite(inside, inner, documents)
            case "filters":
                return self._filters(inside, inner, documents)
            case "date_range":
                return self._date_range(inside, inner, documents)
            case "max":
                only(inside, {"field"}, kind)
                held = [max(values) for one in documents if (values := one.values.get(inside["field"]))]
                return {"value": float(max(held)) if held else None}
            case "top_hits":
                if inside.get("size", 3) > _MOST_IN_TOP_HITS:
                    raise RefusalError(
                        400, "illegal_argument_exception", "Top hits result window is too large"
                    )
                return {"hits": self._hits(documents, inside, inside.get("size", 3))}
            case _:
                raise not_imitated(f"the aggregation `{kind}`")

    def _bucket(self, documents: Sequence[Document], inner: Json) -> Json:
        return {"doc_count": len(documents), **self.answer(inner, documents)}

    def _composite(self, inside: Json, inner: Json, documents: Sequence[Document]) -> Json:
        only(inside, {"size", "sources", "after"}, "composite")
        names: list[str] = []
        fields: list[str] = []
        for source in inside["sources"]:
            ((name, told),) = source.items()
            only(told, {"terms"}, "composite source")
            only(told["terms"], {"field", "missing_bucket"}, "composite source")
            if not told["terms"].get("missing_bucket"):
                raise not_imitated("a composite source without `missing_bucket`")
            names.append(name)
            fields.append(told["terms"]["field"])
        groups: dict[tuple[Any, ...], list[Document]] = {}
        for document in documents:
            for key in _keys(document, fields):
                groups.setdefault(key, []).append(document)
        after = inside.get("after")
        ordered = sorted(groups, key=_order)
        if after is not None:
            last = _order(tuple(after.get(name) for name in names))
            ordered = [key for key in ordered if _order(key) > last]
        page = ordered[: inside.get("size", 10)]
        found: Json = {
            "buckets": [
                {"key": dict(zip(names, key, strict=True)), **self._bucket(groups[key], inner)}
                for key in page
            ]
        }
        if page:
            found["after_key"] = dict(zip(names, page[-1], strict=True))
        return found

    def _filters(self, inside: Json, inner: Json, documents: Sequence[Document]) -> Json:
        only(inside, {"filters"}, "filters")
        buckets: Json = {}
        for name, query in inside["filters"].items():
            tests: dict[str, Any] = {}
            held = []
            for document in documents:
                if document.index not in tests:
                    tests[document.index] = query_test(query, self._kinds_of(document.index))
                if tests[document.index](document):
                    held.append(document)
            buckets[name] = self._bucket(held, inner)
        return {"buckets": buckets}

    def _date_range(self, inside: Json, inner: Json, documents: Sequence[Document]) -> Json:
        only(inside, {"field", "format", "ranges", "keyed"}, "date_range")
        if not inside.get("keyed"):
            raise not_imitated("a date_range that is not `keyed`")
        buckets: Json = {}
        for told in inside["ranges"]:
            only(told, {"key", "from", "to"}, "date_range")
            low, high = millis_of(told["from"]), millis_of(told["to"])
            held = [
                one
                for one in documents
                if any(low <= value < high for value in one.values.get(inside["field"], ()))
            ]
            limits = {"from": float(low), "from_as_string": date_of(low), "to": float(high)}
            buckets[told["key"]] = {**limits, "to_as_string": date_of(high), **self._bucket(held, inner)}
        return {"buckets": buckets}


def must_fit(aggs: Json, kinds: Kinds, index: str) -> None:
    """Refuse, for one index, an aggregation over a field whose values cannot be grouped."""
    for said in aggs.values():
        for source in said.get("composite", {}).get("sources", ()):
            for told in source.values():
                field = told["terms"]["field"]
                if kinds.get(field) == "text":
                    raise RefusalError(
                        400,
                        "illegal_argument_exception",
                        f"Fielddata is disabled on [{field}] in [{index}]. Text fields are not optimised for "
                        "operations that require per-document field data like aggregations and sorting, so these "
                        "operations are disabled by default.",
                    )


def _keys(document: Document, fields: Sequence[str]) -> list[tuple[Any, ...]]:
    """Every combination of the document's values; None where it has none."""
    keys: list[tuple[Any, ...]] = [()]
    for field in fields:
        held: Sequence[Any] = list(dict.fromkeys(document.values.get(field, ()))) or [None]
        keys = [(*key, value) for key in keys for value in held]
    return keys


def _order(key: tuple[Any, ...]) -> tuple[tuple[bool, Any], ...]:
    """Sorted by value, those without one first, as in Elasticsearch."""
    return tuple((value is not None, _comparable(value)) for value in key)


def _comparable(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else (b"" if value is None else value)
