"""Aggregations over documents: those that our Elasticsearch source uses, and no others."""

from collections.abc import Callable, Sequence
from typing import Any

from demo.lookalikes.elasticsearch.indices import Document
from demo.lookalikes.elasticsearch.mappings import Json, date_of, millis_of
from demo.lookalikes.elasticsearch.queries import query_test
from demo.lookalikes.elasticsearch.refusals import RefusalError, not_imitated, only
from demo.lookalikes.elasticsearch.value_tests import Kinds

Hits = Callable[[Sequence[Document], Json, int], Json]  # documents, what to show, how many: a hits object
KindsOf = Callable[[str], Kinds]  # index -> its fields and their types

_MOST_IN_TOP_HITS = 100  # index.max_inner_result_window


class Aggregator:
    """The `aggs` of a search. `hits` renders a top_hits; `kinds_of` gives the fields of an index."""

    def __init__(self, kinds_of: KindsOf, hits: Hits) -> None:
        self._kinds_of = kinds_of
        self._hits = hits

    def answer(self, aggs: Json, documents: Sequence[Document]) -> Json:
        return {name: self._aggregation(name, dict(spec), documents) for name, spec in aggs.items()}

    def _aggregation(self, name: str, spec: Json, documents: Sequence[Document]) -> Json:
        inner = spec.pop("aggs", {})
        if len(spec) != 1:
            raise RefusalError(400, "parsing_exception", f"aggregation [{name}] must have exactly one type")
        ((kind, options),) = spec.items()
        match kind:
            case "composite":
                return self._composite(options, inner, documents)
            case "filters":
                return self._filters(options, inner, documents)
            case "date_range":
                return self._date_range(options, inner, documents)
            case "max":
                only(options, {"field"}, kind)
                highest = [max(values) for one in documents if (values := one.values.get(options["field"]))]
                return {"value": float(max(highest)) if highest else None}
            case "top_hits":
                if options.get("size", 3) > _MOST_IN_TOP_HITS:
                    raise RefusalError(
                        400, "illegal_argument_exception", "Top hits result window is too large"
                    )
                return {"hits": self._hits(documents, options, options.get("size", 3))}
            case _:
                raise not_imitated(f"the aggregation `{kind}`")

    def _bucket(self, documents: Sequence[Document], inner: Json) -> Json:
        return {"doc_count": len(documents), **self.answer(inner, documents)}

    def _composite(self, options: Json, inner: Json, documents: Sequence[Document]) -> Json:
        only(options, {"size", "sources", "after"}, "composite")
        names: list[str] = []
        fields: list[str] = []
        for source in options["sources"]:
            ((name, spec),) = source.items()
            only(spec, {"terms"}, "composite source")
            only(spec["terms"], {"field", "missing_bucket"}, "composite source")
            if not spec["terms"].get("missing_bucket"):
                raise not_imitated("a composite source without `missing_bucket`")
            names.append(name)
            fields.append(spec["terms"]["field"])
        groups: dict[tuple[Any, ...], list[Document]] = {}
        for document in documents:
            for key in _keys(document, fields):
                groups.setdefault(key, []).append(document)
        after = options.get("after")
        ordered = sorted(groups, key=_order)
        if after is not None:
            last = _order(tuple(after.get(name) for name in names))
            ordered = [key for key in ordered if _order(key) > last]
        page = ordered[: options.get("size", 10)]
        answer: Json = {
            "buckets": [
                {"key": dict(zip(names, key, strict=True)), **self._bucket(groups[key], inner)}
                for key in page
            ]
        }
        if page:
            answer["after_key"] = dict(zip(names, page[-1], strict=True))
        return answer

    def _filters(self, options: Json, inner: Json, documents: Sequence[Document]) -> Json:
        only(options, {"filters"}, "filters")
        buckets: Json = {}
        for name, query in options["filters"].items():
            tests: dict[str, Any] = {}
            matching = []
            for document in documents:
                if document.index not in tests:
                    tests[document.index] = query_test(query, self._kinds_of(document.index))
                if tests[document.index](document):
                    matching.append(document)
            buckets[name] = self._bucket(matching, inner)
        return {"buckets": buckets}

    def _date_range(self, options: Json, inner: Json, documents: Sequence[Document]) -> Json:
        only(options, {"field", "format", "ranges", "keyed"}, "date_range")
        if not options.get("keyed"):
            raise not_imitated("a date_range that is not `keyed`")
        buckets: Json = {}
        for spec in options["ranges"]:
            only(spec, {"key", "from", "to"}, "date_range")
            low, high = millis_of(spec["from"]), millis_of(spec["to"])
            matching = [
                one
                for one in documents
                if any(low <= value < high for value in one.values.get(options["field"], ()))
            ]
            limits = {"from": float(low), "from_as_string": date_of(low), "to": float(high)}
            buckets[spec["key"]] = {**limits, "to_as_string": date_of(high), **self._bucket(matching, inner)}
        return {"buckets": buckets}


def must_fit(aggs: Json, kinds: Kinds, index: str) -> None:
    """Refuse an aggregation over a field whose values cannot be grouped in this index."""
    for aggregation in aggs.values():
        for source in aggregation.get("composite", {}).get("sources", ()):
            for spec in source.values():
                field = spec["terms"]["field"]
                if kinds.get(field) == "text":
                    raise RefusalError(
                        400,
                        "illegal_argument_exception",
                        f"Fielddata is disabled on [{field}] in [{index}]. Text fields are not optimised for "
                        "operations that require per-document field data like aggregations and sorting, so these "
                        "operations are disabled by default.",
                    )


def _keys(document: Document, fields: Sequence[str]) -> list[tuple[Any, ...]]:
    """Every combination of the document's values; None for a field without one."""
    keys: list[tuple[Any, ...]] = [()]
    for field in fields:
        values: Sequence[Any] = list(dict.fromkeys(document.values.get(field, ()))) or [None]
        keys = [(*key, value) for key in keys for value in values]
    return keys


def _order(key: tuple[Any, ...]) -> tuple[tuple[bool, Any], ...]:
    """The sort key of a composite key: missing values first, as in Elasticsearch."""
    return tuple((value is not None, _comparable(value)) for value in key)


def _comparable(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else (b"" if value is None else value)
