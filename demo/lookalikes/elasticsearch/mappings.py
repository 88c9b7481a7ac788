"""Mappings: the type of each field of an index, from its template or guessed from its first value."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from demo.lookalikes.elasticsearch.refusals import RefusalError, not_imitated, only

Json = dict[str, Any]
Values = dict[str, list[Any]]

KINDS = ("text", "keyword", "date", "long", "double", "boolean")
_DATE_LIKE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_GUESSED_LIMIT = 256  # characters of a guessed keyword


class IndexMapping:
    """The fields of one index. It grows with the documents, as in Elasticsearch; a field never changes its type."""

    def __init__(self, declared: Mapping[str, Any]) -> None:
        self.kinds: dict[str, str] = {}
        self._limits: dict[str, int] = {}
        self._parents: set[str] = set()
        self._strings: Json | None = None
        self.declare(declared)

    def declare(self, declared: Mapping[str, Any]) -> None:
        """Add the mappings of a template or a request. Refuses what the look-alike does not imitate."""
        only(dict(declared), {"properties", "dynamic", "dynamic_templates"}, "mappings")
        self._strings = _string_template(declared.get("dynamic_templates", ())) or self._strings
        self._declare("", declared.get("properties", {}))

    def read(self, source: Json) -> tuple[Values, Values]:
        """The values of a document by field, and those too long to be indexed. Raises RefusalError for a misfit."""
        values: Values = {}
        ignored: Values = {}
        for name, value in _leaf_values("", source):
            self._learn(name, value)
            for path in (name, f"{name}.keyword"):
                kind = self.kinds.get(path)
                if kind is None or (path != name and self.kinds.get(name) != "text"):
                    continue
                if kind == "keyword" and len(str(value)) > self._limits.get(path, 2**31):
                    ignored.setdefault(path, []).append(value)
                else:
                    values.setdefault(path, []).append(_typed(value, kind, path))
        return values, ignored

    def is_parent(self, path: str) -> bool:
        """Whether the field only has fields below it."""
        return path in self._parents

    def _declare(self, above: str, properties: Mapping[str, Any]) -> None:
        for name, spec in properties.items():
            path = f"{above}{name}"
            if "properties" in spec:
                self._parents.add(path)
                self._declare(f"{path}.", spec["properties"])
                continue
            only(spec, {"type", "ignore_above", "fields"}, f"mapping of {path}")
            if spec["type"] not in KINDS:
                raise not_imitated(f"fields of type `{spec['type']}`")
            self._set(path, spec["type"], spec.get("ignore_above"))
            for part, inner in spec.get("fields", {}).items():
                self._set(f"{path}.{part}", inner["type"], inner.get("ignore_above"))

    def _set(self, path: str, kind: str, limit: int | None) -> None:
        steps = path.split(".")
        self._parents |= {".".join(steps[:count]) for count in range(1, len(steps))} - set(self.kinds)
        self.kinds[path] = kind
        if limit is not None:
            self._limits[path] = limit

    def _learn(self, path: str, value: object) -> None:
        if path in self._parents:
            raise _misfit(
                f"object mapping for [{path}] tried to parse field as object, but found a concrete value"
            )
        if path in self.kinds:
            return
        steps = path.split(".")
        for count in range(1, len(steps)):
            if ".".join(steps[:count]) in self.kinds:
                raise _misfit(f"failed to parse field [{'.'.join(steps[:count])}]: it is not an object")
        if isinstance(value, bool):
            self._set(path, "boolean", None)
        elif isinstance(value, int | float):
            self._set(path, "long" if isinstance(value, int) else "double", None)
        elif _DATE_LIKE.fullmatch(str(value)):
            self._set(path, "date", None)
        elif self._strings is not None:
            self._set(path, self._strings["type"], self._strings.get("ignore_above"))
        else:
            self.kinds[path] = "text"
            self._set(f"{path}.keyword", "keyword", _GUESSED_LIMIT)
            self._parents.discard(path)


def mapping_for(index: str, templates: Mapping[str, Json], *, own: Mapping[str, Any]) -> IndexMapping:
    """The mapping of a new index: of the matching template with the highest priority, with its own on top."""
    matching = [
        template
        for template in templates.values()
        if any(fnmatchcase(index, pattern) for pattern in template["index_patterns"])
    ]
    best = max(matching, key=lambda template: template.get("priority", 0), default=None)
    mapping = IndexMapping((best or {}).get("template", {}).get("mappings", {}))
    mapping.declare(own)
    return mapping


def millis_of(text: str) -> int:
    """A date as milliseconds. Raises ValueError."""
    when = datetime.fromisoformat(text.replace("Z", "+00:00"))
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return int(aware.timestamp() * 1000 // 1) if aware.microsecond % 1000 else round(aware.timestamp() * 1000)


def date_of(millis: int) -> str:
    """Milliseconds as a date."""
    when = datetime.fromtimestamp(millis / 1000, UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _leaf_values(above: str, value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inside in value.items():
            yield from _leaf_values(f"{above}.{name}" if above else str(name), inside)
    elif isinstance(value, list):
        for one in value:
            yield from _leaf_values(above, one)
    elif value is not None:
        yield above, value


def _typed(value: Any, kind: str, name: str) -> Any:
    try:
        match kind:
            case "date":
                return value if isinstance(value, int) else millis_of(str(value))
            case "long":
                return int(value)
            case "double":
                return float(value)
            case "boolean":
                return value if isinstance(value, bool) else {"true": True, "false": False, "": False}[value]
            case _:
                return ("true" if value else "false") if isinstance(value, bool) else str(value)
    except (ValueError, KeyError, TypeError) as error:
        raise _misfit(f"failed to parse field [{name}] of type [{kind}]") from error


def _misfit(reason: str) -> RefusalError:
    return RefusalError(400, "document_parsing_exception", reason)


def _string_template(templates: Any) -> Json | None:
    for named in templates:
        for spec in named.values():
            if set(spec) != {"match_mapping_type", "mapping"} or spec["match_mapping_type"] != "string":
                raise not_imitated("dynamic templates other than for all strings")
            mapping: Json = spec["mapping"]
            return mapping
    return None
