"""Labels and annotations of a rule, and their templates."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta

from alerts.loading.node_reader import NodeReader, did_you_mean
from alerts.loading.own_annotations import ParsedAnnotations, read_own
from alerts.loading.yaml_nodes import YamlNode
from alerts.rules import AlertTemplate, Severity, Symbols
from go_templates import TemplateError, parse

LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
_LABEL_USED = re.compile(r"\$labels\.(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupContext:
    """What an entry inherits from its file and its group."""

    group: str
    pack: str  # the first part of every id
    interval: timedelta
    limit: int
    labels: Mapping[str, str]
    symbols: Symbols
    own: bool
    is_yard: bool


def read_annotations(
    reader: NodeReader,
    fields: Mapping[str, YamlNode],
    context: GroupContext,
    *,
    before: str,
    has_templates: bool = True,
) -> ParsedAnnotations:
    """Read a rule's labels and annotations. `before` starts each diagnostic (`group "g", rule 1, "A": `)."""
    labels = label_set(reader, fields.get("labels"), before=before)
    annotations = reader.texts(fields.get("annotations"), f"{before}annotations")
    for name, (_text, node) in annotations.items():
        if not LABEL_NAME.fullmatch(name):
            reader.error(node, f"{before}invalid annotation name: {name}")
    if has_templates:
        for kind, texts in (("label", labels), ("annotation", annotations)):
            for name, (text, node) in texts.items():
                check_template(reader, node, text, f'{before}{kind} "{name}"')
    merged = {**context.labels, **{name: text for name, (text, _node) in labels.items()}}
    if not context.own:
        plain = {name: text for name, (text, _node) in annotations.items()}
        return ParsedAnnotations(template=AlertTemplate(labels=merged, annotations=plain))
    return read_own(reader, annotations, merged, before=before, symbols=context.symbols)


def label_set(reader: NodeReader, node: YamlNode | None, *, before: str) -> dict[str, tuple[str, YamlNode]]:
    labels = reader.texts(node, f"{before}labels")
    for name, (_text, value) in labels.items():
        if not LABEL_NAME.fullmatch(name) or name == "__name__":
            reader.error(value, f"{before}invalid label name: {name}")
    return labels


def check_template(reader: NodeReader, node: YamlNode, text: str, what: str) -> None:
    try:
        parse(text)
    except TemplateError as error:
        reader.error(node, f"{what}: template: {error}")


def check_severity(reader: NodeReader, fields: Mapping[str, YamlNode], before: str, *, is_yard: bool) -> None:
    """Find a severity that is not one of ours, unless a template makes it. Prometheus' files may have others."""
    levels = [level.value for level in Severity]
    entry = label_set(reader, fields.get("labels"), before=before).get("severity")
    if entry is None or "{{" in entry[0] or entry[0] in levels:
        return
    word = entry[0][:40]
    if is_yard:
        reader.error(entry[1], f"{before}severity: `{word}` is not a severity{did_you_mean(word, levels)}")
    else:
        reader.warn(entry[1], f"{before}severity: `{word}` is taken for {Severity.of(entry[0]).value}")


def check_labels_used(
    reader: NodeReader, fields: Mapping[str, YamlNode], known: Collection[str], before: str, *, is_yard: bool
) -> None:
    """Find a label in templates that the query does not give: it would always be empty."""
    for part in ("labels", "annotations"):
        for text, node in reader.texts(fields.get(part), f"{before}{part}").values():
            for label in _LABEL_USED.findall(text):
                if label not in known:
                    near = did_you_mean(label, known)
                    if is_yard:
                        reader.error(node, f"{before}`$labels.{label}` is not a label of the search{near}")
                    else:
                        reader.warn(node, f"{before}`$labels.{label}` is not a label of the query{near}")
