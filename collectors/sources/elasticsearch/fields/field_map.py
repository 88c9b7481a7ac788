"""The document fields behind each label, as the index currently maps them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from collectors.facts.results import SourceError
from collectors.facts.sentences import Sentence, as_code, listed, sentence
from collectors.logs.line_labels import no_node
from collectors.sources.elasticsearch.wire import FieldCapabilities, FieldCapability

_TEXTS = frozenset({"text", "match_only_text", "annotated_text", "semantic_text"})
_OBJECTS = frozenset({"object", "nested"})
_NESTED = "nested"
TIME = "time"
DATES = frozenset({"date", "date_nanos"})
_KEYWORDS = frozenset({"keyword", "constant_keyword", "wildcard"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldMap:
    """The document fields behind each label.

    `exact`: fields to filter and group by; the first one that a document has gives the label's value. `read`: fields
    to search in and to show. `unusable`: why a label has no exact field. `texts`: fields of `message` whose words can
    be searched in every index; `spans`: those where also a word's place can. `without_phrases`: those that match whole
    values only, so that a phrase finds nothing in them. `numbers`: fields that hold a number in some index; `parents`:
    those that are an object in another. `node_of`: the node of the cluster that a value names; empty for none.
    """

    exact: Mapping[str, tuple[str, ...]]
    read: Mapping[str, tuple[str, ...]]
    unusable: Mapping[str, str]
    without_phrases: frozenset[str]
    texts: frozenset[str]
    spans: frozenset[str]
    numbers: frozenset[str]
    parents: frozenset[str]
    node_of: Callable[[str], str] = no_node

    def grouping(self, label: str) -> tuple[str, ...]:
        """Return the fields to group by for a label. Raises SourceError that says what to set when there is none."""
        if found := self.exact.get(label):
            return found
        raise SourceError(self.unusable.get(label, _unknown(label)), temporary=False)

    def reading(self, label: str) -> tuple[str, ...]:
        """Return the fields to search in for a label. Raises SourceError that says what to set when there is none."""
        if found := self.read.get(label):
            return found
        raise SourceError(self.unusable.get(label, _unknown(label)), temporary=False)

    @property
    def time(self) -> str:
        return self.grouping(TIME)[0]


def fields_in(
    caps: FieldCapabilities,
    names: Mapping[str, Sequence[str]],
    index: str,
    *,
    node_of: Callable[[str], str] = no_node,
) -> FieldMap:
    """Map the labels to the `fields` of a _field_caps response."""
    exact: dict[str, tuple[str, ...]] = {}
    read: dict[str, tuple[str, ...]] = {}
    unusable: dict[str, str] = {}
    for label, candidates in names.items():
        if readable := [name for name in candidates if _leaves(caps, name)]:
            read[label] = tuple(readable)
        usable = [found for name in candidates if (found := _exact_of(name, caps))]
        if label == TIME and (usable := [name for name in usable if set(_leaves(caps, name)) <= DATES]):
            candidates = usable = usable[:1]  # of the time only one is used
        # Grouping by a field that only some indices can aggregate would silently lose the lines of the others.
        if usable and not any(_is_inconsistent(_leaves(caps, name)) for name in candidates):
            exact[label] = tuple(usable)
        else:
            unusable[label] = _reason(label, candidates, caps, index)
    kinds = {name: set(_leaves(caps, name)) for names in read.values() for name in names}
    messages = read.get("message", ())
    return FieldMap(
        exact=exact,
        read=read,
        unusable=unusable,
        without_phrases=frozenset(name for name in messages if kinds[name].isdisjoint(_TEXTS)),
        texts=frozenset(name for name in messages if kinds[name] <= _TEXTS),
        spans=frozenset(name for name in messages if kinds[name] == {"text"}),
        numbers=frozenset(name for name, types in kinds.items() if not types <= _TEXTS | _KEYWORDS),
        parents=frozenset(name for name in kinds if not _OBJECTS.isdisjoint(caps.get(name, {}))),
        node_of=node_of,
    )


def _leaves(caps: FieldCapabilities, name: str) -> Mapping[str, FieldCapability]:
    """Return the capabilities of a field by type, without the indices where it is only a parent of other fields.

    Nothing that is asked here reaches into nested objects.
    """
    if any(_NESTED in caps.get(above, {}) for above in parents_of(name)):
        return {}
    return {
        kind: field for kind, field in caps.get(name, {}).items() if kind not in _OBJECTS and field.searchable
    }


def parents_of(name: str) -> tuple[str, ...]:
    """Return the objects that a field is in: `a` and `a.b` for `a.b.c`."""
    steps = name.split(".")
    return tuple(".".join(steps[:count]) for count in range(1, len(steps)))


def _exact_of(name: str, caps: FieldCapabilities) -> str | None:
    for candidate in (name, f"{name}.keyword"):
        kinds = _leaves(caps, candidate)
        if kinds and all(field.aggregatable for field in kinds.values()):
            return candidate
    return None


def _is_inconsistent(kinds: Mapping[str, FieldCapability]) -> bool:
    return len({field.aggregatable for field in kinds.values()}) > 1


def _reason(label: str, candidates: Iterable[str], caps: FieldCapabilities, index: str) -> str:
    mapped = {name: kinds for name in candidates if (kinds := _leaves(caps, name))}
    for name, kinds in mapped.items():
        if _is_inconsistent(kinds):
            types = listed(
                sentence("{type} in {indices}", type=kind, indices=_some(field.indices or ()))
                for kind, field in sorted(kinds.items())
            )
            return sentence(
                "`{name}` ({label}) is mapped differently across `{index}`: {types}; fix the index template",
                name=name,
                label=label,
                index=index,
                types=types,
            )
    for name, kinds in mapped.items():
        if label == TIME:
            return sentence(
                "`{name}` (time) is mapped as {type}, which is not a date, in `{index}`",
                name=name,
                type=next(iter(kinds)),
                index=index,
            )
        return sentence(
            "`{name}` ({label}) is mapped as {type} without a `.keyword` sub-field in `{index}`",
            name=name,
            label=label,
            type=next(iter(kinds)),
            index=index,
        )
    for name in candidates:
        for above in parents_of(name):
            if name in caps and _NESTED in caps.get(above, {}):
                return sentence(
                    "`{name}` ({label}) is in `{above}`, which is mapped as nested: map it as an object",
                    name=name,
                    label=label,
                    above=above,
                )
    tried = as_code(candidates)
    return sentence(
        "no document in `{index}` has a field for `{label}` (tried {tried}): set "
        "elasticsearch.fields.{label}",
        index=index,
        label=label,
        tried=tried,
    )


def _some(indices: Sequence[str]) -> Sentence:
    shown = listed(indices[:2])
    return sentence("{indices} and more", indices=shown) if len(indices) > 2 else shown


def _unknown(label: str) -> str:
    return sentence("`{label}` has no document field: set elasticsearch.fields.{label}", label=label)
