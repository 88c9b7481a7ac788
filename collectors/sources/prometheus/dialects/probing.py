"""The queries that look a family up: its names and how they are spelled, and the labels that each job has."""

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from collectors.facts.results import Sample, Seen
from collectors.sources.prometheus.dialects.families import TARGETS, Family, Role
from collectors.sources.prometheus.dialects.query_rewriting import AUXILIARY

_PREFIX = r"(\w+_)?"  # without a colon: recorded series have labels of their own
_NONE = json.dumps("")
_LABEL = AUXILIARY + "label"


def any_of(names: Collection[str], more: str = "") -> str:
    """Return a selector of any of these metrics."""
    return "{__name__=~" + json.dumps("|".join(sorted(names))) + more + "}"


def names_query(family: Family, more: str = "") -> str:
    """Return the query for which of the names of the family's metrics are there."""
    names = {*family.probed, *family.aliases}
    names |= {alias.name for some in family.aliases.values() for alias in some}
    return f"count by (__name__) ({any_of(names, more)})"


def signature_query(family: Family, more: str = "") -> str:
    """Return the query for which of the labels each job has."""
    roles = [family.roles[role] for role in (Role.NODE, Role.POD, Role.NAMESPACE) if role in family.roles]
    labels = dict.fromkeys(name for known in roles for name in known.names) or ("job",)
    parts = []
    for name in labels:
        have = any_of(family.probed, f", {name}!={_NONE}{more}")
        parts.append(f'label_replace(count by (job) ({have}), "{_LABEL}", "{name}", "", "")')
    return " or ".join(parts)


def signature(found: Seen) -> frozenset[tuple[str, str]]:
    """Return each job with each label that it has."""
    return frozenset((one.labels.get("job", ""), one.labels.get(_LABEL, "")) for one in found.samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """What relabelling made of a family's names."""

    prefix: str = ""
    is_lower: bool = False

    def of(self, metric: str) -> str:
        return self.prefix + (metric.lower() if self.is_lower else metric)

    def family(self, family: Family) -> Family:
        """Return the family with the names of its metrics as they are spelled here."""
        if self == Spelling():
            return family
        aliases = {
            self.of(metric): tuple(
                replace(one, name=self.of(one.name), beside=frozenset(map(self.of, one.beside)))
                for one in some
            )
            for metric, some in family.aliases.items()
        }
        return replace(family, probes=tuple(map(self.of, family.probes)), aliases=aliases)


def spelling_query(family: Family, more: str = "") -> str:
    """Return the query for the probes under any name that ends like theirs; empty where that would mean little."""
    if family is TARGETS:
        return ""
    pattern = json.dumps(f"(?i){_PREFIX}({'|'.join(family.probes)})")
    return f"count by (__name__) ({{__name__=~{pattern}{more}}})"


def spelling_of(family: Family, found: Iterable[Sample]) -> Spelling:
    """Return how the names are spelled; as usual where they are not there, or there in several spellings."""
    known = {probe.lower(): probe for probe in family.probes}
    spellings: set[Spelling] = set()
    pattern = re.compile(f"{_PREFIX}({'|'.join(family.probes)})", re.IGNORECASE)
    for sample in found:
        if match := pattern.fullmatch(sample.labels.get("__name__", "")):
            prefix, name = match[1] or "", match[2]
            if name in (known[name.lower()], name.lower()):
                is_lower = name != known[name.lower()]
                spellings.add(Spelling(prefix=prefix, is_lower=is_lower))
    return spellings.pop() if len(spellings) == 1 else Spelling()
