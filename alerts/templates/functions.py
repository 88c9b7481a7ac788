"""This file has the one table of functions that templates may call: Go's own and Prometheus'."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from alerts.templates import builtins, hosts, humanizing, regexes
from alerts.templates.errors import RenderError
from alerts.templates.formats import sprintf
from alerts.templates.printing import LONGEST, sprint, sprintln
from alerts.templates.quoting import html, javascript, url_query
from alerts.templates.values import Arguments, Span, TemplateSample, Value
from collectors.facts.durations import duration
from collectors.facts.results import Sample

QueryFunction = Callable[[str], Sequence[Sample]]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What functions may ask of the outside. Without `query` the function of that name is an error."""

    query: QueryFunction | None
    external_url: str
    now: float | None  # seconds since 1970


@dataclass(frozen=True, slots=True)
class Native:
    """A function: what it takes, as Go's types (any, string, int, vector, sample), and of what kind any more may be."""

    call: Callable[..., Value]
    takes: tuple[str, ...] = ()
    more: str | None = None
    needs_world: bool = False


def _query(world: World, text: str) -> tuple[TemplateSample, ...]:
    if world.query is None:
        raise RenderError("`query` is not available here: the rule's own labels and value are")
    return tuple(TemplateSample(labels=dict(one.labels), value=one.value) for one in world.query(text))


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
    """The first letter of each word large, as Go's strings.Title; a word ends at any ASCII sign, and at a space."""
    out, is_start = "", True
    for char in text:
        out += char.title() if is_start and len(char.title()) == 1 else char
        is_start = not (char == "_" or char.isalnum()) if char.isascii() else char.isspace()
    return out


def _link(text: str, tab: int) -> str:
    return f"/graph?g0.expr={url_query(text)}&g0.tab={tab}"


def _span_of(text: str) -> timedelta:
    try:
        return duration(text)
    except (ValueError, OverflowError) as error:
        raise RenderError(str(error)) from None


def _now(world: World) -> float:
    if world.now is None:
        raise RenderError("`now` is not available here")
    return world.now


def _span(value: Value) -> Span:
    return Span(int(humanizing.as_float(value) * 1e9))


PROMETHEUS: Mapping[str, Native] = {
    "query": Native(_query, ("string",), needs_world=True),
    "first": Native(_first, ("vector",)),
    "label": Native(lambda label, sample: _sampled(sample).labels.get(label, ""), ("string", "sample")),
    "value": Native(lambda sample: _sampled(sample).value, ("sample",)),
    "strvalue": Native(lambda sample: _sampled(sample).labels.get("__value__", ""), ("sample",)),
    "sortByLabel": Native(_by_label, ("string", "vector")),
    "args": Native(lambda *given: Arguments({f"arg{n}": one for n, one in enumerate(given)}), more="any"),
    "reReplaceAll": Native(
        lambda pattern, new, text: regexes.replaced(pattern, new, text, longest=LONGEST), ("string",) * 3
    ),
    "match": Native(regexes.matches, ("string", "string")),
    "safeHtml": Native(lambda text: text, ("string",)),
    "title": Native(_title, ("string",)),
    "toUpper": Native(lambda text: text.upper(), ("string",)),
    "toLower": Native(lambda text: text.lower(), ("string",)),
    "graphLink": Native(lambda text: _link(text, 0), ("string",)),
    "tableLink": Native(lambda text: _link(text, 1), ("string",)),
    "stripPort": Native(hosts.without_port, ("string",)),
    "stripDomain": Native(hosts.without_domain, ("string",)),
    "humanize": Native(humanizing.humanize, ("any",)),
    "humanize1024": Native(humanizing.humanize_1024, ("any",)),
    "humanizeDuration": Native(humanizing.humanize_duration, ("any",)),
    "humanizePercentage": Native(humanizing.humanize_percentage, ("any",)),
    "humanizeTimestamp": Native(humanizing.humanize_timestamp, ("any",)),
    "toTime": Native(humanizing.moment, ("any",)),
    "toDuration": Native(_span, ("any",)),
    "now": Native(_now, needs_world=True),
    "pathPrefix": Native(lambda world: urlsplit(world.external_url).path, needs_world=True),
    "externalURL": Native(lambda world: world.external_url, needs_world=True),
    "parseDuration": Native(lambda text: _span_of(text).total_seconds(), ("string",)),
    "urlQueryEscape": Native(url_query, ("string",)),
}

GO: Mapping[str, Native] = {
    # `and` and `or` stop at the first value that decides: evaluating.py does them, this says only what they take.
    "and": Native(lambda *values: values[-1], ("any",), more="any"),
    "or": Native(lambda *values: values[-1], ("any",), more="any"),
    "not": Native(builtins.negated, ("any",)),
    "len": Native(builtins.length, ("any",)),
    "index": Native(builtins.index, ("any",), more="any"),
    "slice": Native(builtins.part, ("any",), more="any"),
    "call": Native(builtins.call, ("any",), more="any"),
    "eq": Native(builtins.equal, ("any",), more="any"),
    "ne": Native(builtins.unequal, ("any", "any")),
    "lt": Native(builtins.less, ("any", "any")),
    "le": Native(builtins.less_or_equal, ("any", "any")),
    "gt": Native(builtins.greater, ("any", "any")),
    "ge": Native(builtins.greater_or_equal, ("any", "any")),
    "print": Native(lambda *values: sprint(values), more="any"),
    "println": Native(lambda *values: sprintln(values), more="any"),
    "printf": Native(lambda form, *values: sprintf(form, values), ("string",), more="any"),
    "html": Native(lambda *values: html(builtins.text_of(values)), more="any"),
    "js": Native(lambda *values: javascript(builtins.text_of(values)), more="any"),
    "urlquery": Native(lambda *values: url_query(builtins.text_of(values)), more="any"),
}

FUNCTIONS: Mapping[str, Native] = {**GO, **PROMETHEUS}

_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "int": (int,),
    "vector": (tuple, type(None)),
    "sample": (TemplateSample, type(None)),
}
_GO_NAMES = {"vector": "template.queryResult", "sample": "*template.sample"}


def fits(value: Value, kind: str) -> bool:
    """Whether a value may be given where a function takes this kind."""
    if kind == "any":
        return True
    return isinstance(value, _KINDS[kind]) and not (kind == "int" and isinstance(value, bool))


def in_go(kind: str) -> str:
    return _GO_NAMES.get(kind, kind)
