"""Indices in memory: documents sorted by time, the oldest dropped when full."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import count

from demo.lookalikes.elasticsearch.mappings import IndexMapping, Json, Values, mapping_for
from demo.lookalikes.elasticsearch.refusals import RefusalError, no_index, only

TIME = "@timestamp"
_NAME = re.compile(r"[^A-Z\\/*?\"<>|,# ]+")
_TIMELESS = -(2**62)  # the time of documents without one


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document: its source, and its values by field (dates in milliseconds)."""

    index: str
    id: str
    number: int  # in order of arrival
    source: Json
    values: Values
    ignored: Values

    @property
    def time(self) -> int:
        times = self.values.get(TIME)
        return times[0] if times else _TIMELESS


@dataclass(slots=True, kw_only=True)
class Index:
    """An index: its mapping, and its documents sorted by time and arrival."""

    name: str
    mapping: IndexMapping
    documents: list[Document] = field(default_factory=list)

    def add(self, document: Document) -> None:
        key = document.time, document.number
        if not self.documents or _position(self.documents[-1]) < key:
            self.documents.append(document)
        else:
            self.documents.insert(bisect_left(self.documents, key, key=_position), document)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """What a search sees of an index, which has a single shard: its documents at one moment."""

    index: str
    kinds: Mapping[str, str]
    documents: list[Document]

    def between(self, since: float, until: float) -> Iterator[Document]:
        """The documents from `since` to `until`, both inclusive, in milliseconds."""
        start = bisect_left(self.documents, since, key=lambda document: document.time)
        for position in range(start, len(self.documents)):
            if self.documents[position].time > until:
                return
            yield self.documents[position]


class Indices:
    """All indices and templates. Above `keep` documents in total, the oldest index loses its oldest documents."""

    def __init__(self, *, keep: int) -> None:
        self.indices: dict[str, Index] = {}
        self.templates: dict[str, Json] = {}
        self._keep = keep
        self._numbers = count(1)
        self._ids: dict[tuple[str, str], int] = {}

    @property
    def count(self) -> int:
        """The number of documents in all indices."""
        return sum(len(index.documents) for index in self.indices.values())

    def put_template(self, name: str, template: Json) -> None:
        only(template, {"index_patterns", "priority", "template", "version", "_meta"}, "index template")
        only(template.get("template", {}), {"settings", "mappings"}, "index template")
        IndexMapping(template.get("template", {}).get("mappings", {}))  # refuses unknown mappings
        self.templates[name] = template

    def create(self, name: str, body: Json) -> None:
        """Create an empty index, with its own mappings on top of its template's."""
        only(body, {"settings", "mappings"}, "index")
        _check_name(name)
        if name in self.indices:
            raise RefusalError(400, "resource_already_exists_exception", f"index [{name}] already exists")
        mapping = mapping_for(name, self.templates, own=body.get("mappings", {}))
        self.indices[name] = Index(name=name, mapping=mapping)

    def add(self, name: str, source: Json, *, id_: str | None = None) -> Document:
        """Index a document, and create its index where it is missing. Raises RefusalError."""
        _check_name(name)
        number = next(self._numbers)
        if id_ is not None and (name, id_) in self._ids:
            raise RefusalError(
                409,
                "version_conflict_engine_exception",
                f"[{id_}]: version conflict, document already exists",
            )
        index = self.indices.get(name) or Index(name=name, mapping=mapping_for(name, self.templates, own={}))
        held, ignored = index.mapping.read(source)
        document = Document(
            index=name, id=id_ or f"auto-{number}", number=number, source=source, values=held, ignored=ignored
        )
        self.indices[name] = index
        if id_ is not None:
            self._ids[name, id_] = number
        index.add(document)
        self._drop_oldest()
        return document

    def delete(self, names: str, *, lenient: bool) -> None:
        if any(sign in names for sign in "*?") or names == "_all":
            raise RefusalError(
                400, "illegal_argument_exception", "Wildcard expressions or all indices are not allowed"
            )
        for name in names.split(","):
            if name not in self.indices:
                if lenient:
                    continue
                raise no_index(name)
            del self.indices[name]
            self._ids = {key: number for key, number in self._ids.items() if key[0] != name}

    def resolve(self, expression: str, *, lenient: bool = False) -> list[Index]:
        """The indices that an expression matches, sorted. A name without a wildcard must exist."""
        found: dict[str, Index] = {}
        for part in (expression or "*").split(","):
            if part == "_all" or any(sign in part for sign in "*?"):
                pattern = "*" if part == "_all" else part
                found |= {name: index for name, index in self.indices.items() if fnmatchcase(name, pattern)}
            elif part in self.indices:
                found[part] = self.indices[part]
            elif not lenient:
                raise no_index(part)
        return [found[name] for name in sorted(found)]

    def shards(self, expression: str) -> list[Shard]:
        """What a search of these indices sees now, without later documents."""
        return [
            Shard(index=index.name, kinds=dict(index.mapping.kinds), documents=list(index.documents))
            for index in self.resolve(expression)
        ]

    def _drop_oldest(self) -> None:
        if self.count <= self._keep:
            return
        oldest = min(
            (index for index in self.indices.values() if index.documents),
            key=lambda index: index.documents[0].time,
        )
        # A tenth of it at a time: dropping one by one would move all the others each time.
        dropped = max(1, len(oldest.documents) // 10)
        for document in oldest.documents[:dropped]:
            self._ids.pop((oldest.name, document.id), None)
        del oldest.documents[:dropped]
        if not oldest.documents:
            del self.indices[oldest.name]


def _position(document: Document) -> tuple[int, int]:
    return document.time, document.number


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or name[0] in "-_+." or name in (".", ".."):
        raise RefusalError(400, "invalid_index_name_exception", f"Invalid index name [{name}]")
