"""Annotations as sentences: what a rule's Go template says, with each value that it puts in as an argument.

`GPU {{ $labels.gpu }} is {{ if gt $value 90.0 }}hot{{ else }}warm{{ end }}.` says `GPU {gpu} is hot.` or `GPU {gpu} is
warm.`: an alternative is another sentence, and a translation is a template as any other, without Go in it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, Final

from collectors.facts.sentences import Sentence, escaped_braces
from go_templates import RenderError, parse, syntax_tree

RULE_CONTEXT: Final = "rule"
HEADLINES = frozenset({"headline", "resolved_headline"})  # with {placeholders}: see cards/headline.py
TEXTS = HEADLINES | {"summary", "message", "description", "worse_summary", "worse_description"}
_FORMS = 64  # of one template that are remembered: nobody writes so many alternatives


class AnnotationTemplate:
    """A parsed annotation. A headline without actions stays a plain string: it is no sentence before it is filled.

    `names`: what each action of the template is called as an argument, by its place."""

    def __init__(self, text: str, *, is_headline: bool = False) -> None:
        self.template = parse(text)
        names = _Names()
        for body in (self.template.tree.nodes, *self.template.tree.defined.values()):
            names.walk(body, "value")
        self.names: Mapping[int, str] = names.by_place
        self._forms: dict[tuple[int, ...], str] = {}
        self._plain: str | None = None
        if self.template.is_plain:
            is_sentence = not is_headline and _is_marked(text)
            self._plain = Sentence(text, escaped_braces(text), "", {}, RULE_CONTEXT) if is_sentence else text

    def render(self, labels: Mapping[str, str], value: float, external_url: str) -> str:
        """Return the text; a sentence unless it has loops or an error."""
        if self._plain is not None:
            return self._plain
        try:
            pieces = self.template.pieces(labels=labels, value=value, external_url=external_url)
        except RenderError as error:
            return f"<error expanding template: {error}>"
        finished = "".join([text for _, text in pieces])
        path = tuple([node.at for node, _ in pieces])
        form = self._forms.get(path)
        if form is None:
            form = self._form([node for node, _ in pieces])
            if len(self._forms) < _FORMS:
                self._forms[path] = form
        if not form:
            return finished
        names = self.names
        arguments = {names[node.at]: text for node, text in pieces if type(node) is syntax_tree.ActionNode}
        return Sentence(finished, form, "", arguments, RULE_CONTEXT)

    def _form(self, nodes: list[syntax_tree.TextNode | syntax_tree.ActionNode]) -> str:
        """Return the template of a sentence that these nodes are; empty if it is none."""
        is_loop = len({node.at for node in nodes}) < len(nodes)
        form = self.form(nodes)
        return "" if is_loop or not _is_marked(form) else form

    def form(self, nodes: Iterable[syntax_tree.TextNode | syntax_tree.ActionNode]) -> str:
        return "".join(
            escaped_braces(node.text)
            if isinstance(node, syntax_tree.TextNode)
            else f"{{{self.names[node.at]}}}"
            for node in nodes
        )


@lru_cache(maxsize=4096)
def annotation_template(text: str, *, is_headline: bool = False) -> AnnotationTemplate:
    return AnnotationTemplate(text, is_headline=is_headline)


def _is_marked(form: str) -> bool:
    """Whether its backticks can mark code: each that begins some has another that ends it."""
    return form.count("`") % 2 == 0


class _Names:
    """The names of a template's actions. Two actions that give the same have the same name, others do not."""

    def __init__(self) -> None:
        self.by_place: dict[int, str] = {}
        self._by_content: dict[str, str] = {}

    def walk(self, body: Iterable[syntax_tree.BodyNode], dot: str) -> None:
        """Name the actions of a body in which `.` is called so."""
        for node in body:
            match node:
                case syntax_tree.ActionNode():
                    self.by_place[node.at] = self._name(node.pipeline, dot)
                case syntax_tree.IfNode() | syntax_tree.WithNode() | syntax_tree.RangeNode():
                    is_with = isinstance(node, syntax_tree.WithNode)
                    self.walk(node.then, next(_mentioned(node.pipeline, dot), dot) if is_with else dot)
                    self.walk(node.otherwise or (), dot)
                case _:
                    pass  # writes nothing of its own, or what has no name

    def _name(self, pipeline: syntax_tree.PipeNode, dot: str) -> str:
        content = f"{dot} {_content(pipeline)}"
        if (known := self._by_content.get(content)) is not None:
            return known
        bare = name = next(_mentioned(pipeline, dot), "value")
        number = 1
        while name in self._by_content.values():
            number += 1
            name = f"{bare}{number}"
        self._by_content[content] = name
        return name


def _mentioned(node: Any, dot: str) -> Iterator[str]:
    """Yield the labels that a part of a template mentions, and `value`."""
    match node:
        case syntax_tree.DotNode():
            yield dot
        case syntax_tree.VariableNode():
            yield (*node.names, node.name.removeprefix("$"))[0] or "value"
        case syntax_tree.FieldNode():
            yield node.names[-1] if node.names[0] == "Labels" else node.names[0].lower()
        case tuple():
            for one in node:
                yield from _mentioned(one, dot)
        case _ if is_dataclass(node):
            for field in fields(node):
                yield from _mentioned(getattr(node, field.name), dot)
        case _:
            pass


def _content(node: Any) -> str:
    """Return what a part of a template says, wherever it stands."""
    if isinstance(node, tuple):
        return f"({' '.join(map(_content, node))})"
    if is_dataclass(node):
        parts = (getattr(node, field.name) for field in fields(node) if field.name != "at")
        return f"{type(node).__name__}[{' '.join(map(_content, parts))}]"
    return repr(node)
