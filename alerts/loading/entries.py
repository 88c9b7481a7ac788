"""Entries of a rule group: alerting rules with any kind of query, and recording rules."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from alerts.loading import yard_queries
from alerts.loading.annotations import (
    GroupContext,
    check_labels_used,
    check_severity,
    label_set,
    read_annotations,
)
from alerts.loading.node_reader import NodeReader, did_you_mean, is_null
from alerts.loading.promql import find_error
from alerts.loading.promql_labels import output_labels
from alerts.loading.text_positions import location_within
from alerts.loading.yaml_nodes import ScalarNode, YamlNode
from alerts.rules import RecordingRule, Rule, Timing
from collectors.facts.queries import LogQuery, PromQLQuery, Query

_SHARED = ("alert", "for", "keep_firing_for", "labels", "annotations")
PROMETHEUS = (*_SHARED, "record", "expr")
QUERY_READERS = ("logs", "check", "with", "unusual")
YARD = (*_SHARED, *QUERY_READERS)
RECORD_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*", re.ASCII)


def read_entry(
    reader: NodeReader, node: YamlNode, number: int, context: GroupContext
) -> Rule | RecordingRule | None:
    """Read one entry; `number` counts from 1. Return None if a diagnostic leaves nothing to evaluate."""
    known = len(reader.found) + reader.more
    fields = _fields(reader, node, context, f'group "{context.group}", rule {number}')
    name_node = fields.get("alert") or fields.get("record")
    shown = name_node.text if isinstance(name_node, ScalarNode) and not is_null(name_node) else ""
    before = f'group "{context.group}", rule {number}, "{shown}": '
    alert = reader.text(fields.get("alert"), f"{before}alert") or ""
    record = reader.text(fields.get("record"), f"{before}record") or ""
    if alert and record:
        reader.error(fields["record"], f"{before}only one of 'record' and 'alert' must be set")
    if not alert and not record:
        what = "'alert' must be set" if context.is_yard else "one of 'record' or 'alert' must be set"
        reader.error(node, before + what)
    query = _query(reader, node, fields, before, context)
    timing = Timing(
        for_=reader.span(fields.get("for"), f"{before}for") or timedelta(),
        keep_firing_for=reader.span(fields.get("keep_firing_for"), f"{before}keep_firing_for") or timedelta(),
    )
    if record:
        recording = _recording(reader, fields, record, query, timing, before, context)
        return recording if len(reader.found) + reader.more == known else None
    parsed = read_annotations(reader, fields, context, before=before, has_templates=bool(alert))
    check_severity(reader, fields, before, is_yard=context.is_yard)
    if (labels := _labels_of(query)) is not None:
        check_labels_used(reader, fields, labels | context.labels.keys(), before, is_yard=context.is_yard)
    if parsed.presence is not None:
        if isinstance(query, PromQLQuery):
            query = replace(query, presence=parsed.presence)
        else:
            reader.error(
                fields["annotations"], f"{before}presence: only a rule with `expr` has a presence query"
            )
    if len(reader.found) + reader.more > known or query is None:
        return None
    return Rule(
        id=f"{context.pack}/{context.group}/{alert}",
        name=alert,
        query=query,
        timing=timing,
        template=parsed.template,
        interval=context.interval,
        limit=context.limit,
        location=reader.location(node),
    )


def _labels_of(query: Query | None) -> set[str] | None:
    """Return the labels of a query's samples; None if it does not show which they have."""
    if isinstance(query, PromQLQuery):
        return output_labels(query.expr)
    if not isinstance(query, LogQuery):
        return None
    extracted = re.findall(r"\(\?P?<(\w+)>", query.extract or "")
    return {*query.by, *extracted, *(["pattern"] if query.novel is not None else [])}


def _fields(reader: NodeReader, node: YamlNode, context: GroupContext, what: str) -> dict[str, YamlNode]:
    """Return the fields that this kind of file may have. A field of the other kind gets its own diagnostic."""
    known = YARD if context.is_yard else PROMETHEUS
    given = reader.pairs(node, what)
    for name, key, _value in given:
        if name in known:
            continue
        if name in QUERY_READERS:
            hint = ": it belongs in a *.yard.yaml file; a Prometheus rule file has `expr`"
        elif name in PROMETHEUS:
            hint = ": it belongs in a Prometheus rule file; a *.yard.yaml file has `logs` or `check`"
        else:
            hint = f" in {what}{did_you_mean(name, known)}"
        reader.error(
            key, f"unknown field `{name}`{hint}" if hint.startswith(" ") else f"{what}: `{name}`{hint}"
        )
    return {name: value for name, _key, value in given if name in known}


def _query(
    reader: NodeReader, node: YamlNode, fields: Mapping[str, YamlNode], before: str, context: GroupContext
) -> Query | None:
    if not context.is_yard:
        return _promql(reader, node, fields.get("expr"), before)
    if "unusual" in fields:
        reader.error(fields["unusual"], f"{before}`unusual` is reserved: anomaly detection is not supported")
        return None
    given = [name for name in ("logs", "check") if name in fields and not is_null(fields[name])]
    if len(given) != 1:
        reader.error(node, f"{before}one of 'logs' or 'check' must be set" + (", not both" if given else ""))
        return None
    if "with" in fields and given != ["check"]:
        reader.error(fields["with"], f"{before}only a rule with `check` has `with`")
    if given == ["logs"]:
        return yard_queries.log_query(reader, fields["logs"], before=before, symbols=context.symbols)
    return yard_queries.check_query(
        reader, fields["check"], fields.get("with"), before=before, symbols=context.symbols
    )


def _promql(reader: NodeReader, node: YamlNode, given: YamlNode | None, before: str) -> PromQLQuery | None:
    expr = reader.text(given, f"{before}expr") if isinstance(given, ScalarNode) else ""
    if given is None or not expr:
        reader.error(given or node, f"{before}field 'expr' must be set in rule")
        return None
    if error := find_error(expr):
        inner = f"{error.line}:{error.column}: " if error.line else ""
        location = location_within(reader, given, expr, error.line, error.column)
        reader.error_at(location, f"{before}could not parse expression: {inner}parse error: {error.what}")
        return None
    return PromQLQuery(expr=expr)


def _recording(
    reader: NodeReader,
    fields: Mapping[str, YamlNode],
    record: str,
    query: Query | None,
    timing: Timing,
    before: str,
    context: GroupContext,
) -> RecordingRule | None:
    node = fields["record"]
    if "annotations" in fields and reader.texts(fields["annotations"], f"{before}annotations"):
        reader.error(fields["annotations"], f"{before}invalid field 'annotations' in recording rule")
    if timing.for_:
        reader.error(fields["for"], f"{before}invalid field 'for' in recording rule")
    if timing.keep_firing_for:
        reader.error(fields["keep_firing_for"], f"{before}invalid field 'keep_firing_for' in recording rule")
    if not RECORD_NAME.fullmatch(record):
        reader.error(node, f"{before}invalid recording rule name: {record}")
    labels = label_set(reader, fields.get("labels"), before=before)
    if not isinstance(query, PromQLQuery):
        return None
    merged = {**context.labels, **{name: text for name, (text, _node) in labels.items()}}
    return RecordingRule(name=record, expr=query.expr, labels=merged, location=reader.location(node))
