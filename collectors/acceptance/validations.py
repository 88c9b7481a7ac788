"""Verdicts of other programs on a node: objects of NVSentinel, its readiness engine, and readiness rules.

NVSentinel's `ValidationRequest` (nvsentinel.nvidia.com) has a phase for all and for each group of tests; the readiness
engine's `Certification` has the conditions Succeeded and Failed; a `NodeReadinessRule` (readiness.node.x-k8s.io) asks
for conditions of nodes, and holds a taint until they are there. Nothing in the objects is trusted.

Every reader is a function from the object and what is wanted of it to a `ReadResult`; None while it is not over.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from collectors.acceptance import printed
from collectors.acceptance.reader_results import bounded_result, proves_nothing
from collectors.acceptance.readings import PartReport, PartState, ReadResult
from collectors.facts.sentences import sentence

_MOST = 256
ABOUT_NODE = "node"  # of what is wanted: the node that the object is to be about
_OVER = ("Succeeded", "Failed")
_MEETS: Mapping[str, Callable[[str | None, Sequence[str]], bool]] = {  # the operators of a label selector
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
}


def read_validation_request(found: Mapping[str, Any], wanted: Mapping[str, str]) -> ReadResult | None:
    """Return what a ValidationRequest says of the node. Groups of its first version name no nodes."""
    node, spec, status = wanted.get(ABOUT_NODE, ""), _dict(found.get("spec")), _dict(found.get("status"))
    phase = printed.name(status.get("phase"))
    if phase not in _OVER:
        return None
    is_alone = [printed.name(one.get("name")) for one in _dicts(spec.get("nodes"))] == [node]
    groups = [
        one
        for one in _dicts(status.get("testGroups"))
        if (node in _names(one["nodes"]) if "nodes" in one else is_alone)
    ]
    skipped = _dict(status.get("skipped"))
    findings = [
        PartReport(part=name, outcome=PartState.SKIPPED, said=sentence("it was skipped"))
        for name in _names(skipped.get("tests"))
    ]
    passed = 0
    for group in groups:
        if printed.name(group.get("phase")) == "Succeeded":
            passed += 1
            continue
        tests = ", ".join(_names(group.get("tests"))) or printed.name(group.get("name"))
        findings.append(
            PartReport(part=printed.name(tests), outcome=PartState.FAILED, said=_why_failed(group))
        )
    if phase == "Failed" and not any(one.outcome is PartState.FAILED for one in findings):
        said = printed.words(status.get("message")) or sentence("it failed")
        findings.append(PartReport(part="ValidationRequest", outcome=PartState.FAILED, said=said))
    if not passed and not any(one.outcome is PartState.FAILED for one in findings):
        return proves_nothing(sentence("it tested nothing on {node}", node=node))
    return bounded_result(findings=findings, passed=passed)


def _why_failed(group: Mapping[str, Any]) -> str:
    """Return why a group of tests failed: its words, or the reason of its last attempt."""
    attempts = list(_dicts(group.get("attempts")))
    reason = printed.name(attempts[-1].get("failureReason")) if attempts else ""
    return (
        printed.words(group.get("message"))
        or printed.words(group.get("reason"))
        or reason
        or printed.name(group.get("phase"))
    )


def read_certification(found: Mapping[str, Any], wanted: Mapping[str, str]) -> ReadResult | None:
    """Return what a Certification says. It selects its nodes by a label: that it is about this one is in its name."""
    conditions = {
        printed.name(one.get("type")): one for one in _dicts(_dict(found.get("status")).get("conditions"))
    }
    if printed.name(_dict(conditions.get("Failed")).get("status")) == "True":
        failed = conditions["Failed"]
        said = printed.words(failed.get("message")) or printed.name(failed.get("reason"))
        return bounded_result(
            findings=[PartReport(part="Certification", outcome=PartState.FAILED, said=said)]
        )
    if printed.name(_dict(conditions.get("Succeeded")).get("status")) == "True":
        return bounded_result(passed=1)
    return None


def read_conditions(found: Mapping[str, Any], wanted: Mapping[str, str]) -> ReadResult | None:
    """Return what the conditions of a node say, where each is to have this status; None until all have it."""
    result = judged_conditions(found, wanted)
    return result if result.has_passed else None


def judged_conditions(found: Mapping[str, Any], wanted: Mapping[str, str]) -> ReadResult:
    """Return which conditions of a node do not have the status that is wanted."""
    seen = {
        printed.name(one.get("type")): printed.name(one.get("status"))
        for one in _dicts(_dict(found.get("status")).get("conditions"))
    }
    findings: list[PartReport] = []
    for kind, status in wanted.items():
        if seen.get(kind) == status:
            continue
        said = sentence(
            "it is {seen}, and must be {wanted}", seen=seen.get(kind) or sentence("not there"), wanted=status
        )
        findings.append(PartReport(part=printed.name(kind), outcome=PartState.FAILED, said=said))
    return bounded_result(findings=findings, passed=len(wanted) - len(findings))


def conditions_asked(rules: Iterable[Mapping[str, Any]], node: Mapping[str, Any]) -> dict[str, str]:
    """Return the conditions that NodeReadinessRules ask of the node, and the status of each.

    A rule that is not enforced asks for nothing.
    """
    found: dict[str, str] = {}
    for rule in rules:
        spec = _dict(rule.get("spec"))
        if spec.get("dryRun") is True or not _selects(_dict(spec.get("nodeSelector")), node):
            continue
        for one in _dicts(spec.get("conditions")):
            if kind := printed.name(one.get("type")):
                found[kind] = printed.name(one.get("requiredStatus")) or "True"
    return dict(list(found.items())[:_MOST])


def _selects(selector: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Whether a label selector matches the node. An operator that is not known matches nothing."""
    labels = _dict(_dict(node.get("metadata")).get("labels"))
    if any(labels.get(key) != value for key, value in _dict(selector.get("matchLabels")).items()):
        return False
    for one in _dicts(selector.get("matchExpressions")):
        meets = _MEETS.get(printed.name(one.get("operator")))
        value = labels.get(printed.name(one.get("key")))
        if meets is None or not meets(value, _names(one.get("values"))):
            return False
    return True


VERDICT_READERS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, str]], ReadResult | None]] = {
    "validation-request": read_validation_request,
    "certification": read_certification,
    "conditions": read_conditions,
}


def _dict(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


def _dicts(found: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(found, list):
        yield from (one for one in found[:_MOST] if isinstance(one, dict))


def _names(found: object) -> Sequence[str]:
    return (
        [printed.name(one) for one in found[:_MOST] if isinstance(one, str)]
        if isinstance(found, list)
        else []
    )
