"""Finds the document fields behind each label: by their names, and else in a sample of documents."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from collectors.facts.results import SourceError, TooLargeError
from collectors.facts.sentences import sentence
from collectors.facts.topology import Topology
from collectors.logs.log_store import Window
from collectors.sources.elasticsearch.client import ElasticsearchClient
from collectors.sources.elasticsearch.fields.document_fields import (
    SampledDocument,
    flat,
    looked_up,
    time_among,
)
from collectors.sources.elasticsearch.fields.field_map import DATES, TIME, FieldMap, fields_in, parents_of
from collectors.sources.elasticsearch.options import DEFAULT_FIELDS
from collectors.sources.elasticsearch.queries.bodies import in_all, in_window, lacking, newest_first
from collectors.sources.elasticsearch.wire import FieldCapabilities, Json, Scalar, SourceHit, source_of

_CACHED_FOR = timedelta(minutes=5)  # a new index may add a field
_RECENT = timedelta(hours=1)
_CLOCKS_DIFFER = timedelta(days=1)
_SAMPLED = 20  # documents of one search
_MOST = 8  # further fields of a label
_NEEDED = ("message", "node", "component")  # documents without one of them are sampled


class FieldFinder:
    """Finds the fields of the index, and caches them for a few minutes."""

    def __init__(self, client: ElasticsearchClient, names: Mapping[str, Sequence[str]], index: str) -> None:
        self._client = client
        self._names = names
        self._index = index
        self._known: tuple[datetime, FieldMap] | None = None
        self._further: dict[str, tuple[str, ...]] = {}  # found in documents, by label
        self._topology: Callable[[], Topology] | None = None

    def follow(self, topology: Callable[[], Topology]) -> None:
        """Follow the topology, which has the names of the nodes."""
        self._topology = topology

    async def at(self, moment: datetime) -> FieldMap:
        """Return the fields as of about `moment`. Raises SourceError when the index is missing or cannot be read."""
        if self._known is not None and abs(moment - self._known[0]) < _CACHED_FOR:
            return self._known[1]
        names = self._names
        found = await self._mapped(names)
        if TIME not in found.exact and self._may_look_up(TIME):
            every = await self._client.field_caps(["*"])
            if name := time_among(_dates(every.fields)):
                names = {**names, TIME: (name,)}
                found = await self._mapped(names)
        if TIME in found.exact and (further := await self._looked_up(found, names, moment)):
            names = {label: (*known, *further.get(label, ())) for label, known in names.items()}
            found = await self._mapped(names)
        # The next document may add missing fields, so only a mapping with time and message is cached.
        if TIME in found.exact and "message" in found.read:
            self._known = moment, found
        return found

    def forget(self) -> None:
        """Drop the cached fields: a query did not fit them."""
        self._known = None

    async def _mapped(self, names: Mapping[str, Sequence[str]]) -> FieldMap:
        """Return the fields of these names, as the index maps them."""
        wanted = {name for of_label in names.values() for name in of_label}
        parts = {f"{name}.keyword" for name in wanted} | {one for name in wanted for one in parents_of(name)}
        caps = await self._client.field_caps(sorted(wanted | parts))
        if not caps.indices:
            raise SourceError(
                sentence(
                    "no index matches `{index}`: check elasticsearch.index and the log shipper",
                    index=self._index,
                ),
                temporary=False,
            )
        return fields_in(caps.fields, names, self._index, node_of=self._node_of)

    async def _looked_up(
        self, found: FieldMap, names: Mapping[str, Sequence[str]], moment: datetime
    ) -> Mapping[str, tuple[str, ...]]:
        """Return the further fields that recent documents have, and those that earlier ones had.

        Raises SourceError: without them a line may seem to be of another node.
        """
        chosen = {label: of_it for label, of_it in names.items() if self._may_look_up(label)}
        recent = in_window(found, Window(since=moment - _RECENT, until=moment + _CLOCKS_DIFFER))
        queries = [recent]
        for label in _NEEDED:
            if label in chosen:
                known = [name for name in found.read.get(label, ()) if name not in found.parents]
                queries.append(in_all([recent, *map(lacking, known)]))
        documents = await self._sample(queries, found)
        for label, of_it in looked_up(documents, chosen, self._node_of if self._nodes() else None).items():
            self._further[label] = tuple(dict.fromkeys((*self._further.get(label, ()), *of_it)))[:_MOST]
        return self._further

    async def _sample(self, queries: Sequence[Json], fields: FieldMap) -> list[SampledDocument]:
        bodies: list[Json] = [
            {
                "track_total_hits": False,
                "query": query,
                "sort": newest_first(fields),
                "_source": True,
            }
            for query in queries
        ]
        for size in (_SAMPLED, 1):
            try:
                answers = await self._client.searches(
                    [{"size": size, **body} for body in bodies],
                    keep=("hits.hits._index", "hits.hits._source"),
                )
            except TooLargeError:
                continue
            hits = (source_of(hit) for answer in answers for hit in answer.hits)
            return [_sampled(hit) for hit in hits if hit is not None]
        return []

    def _may_look_up(self, label: str) -> bool:
        """Whether the settings leave the fields of this label to us."""
        return self._names.get(label) == DEFAULT_FIELDS.get(label)

    def _node_of(self, value: str) -> str:
        topology = self._topology() if self._topology is not None else None
        node = topology.node_named(value) if topology is not None else ""
        return node if topology is not None and node in topology.nodes else ""

    def _nodes(self) -> Iterable[str]:
        return self._topology().nodes if self._topology is not None else ()


def _dates(caps: FieldCapabilities) -> list[str]:
    return sorted(
        name
        for name, kinds in caps.items()
        if kinds
        and set(kinds) <= DATES
        and all(one.searchable and one.aggregatable for one in kinds.values())
    )


def _sampled(hit: SourceHit) -> SampledDocument:
    values: dict[str, list[Scalar]] = defaultdict(list)
    for name, value in flat(hit.source):
        values[name].append(value)
    return SampledDocument(index=hit.index, values={name: tuple(of_it) for name, of_it in values.items()})
