"""Templates for other packages: parse once, render often."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from go_templates import execution, parser, syntax_tree
from go_templates.functions import FUNCTIONS, Environment, QueryFunction
from go_templates.template_errors import RenderError, TemplateError
from go_templates.values import AlertData, Names

LONGEST = 64 * 1024  # characters of a template


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A parsed template. `is_plain`: it has no actions, so it always renders to the same text."""

    text: str
    tree: syntax_tree.Tree

    @property
    def is_plain(self) -> bool:
        return all(isinstance(node, syntax_tree.TextNode) for node in self.tree.nodes)

    def render(
        self,
        *,
        labels: Mapping[str, str],
        value: float,
        external_url: str = "",
        external_labels: Mapping[str, str] | None = None,
        query: QueryFunction | None = None,
        now: datetime | None = None,
    ) -> str:
        """Return the text for an alert with these labels and value; a missing label is the empty string.

        Never raise because of the template or the labels: like Prometheus, return
        `<error expanding template: …>`, so that an error in a template does not lose an alert. `query` answers
        PromQL within the template; its exceptions pass through.
        """
        try:
            pieces = self.pieces(
                labels=labels,
                value=value,
                external_url=external_url,
                external_labels=external_labels,
                query=query,
                now=now,
            )
        except RenderError as error:
            return f"<error expanding template: {error}>"
        return "".join([text for _, text in pieces])

    def pieces(
        self,
        *,
        labels: Mapping[str, str],
        value: float,
        external_url: str = "",
        external_labels: Mapping[str, str] | None = None,
        query: QueryFunction | None = None,
        now: datetime | None = None,
    ) -> execution.Pieces:
        """Return what `render` joins: each text with the node that it is of. Raise RenderError."""
        world = Environment(query=query, external_url=external_url, now=now.timestamp() if now else None)
        dot = AlertData(
            labels=Names(labels),
            external_labels=Names(external_labels or {}),
            external_url=external_url,
            value=float(value),
        )
        variables = {
            "$labels": dot.labels,
            "$externalLabels": dot.external_labels,
            "$externalURL": external_url,
            "$value": dot.value,
        }
        return execution.render_tree(self.tree, dot, variables, world)


def parse(text: str) -> Template:
    """Parse a template. Raise TemplateError with line and column, also for an unknown function."""
    if len(text) > LONGEST:
        raise TemplateError(f"longer than {LONGEST} characters", line=1, column=1)
    return Template(text=text, tree=parser.parse_tree(text, functions=FUNCTIONS))
