"""The placement of a pod on a node: selectors, affinity, taints and resource requests."""

from collections.abc import Iterable

from demo.lookalikes.kubernetes.objects import Json, dig, labels_of, name_of
from demo.lookalikes.kubernetes.quantities import milli
from demo.lookalikes.kubernetes.selectors import expression_test

Amounts = dict[str, int]  # resource -> thousandths


def requested_amounts(pod: Json) -> Amounts:
    """Return what the scheduler reserves for a pod: the sum of its containers, or its largest init container."""
    spec = pod.get("spec") or {}
    total: Amounts = {}
    sidecars: Amounts = {}
    for container in spec.get("containers") or ():
        _add(total, dig(container, "resources", "requests") or {})
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        requests = dig(container, "resources", "requests") or {}
        if container.get("restartPolicy") == "Always":
            _add(sidecars, requests)
            need = dict(sidecars)
        else:
            need = dict(sidecars)
            _add(need, requests)
        for name, amount in need.items():
            peak[name] = max(peak.get(name, 0), amount)
    for name, amount in sidecars.items():
        total[name] = total.get(name, 0) + amount
    for name, amount in peak.items():
        total[name] = max(total.get(name, 0), amount)
    _add(total, spec.get("overhead") or {})
    return total


def _add(total: Amounts, requests: Json) -> None:
    for name, amount in requests.items():
        total[name] = total.get(name, 0) + milli(amount)


def tolerates(pod: Json, taint: Json) -> bool:
    """Whether one of the pod's tolerations matches the taint."""
    return any(covers(toleration, taint) for toleration in dig(pod, "spec", "tolerations") or ())


def covers(toleration: Json, taint: Json) -> bool:
    """Whether a toleration matches a taint."""
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("key") not in (None, "", taint.get("key")):
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")


def untolerated(pod: Json, node: Json, effects: Iterable[str]) -> Json | None:
    """Return the first taint of these effects that keeps the pod off the node."""
    for taint in dig(node, "spec", "taints") or ():
        if taint.get("effect") in effects and not tolerates(pod, taint):
            return dict(taint)
    return None


def matches_affinity(pod: Json, node: Json) -> bool:
    """Whether the node matches the pod's nodeSelector and required node affinity."""
    labels = labels_of(node)
    selector = dig(pod, "spec", "nodeSelector") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    required = dig(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(_matches_term(term, node) for term in required.get("nodeSelectorTerms") or ())


def _matches_term(term: Json, node: Json) -> bool:
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    named = {"metadata.name": name_of(node)}
    return all(expression_test(e)(labels_of(node)) for e in expressions) and all(
        expression_test(f)(named) for f in fields
    )
