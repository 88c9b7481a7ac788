"""This file reads what a rule says: labels, annotations and their templates, and the words of our own files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from alerts.loading.promql import wrong_with
from alerts.loading.reading import Reading, did_you_mean
from alerts.loading.yaml_nodes import Node, ScalarNode
from alerts.rules import Closes, Place, Vocabulary, Words
from alerts.templates import TemplateError, parse

LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
OWN = ("offer", "remedy", "presence", "closes")  # what is read into fields, and leaves the annotations
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Words, and the presence query that stands among the annotations of our own files."""

    words: Words
    presence: str | None = None


def words(
    reading: Reading,
    labels: Node | None,
    annotations: Node | None,
    *,
    before: str,
    group_labels: Mapping[str, str],
    vocabulary: Vocabulary,
    own: bool,
    has_templates: bool = True,
) -> Said:
    """The words of a rule. `before` is put in front of each mistake (`group "g", rule 1, "A": `)."""
    tags = label_set(reading, labels, before=before)
    notes = reading.texts(annotations, f"{before}annotations")
    for name, (_text, node) in notes.items():
        if not LABEL_NAME.fullmatch(name):
            reading.wrong(node, f"{before}invalid annotation name: {name}")
    if has_templates:
        for kind, texts in (("label", tags), ("annotation", notes)):
            for name, (text, node) in texts.items():
                check_template(reading, node, text, f'{before}{kind} "{name}"')
    merged = {**group_labels, **{name: text for name, (text, _node) in tags.items()}}
    if not own:
        plain = {name: text for name, (text, _node) in notes.items()}
        return Said(words=Words(labels=merged, annotations=plain))
    return _own(reading, notes, merged, before=before, vocabulary=vocabulary)


def label_set(reading: Reading, node: Node | None, *, before: str) -> dict[str, tuple[str, Node]]:
    tags = reading.texts(node, f"{before}labels")
    for name, (_text, value) in tags.items():
        if not LABEL_NAME.fullmatch(name) or name == "__name__":
            reading.wrong(value, f"{before}invalid label name: {name}")
    return tags


def check_template(reading: Reading, node: Node, text: str, what: str) -> None:
    try:
        parse(text)
    except TemplateError as error:
        reading.wrong(node, f"{what}: template: {error}")


def _own(
    reading: Reading,
    notes: Mapping[str, tuple[str, Node]],
    labels: Mapping[str, str],
    *,
    before: str,
    vocabulary: Vocabulary,
) -> Said:
    offers = tuple(
        line
        for place, line in _lines(reading, notes.get("offer"))
        if _is_offer(reading, place, line, f"{before}offer", vocabulary)
    )
    remedies = [
        (place, line)
        for place, line in _lines(reading, notes.get("remedy"))
        if _is_offer(reading, place, line, f"{before}remedy", vocabulary)
    ]
    if len(remedies) > 1:
        reading.wrong_at(
            remedies[1][0], f"{before}remedy: one command line only; put the others under `offer`"
        )
    return Said(
        words=Words(
            labels=labels,
            annotations={name: text for name, (text, _node) in notes.items() if name not in OWN},
            offers=offers,
            remedy=remedies[0][1] if remedies else "",
            runbook=notes["runbook"][0].strip() if "runbook" in notes else "",
            closes=_closes(reading, notes.get("closes"), before),
        ),
        presence=_presence(reading, notes.get("presence"), before),
    )


def _lines(reading: Reading, note: tuple[str, Node] | None) -> list[tuple[Place, str]]:
    """The lines of a text that are not empty, each with its own place where the text stands as it is written."""
    if note is None:
        return []
    text, node = note
    found: list[tuple[Place, str]] = []
    literal = isinstance(node, ScalarNode) and node.style == "|"
    for number, line in enumerate(text.splitlines()):
        if not line.strip():
            continue
        place = reading.place(node)
        at = node.line + number  # of the line after the `|`, counted from 0
        if literal and at < len(reading.lines) and (column := reading.lines[at].find(line.strip())) >= 0:
            place = Place(file=reading.file, line=at + 1, column=column + 1)
        found.append((place, line.strip()))
    return found


def _is_offer(reading: Reading, place: Place, line: str, what: str, vocabulary: Vocabulary) -> bool:
    is_right = True
    for word in _PLACEHOLDER.findall(line):
        if word not in vocabulary.words:
            reading.wrong_at(
                place, f"{what}: `{{{word}}}` is no word of subjects{did_you_mean(word, vocabulary.words)}"
            )
            is_right = False
    if wrong := vocabulary.wrong_with_offer(line):
        reading.wrong_at(place, f"{what}: `{line}`: {wrong}")
        return False
    return is_right


def _closes(reading: Reading, note: tuple[str, Node] | None, before: str) -> Closes:
    if note is None:
        return Closes.CLEAR
    try:
        return Closes(note[0].strip())
    except ValueError:
        reading.wrong(
            note[1],
            f"{before}closes: `{note[0].strip()[:40]}` must be one of {', '.join(kind.value for kind in Closes)}",
        )
        return Closes.CLEAR


def _presence(reading: Reading, note: tuple[str, Node] | None, before: str) -> str | None:
    if note is None:
        return None
    text, node = note
    if wrong := wrong_with(text):
        inner = f"{wrong.line}:{wrong.column}: " if wrong.line else ""
        reading.wrong(node, f"{before}presence: could not parse expression: {inner}parse error: {wrong.what}")
        return None
    return text.strip()
