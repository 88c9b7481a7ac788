"""Queries of the places of words in a text: `intervals` and `span_first`, as far as our source uses them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product

from demo.lookalikes.elasticsearch.indices import Document
from demo.lookalikes.elasticsearch.mappings import Json
from demo.lookalikes.elasticsearch.refusals import RefusalError, not_imitated, only
from demo.lookalikes.elasticsearch.value_tests import Kinds, Test, nothing
from demo.lookalikes.elasticsearch.words import words_of

_Place = tuple[int, int]  # the first and the last word


@dataclass(frozen=True, slots=True)
class _Source:
    """`may_be`: whether a text in lower case can have such places; quick, and never wrongly false."""

    may_be: Callable[[str], bool]
    places: Callable[[list[str]], list[_Place]]


def intervals_test(field: str, rule: Json, kinds: Kinds) -> Test:
    """The test of an `intervals` query. Refuses one on a field without words, as Elasticsearch does."""
    if (kind := kinds.get(field)) is None:
        return nothing
    source = _compiled(json.dumps(rule))  # a rule's query comes again with each evaluation
    if kind != "text":
        raise RefusalError(
            400, "query_shard_exception", f"Can only use interval queries on text fields, not on [{field}]"
        )

    def holds(document: Document) -> bool:
        texts = document.values.get(field, ())
        return any(source.may_be(text.lower()) and source.places(words_of(text)) for text in texts)

    return holds


def span_first_test(inside: Json, kinds: Kinds) -> Test:
    """The test of a `span_first` of terms: whether any is among the first words of the text."""
    only(inside, {"match", "end"}, "span_first")
    terms: dict[str, str] = {}
    for clause in inside["match"]["span_or"]["clauses"]:
        ((field, word),) = clause["span_term"].items()
        terms[word] = field
    (field,) = set(terms.values())
    if kinds.get(field) is None:
        return nothing
    end: int = inside["end"]

    def holds(document: Document) -> bool:
        for text in document.values.get(field, ()):
            start = text[:200].lower()
            if any(word in start for word in terms) and not terms.keys().isdisjoint(words_of(start)[:end]):
                return True
        return False

    return holds


@lru_cache(maxsize=1_000)
def _compiled(rule: str) -> _Source:
    return _source(json.loads(rule))


def _source(rule: Json) -> _Source:
    ((name, inside),) = rule.items()
    match name:
        case "match":
            only(inside, {"query", "ordered", "max_gaps"}, "match")
            if not inside.get("ordered") or inside.get("max_gaps") != 0:
                raise not_imitated("intervals of words that are not a phrase")
            return _phrase(words_of(inside["query"]))
        case "any_of":
            only(inside, {"intervals", "filter"}, "any_of")
            return _any_of([_source(one) for one in inside["intervals"]], inside.get("filter"))
        case "all_of":
            only(inside, {"intervals", "ordered", "max_gaps"}, "all_of")
            if not inside.get("ordered"):
                raise not_imitated("intervals in any order")
            return _in_order([_source(one) for one in inside["intervals"]], inside["max_gaps"])
        case _:
            raise not_imitated(f"the intervals `{name}`")


def _phrase(wanted: list[str]) -> _Source:
    size = len(wanted)

    def places(words: list[str]) -> list[_Place]:
        return [
            (start, start + size - 1)
            for start, word in enumerate(words)
            if word == wanted[0] and words[start : start + size] == wanted
        ]

    return _Source(lambda lower: all(word in lower for word in wanted), places)


def _any_of(sources: list[_Source], condition: Json | None) -> _Source:
    def places(words: list[str]) -> list[_Place]:
        return [place for source in sources for place in source.places(words)]

    def may_be(lower: str) -> bool:
        return any(source.may_be(lower) for source in sources)

    if condition is None:
        return _Source(may_be, places)
    only(condition, {"after"}, "filter")
    first = _source(condition["after"])

    def later(words: list[str]) -> list[_Place]:
        ends = [end for _, end in first.places(words)]
        return [place for place in places(words) if any(end < place[0] for end in ends)]

    return _Source(lambda lower: first.may_be(lower) and may_be(lower), later)


def _in_order(sources: list[_Source], max_gaps: int) -> _Source:
    def places(words: list[str]) -> list[_Place]:
        found: list[_Place] = []
        for chain in product(*(source.places(words) for source in sources)):
            follows = all(one[1] < after[0] for one, after in pairwise(chain))
            covered = sum(end - start + 1 for start, end in chain)
            if follows and chain[-1][1] - chain[0][0] + 1 - covered <= max_gaps:
                found.append((chain[0][0], chain[-1][1]))
        return found

    return _Source(lambda lower: all(source.may_be(lower) for source in sources), places)
