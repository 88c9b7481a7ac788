"""This file finds the document fields behind our words, as the index maps them today."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from collectors.facts.results import SourceError
from collectors.sources.elasticsearch.client import ElasticsearchClient

_TRUST = timedelta(minutes=5)  # how long a mapping is believed; a new index may bring a field
_TEXTS = ("text", "match_only_text", "annotated_text", "semantic_text")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldMap:
    """The fields behind our words.

    `exact`: fields whose values can be compared and grouped by, each word's in order: the first that a document
    has is its value. `read`: fields to search words in and to show. `unusable`: why a word has none.
    `without_phrases`: fields of `message` that know whole values only, so that phrases in them find nothing.
    """

    exact: Mapping[str, tuple[str, ...]]
    read: Mapping[str, tuple[str, ...]]
    unusable: Mapping[str, str]
    without_phrases: frozenset[str]

    def grouping(self, word: str) -> tuple[str, ...]:
        """The fields to group by for a word. Raises SourceError, saying what to set, when there is none."""
        if found := self.exact.get(word):
            return found
        raise SourceError(self.unusable.get(word, _unknown(word)), temporary=False)

    def reading(self, word: str) -> tuple[str, ...]:
        """The fields to search in for a word. Raises SourceError, saying what to set, when there is none."""
        if found := self.read.get(word):
            return found
        raise SourceError(self.unusable.get(word, _unknown(word)), temporary=False)

    @property
    def time(self) -> str:
        return self.grouping("time")[0]


class FieldFinder:
    """Asks the index for its fields, and remembers the answer for some minutes."""

    def __init__(self, calls: ElasticsearchClient, names: Mapping[str, Sequence[str]], index: str) -> None:
        self._calls = calls
        self._names = names
        self._index = index
        self._known: tuple[datetime, FieldMap] | None = None

    async def at(self, moment: datetime) -> FieldMap:
        """The fields as of about `moment`. Raises SourceError when the index cannot be asked or does not exist."""
        if self._known is not None and abs(moment - self._known[0]) < _TRUST:
            return self._known[1]
        asked = {name for names in self._names.values() for name in names}
        answer = await self._calls.field_caps(sorted(asked | {f"{name}.keyword" for name in asked}))
        if not answer.get("indices"):
            raise SourceError(
                f"no index matches `{self._index}`: check elasticsearch.index and the shipper",
                temporary=False,
            )
        found = fields_in(answer.get("fields", {}), self._names, self._index)
        # What is not there yet may come with the next document, so only an index that has the basics is believed.
        if "time" in found.exact and "message" in found.read:
            self._known = moment, found
        return found

    def forget(self) -> None:
        """Ask again next time: an answer did not fit what we knew."""
        self._known = None


def fields_in(caps: Mapping[str, Any], names: Mapping[str, Sequence[str]], index: str) -> FieldMap:
    """What the `fields` of a _field_caps answer mean for our words."""
    exact: dict[str, tuple[str, ...]] = {}
    read: dict[str, tuple[str, ...]] = {}
    unusable: dict[str, str] = {}
    for word, candidates in names.items():
        if readable := [name for name in candidates if _leaves(caps, name)]:
            read[word] = tuple(readable)
        usable = [found for name in candidates if (found := _exact_of(name, caps))]
        # Grouping by the field in one half of the indices would lose the other half's lines without a word.
        if usable and not any(_is_torn(_leaves(caps, name)) for name in candidates):
            exact[word] = tuple(usable)
        else:
            unusable[word] = _why_not(word, candidates, caps, index)
    stiff = (
        name for name in read.get("message", ()) if not any(kind in _TEXTS for kind in caps.get(name, {}))
    )
    return FieldMap(exact=exact, read=read, unusable=unusable, without_phrases=frozenset(stiff))


def _leaves(caps: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """What the field is mapped as, kind by kind, apart from the indices where it is only a parent of others."""
    return {
        kind: told
        for kind, told in caps.get(name, {}).items()
        if kind not in ("object", "nested") and told["searchable"]
    }


def _exact_of(name: str, caps: Mapping[str, Any]) -> str | None:
    for spelled in (name, f"{name}.keyword"):
        kinds = _leaves(caps, spelled)
        if kinds and all(told["aggregatable"] for told in kinds.values()):
            return spelled
    return None


def _is_torn(kinds: Mapping[str, Any]) -> bool:
    return len({told["aggregatable"] for told in kinds.values()}) > 1


def _why_not(word: str, candidates: Iterable[str], caps: Mapping[str, Any], index: str) -> str:
    mapped = {name: kinds for name in candidates if (kinds := _leaves(caps, name))}
    for name, kinds in mapped.items():
        if _is_torn(kinds):
            apart = ", ".join(
                f"{kind} in {_some(told.get('indices', ()))}" for kind, told in sorted(kinds.items())
            )
            return (
                f"`{name}` ({word}) is mapped differently across `{index}`: {apart}; mend the index template"
            )
    for name, kinds in mapped.items():
        return (
            f"`{name}` ({word}) is mapped as {next(iter(kinds))} without a `.keyword` sub-field in `{index}`"
        )
    tried = ", ".join(f"`{name}`" for name in candidates)
    return (
        f"no document in `{index}` has a field for `{word}` (tried {tried}): set elasticsearch.fields.{word}"
    )


def _some(indices: Sequence[str]) -> str:
    return ", ".join(indices[:2]) + (" and more" if len(indices) > 2 else "")


def _unknown(word: str) -> str:
    return f"`{word}` has no document field: set elasticsearch.fields.{word}"
