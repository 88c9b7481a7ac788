"""Diagnosis of an Elasticsearch: whether the index is there, has fresh lines, and the fields that rules group by."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from collectors.facts.findings import Finding, blinding, broken, ok, unseeing, warning
from collectors.facts.one_line import some_of
from collectors.facts.queries import LogQuery, Query
from collectors.facts.results import Blind, SourceError
from collectors.facts.sentences import as_code, listed, said_by, sentence
from collectors.sources.elasticsearch.client import ElasticsearchClient
from collectors.sources.elasticsearch.fields.field_map import FieldMap

_SHOWN = 6
_ESSENTIAL = ("time", "message")
_FIELDS = sentence("set elasticsearch.fields, or let the log shipper add the field")


async def diagnose(
    client: ElasticsearchClient,
    index: str,
    fields: FieldMap | SourceError,
    filled: Mapping[str, Sequence[str]],
    health: Blind | None,
    queries: Mapping[str, Query],
) -> Sequence[Finding]:
    """Return the findings. `filled`: the fields of each label that recent lines have; `queries`: by the rule's name."""
    if isinstance(fields, SourceError):
        names = await _indices(client)
        if names is None:
            fix = sentence(
                "check the server and elasticsearch.url: until then every rule on its logs is blind"
            )
            return [blinding(broken(said_by(fields), fix), queries, said_by(fields))]
        if await _matches(client):
            fix = sentence("grant `read` and `view_index_metadata` on the index")
            return [blinding(broken(said_by(fields), fix), queries, said_by(fields))]
        near = get_close_matches(index.rstrip("*-"), names, n=1, cutoff=0.3) or names[:1]
        there = (
            sentence("there are {names}", names=some_of(names, _SHOWN))
            if names
            else sentence("it has no index at all: does the log shipper write to it?")
        )
        fix = (
            sentence("set elasticsearch.index, such as `{pattern}`", pattern=_pattern(near[0]))
            if near
            else sentence("start the log shipper")
        )
        cause = sentence("no index matches `{index}`; {there}", index=index, there=there)
        return [blinding(broken(sentence("it answers, but {cause}", cause=cause), fix), queries, cause)]
    found = [ok(sentence("it answers, and has the index `{index}`", index=index))]
    chosen = [
        sentence("{label} from {fields}", label=label, fields=_either(names))
        for label, names in filled.items()
        if names
    ]
    if chosen:
        found.append(ok(sentence("the fields of its lines: {fields}", fields=listed(chosen, ";"))))
    found += _missing_fields(fields, queries)
    if health is not None:
        stale = broken(
            health.reason, sentence("check the log shipper, its clock, and elasticsearch.stale_after")
        )
        found.append(blinding(stale, queries, health.reason))
    return found


def unsearchable_text(name: str, queries: Mapping[str, Query]) -> Finding:
    """Return the finding about a field of texts whose lines are not found by their words."""
    cause = sentence(
        "recent lines are not found by words of their `{name}`: its analyzer splits them otherwise",
        name=name,
    )
    fix = sentence("map `{name}` as text with the standard analyzer, in the index template", name=name)
    return blinding(broken(sentence("rules on lines miss some: {cause}", cause=cause), fix), queries, cause)


def _missing_fields(fields: FieldMap, queries: Mapping[str, Query]) -> list[Finding]:
    rules: dict[str, list[str]] = defaultdict(list)
    for name, query in queries.items():
        for label in query.labels if isinstance(query, LogQuery) else ():
            if label not in fields.exact:
                rules[label].append(name)
    essential = {
        label: fields.unusable.get(label, sentence("no field of `{label}`", label=label))
        for label in _ESSENTIAL
        if label not in fields.read
    }
    found = [blinding(broken(cause, _FIELDS), queries, cause) for cause in essential.values()]
    for label, names in sorted(rules.items()):
        cause = fields.unusable.get(label, label)
        found.append(unseeing(names, cause, _FIELDS))
    others = [label for label in fields.unusable if label not in (*_ESSENTIAL, *rules)]
    if others:
        what = sentence(
            "its lines have no field for {labels}, which people may search by",
            labels=some_of(sorted(others), _SHOWN),
        )
        fix = sentence("set elasticsearch.fields, or let the log shipper add the field, if you miss it")
        found.append(warning(what, fix))
    return found


async def _indices(client: ElasticsearchClient) -> list[str] | None:
    """Return the names of all indices and data streams that may be seen; None if they cannot be listed."""
    try:
        return await client.index_names()
    except SourceError:
        return None


async def _matches(client: ElasticsearchClient) -> bool:
    try:
        return bool((await client.field_caps(["@timestamp"])).indices)
    except SourceError:
        return False


def _either(names: Sequence[str]) -> str:
    return as_code(names[:_SHOWN], "or")


def _pattern(name: str) -> str:
    """Return a pattern for a dated or numbered index: `filebeat-8.19-2026.11.23` becomes `filebeat-*`."""
    return f"{name.split('-')[0]}-*" if "-" in name else name
