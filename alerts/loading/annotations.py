"""This file reads what a rule says: labels, annotations and their templates, and the words of our own files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from alerts.loading.node_reader import NodeReader, did_you_mean
from alerts.loading.promql import find_error
from alerts.loading.yaml_nodes import Node, ScalarNode
from alerts.rules import AlertTemplate, FileLocation, ResolveWhen, Symbols
from alerts.templates import TemplateError, parse

LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
OWN = ("actions", "presence", "resolve_when")  # read into fields of the rule, so no longer annotations
_UNSUPPORTED = ("closes", "remediation", "remedy")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupContext:
    """What an entry takes from its file and its group."""

    group: str
    pack: str  # the first part of every id
    interval: timedelta
    limit: int
    labels: Mapping[str, str]
    symbols: Symbols
    own: bool
    is_yard: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAnnotations:
    """Words, and the presence query that stands among the annotations of our own files."""

    template: AlertTemplate
    presence: str | None = None


def read_annotations(
    reader: NodeReader,
    fields: Mapping[str, Node],
    context: GroupContext,
    *,
    before: str,
    has_templates: bool = True,
) -> ParsedAnnotations:
    """The words of a rule. `before` is put in front of each diagnostic (`group "g", rule 1, "A": `)."""
    tags = label_set(reader, fields.get("labels"), before=before)
    notes = reader.texts(fields.get("annotations"), f"{before}annotations")
    for name, (_text, node) in notes.items():
        if not LABEL_NAME.fullmatch(name):
            reader.error(node, f"{before}invalid annotation name: {name}")
    if has_templates:
        for kind, texts in (("label", tags), ("annotation", notes)):
            for name, (text, node) in texts.items():
                check_template(reader, node, text, f'{before}{kind} "{name}"')
    merged = {**context.labels, **{name: text for name, (text, _node) in tags.items()}}
    if not context.own:
        plain = {name: text for name, (text, _node) in notes.items()}
        return ParsedAnnotations(template=AlertTemplate(labels=merged, annotations=plain))
    return _own(reader, notes, merged, before=before, symbols=context.symbols)


def label_set(reader: NodeReader, node: Node | None, *, before: str) -> dict[str, tuple[str, Node]]:
    tags = reader.texts(node, f"{before}labels")
    for name, (_text, value) in tags.items():
        if not LABEL_NAME.fullmatch(name) or name == "__name__":
            reader.error(value, f"{before}invalid label name: {name}")
    return tags


def check_template(reader: NodeReader, node: Node, text: str, what: str) -> None:
    try:
        parse(text)
    except TemplateError as error:
        reader.error(node, f"{what}: template: {error}")


def _own(
    reader: NodeReader,
    notes: Mapping[str, tuple[str, Node]],
    labels: Mapping[str, str],
    *,
    before: str,
    symbols: Symbols,
) -> ParsedAnnotations:
    for name in _UNSUPPORTED:
        if name in notes:
            reader.error(notes[name][1], f"{before}{name}: no such annotation is supported; remove it")
    actions = tuple(
        line
        for location, line in _lines(reader, notes.get("actions"))
        if _is_action(reader, location, line, f"{before}actions", symbols)
    )
    return ParsedAnnotations(
        template=AlertTemplate(
            labels=labels,
            annotations={name: text for name, (text, _node) in notes.items() if name not in OWN},
            actions=actions,
            runbook=notes["runbook"][0].strip() if "runbook" in notes else "",
            resolve_when=_resolve_when(reader, notes.get("resolve_when"), before),
        ),
        presence=_presence(reader, notes.get("presence"), before),
    )


def _lines(reader: NodeReader, note: tuple[str, Node] | None) -> list[tuple[FileLocation, str]]:
    """The lines of a text that are not empty, each with its own place where the text stands as it is written."""
    if note is None:
        return []
    text, node = note
    found: list[tuple[FileLocation, str]] = []
    literal = isinstance(node, ScalarNode) and node.style == "|"
    for number, line in enumerate(text.splitlines()):
        if not line.strip():
            continue
        location = reader.location(node)
        at = node.line + number  # of the line after the `|`, counted from 0
        if literal and at < len(reader.lines) and (column := reader.lines[at].find(line.strip())) >= 0:
            location = FileLocation(file=reader.file, line=at + 1, column=column + 1)
        found.append((location, line.strip()))
    return found


def _is_action(reader: NodeReader, location: FileLocation, line: str, what: str, symbols: Symbols) -> bool:
    is_right = True
    for word in _PLACEHOLDER.findall(line):
        if word not in symbols.subject_fields:
            reader.error_at(
                location,
                f"{what}: `{{{word}}}` is no word of subjects{did_you_mean(word, symbols.subject_fields)}",
            )
            is_right = False
    if wrong := symbols.check_action(line):
        reader.error_at(location, f"{what}: `{line}`: {wrong}")
        return False
    return is_right


def _resolve_when(reader: NodeReader, note: tuple[str, Node] | None, before: str) -> ResolveWhen:
    if note is None:
        return ResolveWhen.CLEARED
    try:
        return ResolveWhen(note[0].strip())
    except ValueError:
        known = ", ".join(kind.value for kind in ResolveWhen)
        reader.error(note[1], f"{before}resolve_when: `{note[0].strip()[:40]}` must be one of {known}")
        return ResolveWhen.CLEARED


def _presence(reader: NodeReader, note: tuple[str, Node] | None, before: str) -> str | None:
    if note is None:
        return None
    text, node = note
    if wrong := find_error(text):
        inner = f"{wrong.line}:{wrong.column}: " if wrong.line else ""
        reader.error(node, f"{before}presence: could not parse expression: {inner}parse error: {wrong.what}")
        return None
    return text.strip()
