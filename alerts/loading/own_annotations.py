"""Annotations that have a meaning in our own rule files: what a card says and suggests, and whom it concerns."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from alerts.loading.node_reader import NodeReader, did_you_mean
from alerts.loading.promql import find_error
from alerts.loading.resolve_conditions import read_resolving
from alerts.loading.yaml_nodes import ScalarNode, YamlNode
from alerts.rules import (
    AlertTemplate,
    Consequence,
    Culprits,
    FileLocation,
    ImpactScope,
    Recipient,
    Symbols,
)

OWN = (
    "actions",
    "consequence",
    "culprits",
    "impact",
    "ladder",
    "notify",
    "presence",
    "proof_expr",
    "proof_severity",
    "remediation",
    "remediation_with",
    "resolve_when",
    "worse_after",
)  # become fields of the rule, not annotations
GROUP_WORDS = ("count", "gpus", "place", "xids")  # placeholders of headlines, besides the fields of subjects
_HEADLINES = ("headline", "resolved_headline", "worse_summary", "worse_description")
_UNSUPPORTED = ("closes", "remedy")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_WORD = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_Word = TypeVar("_Word", bound=StrEnum)
_HEADLINE_PLACEHOLDER = re.compile(r"(?<!\{)\{(\w*)\}(?!\})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAnnotations:
    """The alert's template, and the presence query from the annotations of our own files."""

    template: AlertTemplate
    presence: str | None = None


def read_own(
    reader: NodeReader,
    annotations: Mapping[str, tuple[str, YamlNode]],
    labels: Mapping[str, str],
    *,
    before: str,
    symbols: Symbols,
) -> ParsedAnnotations:
    """Read the annotations of a rule of our own file. `before` starts each diagnostic."""
    for name in _UNSUPPORTED:
        if name in annotations:
            reader.error(annotations[name][1], f"{before}{name}: this annotation is not supported; remove it")
    if "runbook" in annotations:
        _check_runbook(reader, annotations["runbook"], before, symbols)
    actions = tuple(
        line
        for location, line in _lines(reader, annotations.get("actions"))
        if _is_action(reader, location, line, f"{before}actions", symbols)
    )
    for name in _HEADLINES:
        if name in annotations:
            _check_headline(reader, *annotations[name], f"{before}{name}", symbols)
    resolving = read_resolving(reader, annotations, before)
    return ParsedAnnotations(
        template=AlertTemplate(
            labels=labels,
            annotations={name: text for name, (text, _node) in annotations.items() if name not in OWN},
            actions=actions,
            remediation=_remediation(reader, annotations, before, symbols),
            remediation_with=tuple(annotations["remediation_with"][0].split())
            if "remediation_with" in annotations
            else (),
            runbook=annotations["runbook"][0].strip() if "runbook" in annotations else "",
            resolve_when=resolving.when,
            proof_query=resolving.proof_query,
            proof_severity=resolving.proof_severity,
            impact=_one_of(ImpactScope, reader, annotations, "impact", before),
            worse_after=_worse_after(reader, annotations, before),
            consequence=_one_of(Consequence, reader, annotations, "consequence", before),
            notify=_one_of(Recipient, reader, annotations, "notify", before),
            culprits=_one_of(Culprits, reader, annotations, "culprits", before),
            ladder=_ladder(reader, annotations, before),
        ),
        presence=_presence(reader, annotations.get("presence"), before),
    )


def _check_runbook(reader: NodeReader, entry: tuple[str, YamlNode], before: str, symbols: Symbols) -> None:
    """Find a misspelled page of ours. Another name may be a page of the user's own."""
    name, node = entry[0].strip(), entry[1]
    if name in symbols.runbooks:
        return
    if near := get_close_matches(name, symbols.runbooks, n=1, cutoff=0.8):
        reader.error(node, f"{before}runbook: there is no page `{name}`; did you mean `{near[0]}`?")
    elif symbols.runbooks and not name.startswith(("http://", "https://")):
        reader.warn(
            node,
            f"{before}runbook: there is no shipped page `{name[:40]}`, only one below the setting `runbooks`",
        )


def _lines(reader: NodeReader, entry: tuple[str, YamlNode] | None) -> list[tuple[FileLocation, str]]:
    """The non-empty lines of an annotation, each with its own location if the text is a literal block."""
    if entry is None:
        return []
    text, node = entry
    found: list[tuple[FileLocation, str]] = []
    literal = isinstance(node, ScalarNode) and node.style == "|"
    for number, line in enumerate(text.splitlines()):
        if not line.strip():
            continue
        location = reader.location(node)
        at = node.line + number  # the text starts on the line after the `|`; counted from 0
        if literal and at < len(reader.lines) and (column := reader.lines[at].find(line.strip())) >= 0:
            location = FileLocation(file=reader.file, line=at + 1, column=column + 1)
        found.append((location, line.strip()))
    return found


def _remediation(
    reader: NodeReader, annotations: Mapping[str, tuple[str, YamlNode]], before: str, symbols: Symbols
) -> str:
    """Return the one command line that may run by itself; empty for none, and for one that cannot be used."""
    if "remediation" not in annotations:
        if "remediation_with" in annotations:
            node = annotations["remediation_with"][1]
            reader.error(node, f"{before}remediation_with: `remediation` must be set: what runs then")
        return ""
    node = annotations["remediation"][1]
    what = f"{before}remediation"
    lines = _lines(reader, annotations["remediation"])
    if len(lines) != 1:
        reader.error(node, f"{what}: write one command line")
        return ""
    location, line = lines[0]
    if not _is_action(reader, location, line, what, symbols):
        return ""
    if not symbols.makes_plan(line):
        reader.error_at(location, f"{what}: `{line}`: only a command that makes a plan can run by itself")
        return ""
    return line


def _is_action(reader: NodeReader, location: FileLocation, line: str, what: str, symbols: Symbols) -> bool:
    is_valid = True
    for word in _PLACEHOLDER.findall(line):
        if word not in symbols.subject_fields:
            reader.error_at(
                location,
                f"{what}: `{{{word}}}` is not a subject field{did_you_mean(word, symbols.subject_fields)}",
            )
            is_valid = False
    if error := symbols.check_action(line):
        reader.error_at(location, f"{what}: `{line}`: {error}")
        return False
    return is_valid


def _one_of(
    words: type[_Word],
    reader: NodeReader,
    annotations: Mapping[str, tuple[str, YamlNode]],
    name: str,
    before: str,
) -> _Word | None:
    """Return what the annotation says, which must be one of these words; None without it."""
    if name not in annotations:
        return None
    text, node = annotations[name]
    try:
        return words(text.strip())
    except ValueError:
        known = ", ".join(word.value for word in words)
        reader.error(node, f"{before}{name}: `{text.strip()[:40]}` must be one of {known}")
        return None


def _worse_after(
    reader: NodeReader, annotations: Mapping[str, tuple[str, YamlNode]], before: str
) -> tuple[str, ...]:
    if "worse_after" not in annotations:
        return ()
    names, node = annotations["worse_after"]
    if "worse_summary" not in annotations:
        reader.error(node, f"{before}worse_after: `worse_summary` must be set: what the card then says")
    return tuple(names.split())


def _ladder(reader: NodeReader, annotations: Mapping[str, tuple[str, YamlNode]], before: str) -> str:
    if "ladder" not in annotations:
        return ""
    text, node = annotations["ladder"]
    if not _WORD.fullmatch(text.strip()):
        reader.error(
            node, f"{before}ladder: `{text.strip()[:40]}` must be one word, the same on each of its rules"
        )
        return ""
    return text.strip()


def _check_headline(reader: NodeReader, text: str, node: YamlNode, what: str, symbols: Symbols) -> None:
    """Check the placeholders of a headline, which are filled when its card is shown."""
    known = symbols.subject_fields | set(GROUP_WORDS)
    for word in _HEADLINE_PLACEHOLDER.findall(text):
        if word not in known:
            reader.error(node, f"{what}: `{{{word}}}` is not a subject field{did_you_mean(word, known)}")


def _presence(reader: NodeReader, entry: tuple[str, YamlNode] | None, before: str) -> str | None:
    if entry is None:
        return None
    text, node = entry
    if error := find_error(text):
        inner = f"{error.line}:{error.column}: " if error.line else ""
        reader.error(node, f"{before}presence: could not parse expression: {inner}parse error: {error.what}")
        return None
    return text.strip()
