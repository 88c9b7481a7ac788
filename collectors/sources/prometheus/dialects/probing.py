"""The queries that look up a family's dialect."""

import json
from collections.abc import Collection

from collectors.facts.results import Seen
from collectors.sources.prometheus.dialects.families import Family, Role
from collectors.sources.prometheus.dialects.promql_rewriting import AUXILIARY

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
