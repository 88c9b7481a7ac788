"""Matches of log lines as queries of Elasticsearch: neutral ones, and its own query strings."""

from collections.abc import Sequence

from collectors.facts.log_match import AllOf, AnyOf, FieldPhrase, LogMatch, Not
from collectors.sources.elasticsearch.fields.field_map import FieldMap
from collectors.sources.elasticsearch.queries.bodies import in_all, in_any
from collectors.sources.elasticsearch.queries.query_strings import in_fields, words_anywhere
from collectors.sources.elasticsearch.wire import Json

_EVERYTHING: Json = {"match_all": {}}


def match_query(match: LogMatch, fields: FieldMap) -> Json:
    """Return the query of a neutral match."""
    match match:
        case FieldPhrase():
            return _phrase_query(match, fields)
        case Not():
            return in_all([], but_not=[match_query(match.part, fields)])
        case AllOf():
            return in_all([match_query(part, fields) for part in match.parts]) if match.parts else _EVERYTHING
        case AnyOf():
            return in_any([match_query(part, fields) for part in match.parts])


def query_string(text: str, fields: FieldMap) -> Json:
    """Return the query of a query string, from a rule or a person. An empty one matches all."""
    if not text.strip() or text.strip() == "*":
        return _EVERYTHING
    return {
        "query_string": {
            "query": in_fields(text, fields.read, whole=fields.without_phrases),
            "fields": list(fields.reading("message")),
            "lenient": True,
            "allow_leading_wildcard": True,
        }
    }


def _phrase_query(phrase: FieldPhrase, fields: FieldMap) -> Json:
    """Return the query of the lines that have the phrase in any field of its name."""
    names: Sequence[str] = fields.read.get(phrase.field, (phrase.field,))
    if phrase.field == "message":
        names = fields.reading("message")
    whole = [name for name in names if name in fields.without_phrases]
    analyzed = [name for name in names if name not in fields.without_phrases]
    expression = words_anywhere(phrase.text)
    found: list[Json] = [{"regexp": {name: {"value": expression}}} for name in whole] if expression else []
    if analyzed:
        # `lenient`: words in a field of numbers match nothing, and are not an error.
        found.append(
            {
                "multi_match": {
                    "query": phrase.text,
                    "type": "phrase",
                    "fields": analyzed,
                    "lenient": True,
                }
            }
        )
    return in_any(found) if found else in_all([], but_not=[_EVERYTHING])
