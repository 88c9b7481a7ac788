"""Rules whose checks cannot run, because the cluster or one of its kinds cannot be seen."""

from collections.abc import Mapping, Sequence

from collectors.check_catalogue import CHECKS
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import NODES, PODS
from collectors.facts.findings import Finding, unseeing
from collectors.facts.queries import CheckQuery, Query
from collectors.facts.results import Blind
from collectors.facts.sentences import sentence

_RIGHTS = sentence("`yardmaster doctor` says which right is missing, with the line of the role")
_OF_CLUSTER = frozenset({"inventory", "trainings", "configs"})
_EVERYWHERE = (NODES.name, PODS.name)  # without these there is no inventory


def blind_checks(queries: Mapping[str, Query], inventory: Inventory | Blind) -> Sequence[Finding]:
    """Return why checks of these queries, which are by their rules' names, cannot run."""
    if isinstance(inventory, Blind):
        rules = rules_without(queries)
        return [unseeing(rules, inventory.reason, _RIGHTS)] if rules else []
    found = []
    for kind, reason in sorted(inventory.missing.items()):
        if rules := rules_without(queries, kind):
            cause = sentence("{kind} cannot be seen: {reason}", kind=kind, reason=reason)
            found.append(unseeing(rules, cause, _RIGHTS))
    return found


def rules_without(queries: Mapping[str, Query], kind: str = "") -> Sequence[str]:
    """Return the rules whose checks cannot run without a kind of objects, or without the cluster."""
    own = {
        name: CHECKS[query.name]
        for name, query in queries.items()
        if isinstance(query, CheckQuery) and query.name in CHECKS
    }
    if not kind or kind in _EVERYWHERE:
        return sorted(name for name, check in own.items() if check.needs & _OF_CLUSTER)
    return sorted(name for name, check in own.items() if kind in check.kinds)
