"""Queries of `*.yard.yaml` files: log searches and cluster checks."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from alerts.loading.annotations import LABEL_NAME
from alerts.loading.match_parser import MatchError, parse_match
from alerts.loading.node_reader import NodeReader, described, did_you_mean, is_null
from alerts.loading.text_positions import location_within
from alerts.loading.yaml_nodes import MapNode, YamlNode
from alerts.rules import Symbols
from collectors.facts.log_match import EVERY_LINE, STORE_SYNTAXES, LogMatch, StoreMatch
from collectors.facts.patterns import compile_pattern
from collectors.facts.queries import CheckQuery, LogLevel, LogQuery, TimesUsual

_LOGS = (
    "match",
    *STORE_SYNTAXES,
    "level",
    "by",
    "over",
    "above",
    "novel",
    "times_usual",
    "extract",
    "distinct",
    "of",
)
_LEVELS = {level.name.lower(): level for level in LogLevel if level is not LogLevel.INFO}
_LOG_FIELDS = ("level",)  # fields of log lines, besides those of subjects


def log_query(reader: NodeReader, node: YamlNode, *, before: str, symbols: Symbols) -> LogQuery | None:
    """Read the search under `logs:`; None and diagnostics if it is incomplete or invalid."""
    known = len(reader.found)
    if not isinstance(node, MapNode):
        reader.error(node, f"{before}`logs` must be a mapping with `match` and `over`")
        return None
    fields = reader.fields(node, _LOGS, f"{before}logs")
    level = _level(reader, fields.get("level"), before)
    store_match = _store_match(reader, fields, before)
    match: LogMatch = EVERY_LINE
    if (given := fields.get("match")) is not None:
        match = _match(reader, given, before)
    elif level is None and store_match is None:
        reader.error(node, f'{before}logs: `match` must be set, like message:"fallen off the bus"')
    over = reader.span(fields.get("over"), f"{before}logs.over")
    if not over:
        reader.error(
            fields.get("over", node), f"{before}logs: `over` must be set: how far back to count, like 5m"
        )
    novel = reader.span(fields.get("novel"), f"{before}logs.novel")
    if over and novel and novel <= over:
        reader.error(fields["novel"], f"{before}logs: `novel` must be longer than `over`")
    above = reader.number(fields.get("above"), f"{before}logs.above", otherwise=0)
    if above < 0:
        reader.error(fields["above"], f"{before}logs: `above` must not be negative")
    by = _by(reader, fields.get("by"), before, symbols)
    usual = _times_usual(reader, fields.get("times_usual"), before)
    extract = _extract(reader, fields.get("extract"), before, by)
    distinct = _distinct(reader, fields, before, by, symbols)
    of_host = _of_host(reader, fields, before)
    if len(reader.found) > known or over is None:
        return None
    return LogQuery(
        match=match,
        store_match=store_match,
        level=level,
        by=by,
        over=over,
        above=above,
        novel=novel or None,
        times_usual=usual,
        extract=extract,
        distinct=distinct,
        of_host=of_host,
    )


def _match(reader: NodeReader, node: YamlNode, before: str) -> LogMatch:
    """Read the neutral match; a diagnostic says where it is none and what to write."""
    text = reader.text(node, f"{before}logs.match")
    if text is None:
        return EVERY_LINE
    try:
        return parse_match(text)
    except MatchError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - (text.rfind("\n", 0, error.position) + 1) + 1
        where = location_within(reader, node, text, line, column)
        reader.error_at(where, f"{before}logs.match: {error}")
        return EVERY_LINE


def _store_match(reader: NodeReader, fields: Mapping[str, YamlNode], before: str) -> StoreMatch | None:
    """Read the match in a store's own syntax."""
    for store in STORE_SYNTAXES:
        node = fields.get(store)
        if node is None or is_null(node):
            continue
        text = reader.text(node, f"{before}logs.{store}")
        if text is not None and not text.strip():
            reader.error(node, f"{before}logs: `{store}` must not be empty")
        return StoreMatch(store=store, text=text or "")
    return None


def _level(reader: NodeReader, node: YamlNode | None, before: str) -> LogLevel | None:
    if node is None or is_null(node):
        return None
    name = reader.text(node, f"{before}logs.level") or ""
    if name not in _LEVELS:
        reader.error(node, f"{before}logs: `level` must be {', '.join(_LEVELS)}, not `{name}`")
    return _LEVELS.get(name)


def _by(reader: NodeReader, node: YamlNode | None, before: str, symbols: Symbols) -> tuple[str, ...]:
    fields: list[str] = []
    allowed = symbols.subject_fields | set(_LOG_FIELDS)
    for item in reader.items(node, f"{before}logs.by"):
        field = reader.text(item, f"{before}a field of logs.by")
        if field is None:
            continue
        if field not in allowed:
            reader.error(item, f"{before}logs: `by` cannot be `{field}`{did_you_mean(field, allowed)}")
        elif field in fields:
            reader.error(item, f"{before}logs: `by` has `{field}` twice")
        fields.append(field)
    return tuple(fields)


def _distinct(
    reader: NodeReader, fields: Mapping[str, YamlNode], before: str, by: tuple[str, ...], symbols: Symbols
) -> str:
    node = fields.get("distinct")
    if node is None or is_null(node):
        return ""
    field = reader.text(node, f"{before}logs.distinct") or ""
    if field not in symbols.subject_fields:
        hint = did_you_mean(field, symbols.subject_fields)
        reader.error(node, f"{before}logs: `distinct` cannot be `{field}`{hint}")
    elif field in by:
        reader.error(node, f"{before}logs: `distinct` and `by` cannot both be `{field}`")
    for other in ("extract", "novel", "times_usual"):
        if fields.get(other) is not None:
            reader.error(node, f"{before}logs: `distinct` and `{other}` cannot be used together")
    return field


def _of_host(reader: NodeReader, fields: Mapping[str, YamlNode], before: str) -> bool:
    node = fields.get("of")
    if node is None or is_null(node):
        return False
    if reader.text(node, f"{before}logs.of") != "host":
        reader.error(node, f"{before}logs: `of` must be `host`")
    for other in ("distinct", "novel", "times_usual"):
        if fields.get(other) is not None:
            reader.error(node, f"{before}logs: `of` and `{other}` cannot be used together")
    return True


def _times_usual(reader: NodeReader, node: YamlNode | None, before: str) -> TimesUsual | None:
    if node is None or is_null(node):
        return None
    fields = reader.fields(node, ("factor", "season"), f"{before}logs.times_usual")
    factor = reader.number(fields.get("factor"), f"{before}logs.times_usual.factor", otherwise=0)
    season = reader.span(fields.get("season"), f"{before}logs.times_usual.season")
    if factor <= 0:
        reader.error(
            fields.get("factor", node), f"{before}logs.times_usual: `factor` must be a number above 0"
        )
        return None
    if season is not None and not season:
        reader.error(fields["season"], f"{before}logs.times_usual: `season` must be longer than 0")
    return TimesUsual(factor=factor, season=season or timedelta(days=1))


def _extract(reader: NodeReader, node: YamlNode | None, before: str, by: tuple[str, ...]) -> str | None:
    if node is None or is_null(node):
        return None
    pattern = reader.text(node, f"{before}logs.extract")
    if pattern is None:
        return None
    try:
        names = compile_pattern(pattern).groupindex
    except ValueError as error:
        reader.error(node, f"{before}logs: `extract` is not a regular expression: {error}")
        return None
    if not names:
        reader.error(node, f"{before}logs: `extract` needs a named group, like (?P<xid>[0-9]+)")
    for name in names:
        if name in by or not LABEL_NAME.fullmatch(name) or name == "__name__":
            reader.error(
                node, f"{before}logs: `extract` has an invalid group `{name}`: in `by` or not a label name"
            )
    return pattern


def check_query(
    reader: NodeReader, node: YamlNode, parameters: YamlNode | None, *, before: str, symbols: Symbols
) -> CheckQuery | None:
    """Read the check under `check:` and its parameters under `with:`; None and a diagnostic if it is unknown."""
    name = reader.text(node, f"{before}check")
    given = reader.pairs(parameters, f"{before}with") if parameters is not None else []
    if name is None:
        return None
    if name not in symbols.checks:
        reader.error(node, f"{before}unknown check `{name}`{did_you_mean(name, symbols.checks)}")
        return None
    known = symbols.checks[name]
    for parameter, key, _value in given:
        if parameter not in known:
            hint = did_you_mean(parameter, known) if known else "; it has no parameters"
            reader.error(key, f"{before}the check `{name}` has no parameter `{parameter}`{hint}")
    values = {
        parameter: reader.value(value, "a parameter")
        for parameter, _key, value in given
        if parameter in known
    }
    for parameter, _key, value in given:
        if parameter in values and (expected := _expected(values[parameter], known[parameter])):
            reader.error(value, f"{before}with: `{parameter}` must be {expected}, not {described(value)}")
    return CheckQuery(name=name, parameters=MappingProxyType(values))


def _expected(value: object, default: object) -> str:
    """Return of which type a parameter must be, like its default; empty if it is."""
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else "true or false"
    if isinstance(default, int | float):
        return "" if isinstance(value, int | float) and not isinstance(value, bool) else "a number"
    if isinstance(default, str):
        return "" if isinstance(value, str) else "text"
    return ""
