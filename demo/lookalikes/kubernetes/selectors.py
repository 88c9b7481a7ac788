"""Label and field selectors, from query strings and from objects, as predicates."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from demo.lookalikes.kubernetes.errors import RefusedError, bad_request
from demo.lookalikes.kubernetes.kinds import Kind
from demo.lookalikes.kubernetes.objects import Json, dig, labels_of

Labels = Mapping[str, str]
LabelTest = Callable[[Labels], bool]
ObjectTest = Callable[[Json], bool]

_KEY = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_REQUIREMENT = re.compile(
    rf"""\s*(?:
        (?P<absent>!\s*(?P<absent_key>{_KEY}))
      | (?P<key>{_KEY})\s*(?:
            (?P<operator>==|!=|=|<|>)\s*(?P<value>[-A-Za-z0-9_.]*)
          | (?P<set>in|notin)\s*\((?P<values>[^()]*)\)
        )?
    )\s*(?:,|$)""",
    re.VERBOSE,
)

# The fields that the real server can select by, besides metadata.name and metadata.namespace.
_FIELDS: dict[str, tuple[str, ...]] = {
    "pods": (
        "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
        "status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName",
    ),
    "events": (
        "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
        "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
        "reason", "reportingComponent", "source", "type",
    ),
    "nodes": ("spec.unschedulable",),
    "namespaces": ("status.phase",),
    "secrets": ("type",),
    "services": ("spec.clusterIP", "spec.type"),
    "jobs.batch": ("status.successful",),
    "replicasets.apps": ("status.replicas",),
}  # fmt: skip


def labels_test(text: str) -> LabelTest:
    """Return the test of a `labelSelector`, or refuse with 400 one that cannot be parsed."""
    tests: list[LabelTest] = []
    position = 0
    while position < len(text):
        found = _REQUIREMENT.match(text, position)
        if found is None or found.end() == position:
            raise bad_request(f"unable to parse requirement: found {text[position:]!r} in {text!r}")
        tests.append(_requirement_test(found))
        position = found.end()
    return lambda labels: all(test(labels) for test in tests)


def _requirement_test(found: re.Match[str]) -> LabelTest:
    if key := found["absent_key"]:
        return lambda labels: key not in labels
    key = found["key"]
    if found["set"]:
        values = {value.strip() for value in found["values"].split(",")}
        if found["set"] == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    match found["operator"], found["value"]:
        case None, _:
            return lambda labels: key in labels
        case "!=", value:
            return lambda labels: labels.get(key) != value
        case ("<" | ">") as sign, value:
            return lambda labels: _compares(labels.get(key), sign, value)
        case _, value:
            return lambda labels: labels.get(key) == value


def _compares(have: str | None, sign: str, want: str) -> bool:
    try:
        left, right = int(have or ""), int(want)
    except ValueError:
        return False
    return left < right if sign == "<" else left > right


def selector_test(selector: Json | None) -> LabelTest:
    """Return the test of a `metav1.LabelSelector`: None selects nothing, an empty one everything."""
    if selector is None:
        return lambda labels: False
    wanted: dict[str, str] = selector.get("matchLabels") or {}
    expressions = [expression_test(e) for e in selector.get("matchExpressions") or ()]
    return lambda labels: (
        all(labels.get(key) == value for key, value in wanted.items())
        and all(test(labels) for test in expressions)
    )


def expression_test(expression: Json) -> LabelTest:
    """Return the test of one `{key, operator, values}`, of a label selector or of a node affinity term."""
    key = str(expression.get("key", ""))
    values = [str(value) for value in expression.get("values") or ()]
    match expression.get("operator"):
        case "In":
            return lambda labels: labels.get(key) in values
        case "NotIn":
            return lambda labels: labels.get(key) not in values
        case "Exists":
            return lambda labels: key in labels
        case "DoesNotExist":
            return lambda labels: key not in labels
        case "Gt":
            return lambda labels: _compares(labels.get(key), ">", values[0])
        case "Lt":
            return lambda labels: _compares(labels.get(key), "<", values[0])
        case unknown:
            raise bad_request(f'"{unknown}" is not a valid label selector operator')


def selector_text(selector: Json | None) -> str:
    """Return a `metav1.LabelSelector` in the syntax of a query string."""
    selector = selector or {}
    terms = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for e in selector.get("matchExpressions") or ():
        values = ",".join(sorted(e.get("values") or ()))
        forms = {
            "In": f"{e['key']} in ({values})",
            "NotIn": f"{e['key']} notin ({values})",
            "Exists": e["key"],
        }
        terms.append(forms.get(e["operator"], f"!{e['key']}"))
    return ",".join(terms)


def fields_test(kind: Kind, text: str) -> ObjectTest:
    """Return the test of a `fieldSelector`, or refuse an unknown field with 400 as the real server does."""
    tests: list[ObjectTest] = []
    for term in filter(None, (part.strip() for part in text.split(","))):
        found = re.fullmatch(r"([^=!]+?)\s*(==|!=|=)\s*(.*)", term)
        if found is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        field, operator, value = found.groups()
        if field not in ("metadata.name", "metadata.namespace", *_FIELDS.get(kind.listing, ())):
            raise _unsupported(field)
        tests.append(_field_test(tuple(field.split(".")), value, wanted=operator != "!="))
    return lambda tree: all(test(tree) for test in tests)


def _field_test(path: tuple[str, ...], value: str, *, wanted: bool) -> ObjectTest:
    return lambda tree: (_as_text(_field(tree, path)) == value) is wanted


def _field(tree: Json, path: tuple[str, ...]) -> Any:
    if path == ("source",):
        return dig(tree, "source", "component") or tree.get("reportingComponent")
    if path in (("spec", "unschedulable"), ("spec", "hostNetwork")):
        return dig(tree, *path) or False
    return dig(tree, *path)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _unsupported(field: str) -> RefusedError:
    return bad_request(f"field label not supported: {field}")


def selection(kind: Kind, label_selector: str, field_selector: str) -> ObjectTest | None:
    """Return one test for both selectors, or None when both are empty."""
    if not label_selector and not field_selector:
        return None
    by_label = labels_test(label_selector)
    by_field = fields_test(kind, field_selector)
    return lambda tree: by_label(labels_of(tree)) and by_field(tree)
