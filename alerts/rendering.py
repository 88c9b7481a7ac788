"""This file words alerts: labels, annotations and subject of a sample, as its rule says. Pure."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from alerts.rules import Rule
from alerts.templates import Template, parse
from collectors.facts.label_mapping import subject_of
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology


class RuleRenderer:
    """Words one cluster's alerts. `clean` takes secrets out of what is rendered from outside text."""

    def __init__(
        self, topology: Callable[[], Topology], *, clean: Callable[[str], str], external_url: str = ""
    ) -> None:
        self._topology = topology
        self._clean = clean
        self._external_url = external_url

    def labels(self, rule: Rule, sample: Sample) -> Labels:
        """The sample's labels without its metric name, then the rule's, then alertname; a later one wins."""
        seen = sample.labels.without("__name__")
        own = {
            name: self._rendered(value, seen, sample.value) for name, value in rule.template.labels.items()
        }
        return Labels({**seen, **own, "alertname": rule.name})

    def annotations(self, rule: Rule, labels: Labels, sample: Sample) -> Mapping[str, str]:
        seen = sample.labels.without("__name__")
        return {
            name: self._clean(self._rendered(value, {**labels, **seen}, sample.value))
            for name, value in rule.template.annotations.items()
        }

    def subject(self, labels: Labels) -> Subject:
        return subject_of(labels)

    def complete(self, subject: Subject) -> Subject:
        return self._topology().complete(subject)

    def has_node(self, subject: Subject) -> bool | None:
        nodes = self._topology().nodes
        return subject.node in nodes if nodes else None

    def _rendered(self, text: str, labels: Mapping[str, str], value: float) -> str:
        template = _parsed(text)
        return (
            text
            if template.is_plain
            else template.render(labels=labels, value=value, external_url=self._external_url)
        )


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Template:
    return parse(text)
