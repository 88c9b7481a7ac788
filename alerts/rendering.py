"""Labels, annotations and subject of an alert, rendered from its rule and sample. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

from alerts.annotation_template import HEADLINES, TEXTS, annotation_template
from alerts.rules import Rule
from collectors.facts.label_mapping import subject_of
from collectors.facts.labels import Labels
from collectors.facts.one_line import SENTENCE, one_line
from collectors.facts.results import Sample
from collectors.facts.sentences import Sentence
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology
from go_templates import Template, parse


class RuleRenderer:
    """Renders one cluster's alerts. `clean` removes secrets from rendered annotations."""

    def __init__(
        self, topology: Callable[[], Topology], *, clean: Callable[[str], str], external_url: str = ""
    ) -> None:
        self._topology = topology
        self._clean = clean
        self._external_url = external_url

    def labels(self, rule: Rule, sample: Sample) -> Labels:
        """Merge the sample's labels without its metric name, the rule's, and alertname; later ones win."""
        own = {name: self._rendered(value, sample) for name, value in rule.template.labels.items()}
        return Labels({**sample.labels.without("__name__"), **own, "alertname": rule.name})

    def annotations(self, rule: Rule, sample: Sample) -> Mapping[str, str]:
        """Render the rule's annotations. Each label is one line in them: only the rule's author breaks lines."""
        if not rule.template.annotations:
            return {}
        labels = Labels({name: one_line(value, SENTENCE) for name, value in sample.labels.pairs})
        shown = replace(sample, labels=labels)
        return {
            name: self._said(name, text, shown) if name in TEXTS else self._clean(self._rendered(text, shown))
            for name, text in rule.template.annotations.items()
        }

    def subject(self, labels: Labels) -> Subject:
        return subject_of(labels)

    def complete(self, subject: Subject) -> Subject:
        return self._topology().complete(subject)

    def has_node(self, subject: Subject) -> bool | None:
        nodes = self._topology().nodes
        return subject.node in nodes if nodes else None

    def _said(self, name: str, text: str, sample: Sample) -> str:
        template = annotation_template(text, is_headline=name in HEADLINES)
        said = template.render(sample.labels, sample.value, self._external_url)
        return said.cleaned(self._clean) if isinstance(said, Sentence) else self._clean(said)

    def _rendered(self, text: str, sample: Sample) -> str:
        """Render a template. As in Prometheus, `$labels` is the query's sample: with its metric name, and without
        alertname and the rule's labels."""
        template = _parsed(text)
        return (
            text
            if template.is_plain
            else template.render(labels=sample.labels, value=sample.value, external_url=self._external_url)
        )


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Template:
    return parse(text)
