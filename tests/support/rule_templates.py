"""The sentences of the shipped rules: each template that their annotations can become, with its place."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from alerts.annotation_template import HEADLINES, TEXTS, annotation_template
from alerts.cards.suggested_actions import label_of
from collectors.facts.sentences import Sentence
from go_templates import syntax_tree
from tests.support.quick_yaml import from_yaml
from tests.support.said_phrases import ROOT

_FIXED_LABEL = re.compile(
    r'"(\w+)", "([^"$]+)", "", ""\s*\)'
)  # the end of a label_replace() that only sets a label
REASON = re.compile(r'--reason "([^"]+)"')
_PLACEHOLDER = re.compile(r"\{\{([a-z]+)\}\}")
Nodes = tuple[syntax_tree.TextNode | syntax_tree.ActionNode, ...]


def rule_templates(root: Path = ROOT) -> Mapping[str, str]:
    """Return the templates, one for each alternative of an annotation."""
    found: dict[str, str] = {}
    for place, name, text in _annotations(root):
        for form in forms(text, is_headline=name in HEADLINES) if name in TEXTS else ():
            found.setdefault(form, place)
    return found


def reasons(root: Path = ROOT) -> Mapping[str, str]:
    """Return the words that suggested actions give as their reason."""
    found: dict[str, str] = {}
    for place, name, text in _annotations(root):
        for reason in REASON.findall(text) if name == "actions" else ():
            found.setdefault(reason, place)
    return found


def label_values(root: Path = ROOT) -> Mapping[tuple[str, str], str]:
    """Return the labels that a rule's query sets to words of ours, and that its sentences show."""
    found: dict[tuple[str, str], str] = {}
    for place, rule in _rules(root):
        annotations = rule.get("annotations") or {}
        shown = " ".join(annotations.get(name, "") for name in TEXTS)
        for label, value in _FIXED_LABEL.findall(str(rule.get("expr", ""))):
            if f"$labels.{label} " in shown:
                found.setdefault((label, value), place)
    return found


def action_labels(root: Path = ROOT) -> Mapping[str, str]:
    """Return the labels of suggested actions, such as `List nodes` and `Cordon {name}`."""
    found: dict[str, str] = {}
    for place, name, text in _annotations(root):
        lines = [line for line in text.splitlines() if line.strip()] if name == "actions" else []
        for label in map(label_of, lines):
            found.setdefault(label.template if isinstance(label, Sentence) else label, place)
    return found


def forms(text: str, *, is_headline: bool = False) -> Iterator[str]:
    """Yield the sentences' templates that an annotation can become."""
    annotation = annotation_template(text, is_headline=is_headline)
    for nodes in _paths(annotation.template.tree.nodes):
        form = annotation.form(nodes)
        yield _PLACEHOLDER.sub(r"{\1}", form) if is_headline else form


def _paths(body: Sequence[syntax_tree.BodyNode]) -> Iterator[Nodes]:
    for chosen in product(*(_alternatives(node) for node in body)):
        yield tuple(node for part in chosen for node in part)


def _alternatives(node: syntax_tree.BodyNode) -> list[Nodes]:
    match node:
        case syntax_tree.IfNode() | syntax_tree.WithNode():
            return [*_paths(node.then), *_paths(node.otherwise or ())]
        case syntax_tree.TextNode() | syntax_tree.ActionNode():
            return [(node,)]
        case _:
            raise ValueError(f"a rule with a {type(node).__name__}: it is no sentence")


def _annotations(root: Path) -> Iterator[tuple[str, str, str]]:
    for place, rule in _rules(root):
        for name, text in (rule.get("annotations") or {}).items():
            yield place, name, text


def _rules(root: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path in sorted((root / "alerts/packs").glob("*.yaml")):
        if not path.name.endswith(".test.yaml"):
            for group in from_yaml(path.read_text(encoding="utf-8"))["groups"]:
                for rule in group["rules"]:
                    yield path.name, rule
