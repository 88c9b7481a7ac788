"""The table of functions that templates can call: Go's own and Prometheus'."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from go_templates import builtins, hosts, humanizing, regexes
from go_templates.formats import sprintf
from go_templates.printing import MAX_OUTPUT, sprint, sprintln
from go_templates.quoting import html, javascript, url_query
from go_templates.template_errors import RenderError
from go_templates.values import Arguments, GoDuration, TemplateSample, Value

QueryFunction = Callable[[str], Sequence[TemplateSample]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Outside inputs of functions. Without `query`, calling the function of that name is an error."""

    query: QueryFunction | None
    external_url: str
    now: float | None  # seconds since 1970


@dataclass(frozen=True, slots=True)
class NativeFunction:
    """A function, the kinds of its parameters (any, string, int, vector, sample), and the kind of any further ones."""

    call: Callable[..., Value]
    takes: tuple[str, ...] = ()
    more: str | None = None
    needs_world: bool = False


def _query(world: Environment, text: str) -> tuple[TemplateSample, ...]:
    if world.query is None:
        raise RenderError("`query` is not available here; use the rule's own labels and value")
    return tuple(world.query(text))


def _first(vector: tuple[TemplateSample, ...] | None) -> TemplateSample:
    if not vector:
        raise RenderError("first() called on vector with no elements")
    return vector[0]


def _by_label(label: str, vector: tuple[TemplateSample, ...] | None) -> tuple[TemplateSample, ...]:
    return tuple(sorted(vector or (), key=lambda one: one.labels.get(label, "")))


def _sampled(sample: TemplateSample | None) -> TemplateSample:
    if sample is None:
        raise RenderError("runtime error: invalid memory address or nil pointer dereference")
    return sample


def _title(text: str) -> str:
    """Capitalize each word as Go's strings.Title; a word ends at a space or ASCII punctuation other than `_`."""
    out, is_start = "", True
    for char in text:
        out += char.title() if is_start and len(char.title()) == 1 else char
        is_start = not (char == "_" or char.isalnum()) if char.isascii() else char.isspace()
    return out


def _link(text: str, tab: int) -> str:
    return f"/graph?g0.expr={url_query(text)}&g0.tab={tab}"


def _now(world: Environment) -> float:
    if world.now is None:
        raise RenderError("`now` is not available here")
    return world.now


def _span(value: Value) -> GoDuration:
    return GoDuration(int(humanizing.as_float(value) * 1e9))


PROMETHEUS: Mapping[str, NativeFunction] = {
    "query": NativeFunction(_query, ("string",), needs_world=True),
    "first": NativeFunction(_first, ("vector",)),
    "label": NativeFunction(
        lambda label, sample: _sampled(sample).labels.get(label, ""), ("string", "sample")
    ),
    "value": NativeFunction(lambda sample: _sampled(sample).value, ("sample",)),
    "strvalue": NativeFunction(lambda sample: _sampled(sample).labels.get("__value__", ""), ("sample",)),
    "sortByLabel": NativeFunction(_by_label, ("string", "vector")),
    "args": NativeFunction(
        lambda *given: Arguments({f"arg{n}": one for n, one in enumerate(given)}), more="any"
    ),
    "reReplaceAll": NativeFunction(
        lambda pattern, new, text: regexes.replaced(pattern, new, text, longest=MAX_OUTPUT), ("string",) * 3
    ),
    "match": NativeFunction(regexes.matches_pattern, ("string", "string")),
    "safeHtml": NativeFunction(lambda text: text, ("string",)),
    "title": NativeFunction(_title, ("string",)),
    "toUpper": NativeFunction(lambda text: text.upper(), ("string",)),
    "toLower": NativeFunction(lambda text: text.lower(), ("string",)),
    "graphLink": NativeFunction(lambda text: _link(text, 0), ("string",)),
    "tableLink": NativeFunction(lambda text: _link(text, 1), ("string",)),
    "stripPort": NativeFunction(hosts.without_port, ("string",)),
    "stripDomain": NativeFunction(hosts.without_domain, ("string",)),
    "humanize": NativeFunction(humanizing.humanize_number, ("any",)),
    "humanize1024": NativeFunction(humanizing.humanize_1024, ("any",)),
    "humanizeDuration": NativeFunction(humanizing.humanize_duration, ("any",)),
    "humanizePercentage": NativeFunction(humanizing.humanize_percentage, ("any",)),
    "humanizeTimestamp": NativeFunction(humanizing.humanize_timestamp, ("any",)),
    "toTime": NativeFunction(humanizing.as_time, ("any",)),
    "toDuration": NativeFunction(_span, ("any",)),
    "now": NativeFunction(_now, needs_world=True),
    "pathPrefix": NativeFunction(lambda world: urlsplit(world.external_url).path, needs_world=True),
    "externalURL": NativeFunction(lambda world: world.external_url, needs_world=True),
    "parseDuration": NativeFunction(humanizing.parsed_duration, ("string",)),
    "urlQueryEscape": NativeFunction(url_query, ("string",)),
}

GO: Mapping[str, NativeFunction] = {
    # `and` and `or` stop at the first value that decides: execution.py evaluates them, here are only their parameters.
    "and": NativeFunction(lambda *values: values[-1], ("any",), more="any"),
    "or": NativeFunction(lambda *values: values[-1], ("any",), more="any"),
    "not": NativeFunction(builtins.negated, ("any",)),
    "len": NativeFunction(builtins.length, ("any",)),
    "index": NativeFunction(builtins.index, ("any",), more="any"),
    "slice": NativeFunction(builtins.part, ("any",), more="any"),
    "call": NativeFunction(builtins.call, ("any",), more="any"),
    "eq": NativeFunction(builtins.any_equal, ("any",), more="any"),
    "ne": NativeFunction(builtins.unequal, ("any", "any")),
    "lt": NativeFunction(builtins.less, ("any", "any")),
    "le": NativeFunction(builtins.less_or_equal, ("any", "any")),
    "gt": NativeFunction(builtins.greater, ("any", "any")),
    "ge": NativeFunction(builtins.greater_or_equal, ("any", "any")),
    "print": NativeFunction(lambda *values: sprint(values), more="any"),
    "println": NativeFunction(lambda *values: sprintln(values), more="any"),
    "printf": NativeFunction(lambda form, *values: sprintf(form, values), ("string",), more="any"),
    "html": NativeFunction(lambda *values: html(builtins.escapable_text(values)), more="any"),
    "js": NativeFunction(lambda *values: javascript(builtins.escapable_text(values)), more="any"),
    "urlquery": NativeFunction(lambda *values: url_query(builtins.escapable_text(values)), more="any"),
}

FUNCTIONS: Mapping[str, NativeFunction] = {**GO, **PROMETHEUS}

_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "int": (int,),
    "vector": (tuple, type(None)),
    "sample": (TemplateSample, type(None)),
}
_GO_NAMES = {"vector": "template.queryResult", "sample": "*template.sample"}


def fits(value: Value, kind: str) -> bool:
    """Whether a parameter of this kind accepts the value."""
    if kind == "any":
        return True
    return isinstance(value, _KINDS[kind]) and not (kind == "int" and isinstance(value, bool))


def in_go(kind: str) -> str:
    return _GO_NAMES.get(kind, kind)
