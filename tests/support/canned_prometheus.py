"""A Prometheus that answers by the words of a query."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, QueryResult, Sample, Seen
from tests.support.routing import QuietSource


@dataclass
class CannedPrometheus(QuietSource):
    """Answers a query with the last row whose words are all in its expression, else with no samples."""

    rows: list[tuple[tuple[str, ...], tuple[tuple[dict[str, str], float], ...] | str]] = field(
        default_factory=list
    )
    queried: list[str] = field(default_factory=list)

    def say(self, *words: str, samples: Sequence[tuple[dict[str, str], float]]) -> None:
        self.rows.append((words, tuple(samples)))

    def go_blind(self, *words: str, reason: str) -> None:
        self.rows.append((words, reason))

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        self.queried.append(query.expr)
        found: tuple[tuple[dict[str, str], float], ...] | str = ()
        for words, result in self.rows:
            if all(word in query.expr for word in words):
                found = result
        if isinstance(found, str):
            return Blind(source="prometheus", at=at, reason=found)
        samples = tuple(Sample(labels=Labels(labels), value=value) for labels, value in found)
        return Seen(source="prometheus", at=at, samples=samples)
