"""Verdicts of other programs on a node: objects of NVSentinel, its readiness engine, and readiness rules.

NVSentinel's `ValidationRequest` (nvsentinel.nvidia.com) has a phase for all and for each group of tests; the readiness
engine's `Certification` has the conditions Succeeded and Failed; a `NodeReadinessRule` (readiness.node.x-k8s.io) asks
for conditions of nodes, and holds a taint until they are there. Nothing in the objects is trusted.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collectors.acceptance.readings import (
    PartReport,
    PartState,
    ReadResult,
    bounded_result,
    printed_name,
    printed_words,
    proves_nothing,
)
from collectors.facts.sentences import sentence

_MOST = 256


def read_validation_request(found: Mapping[str, Any], node: str) -> ReadResult | None:
    """Return what a ValidationRequest says of the node; None while it is not over."""
    status = _dict(found.get("status"))
    phase = printed_name(status.get("phase"))
    groups = [one for one in _dicts(status.get("testGroups")) if node in _names(one.get("nodes"))]
    if phase not in ("Succeeded", "Failed"):
        return None
    findings: list[PartReport] = []
    passed = 0
    for group in groups:
        tests = ", ".join(_names(group.get("tests"))) or printed_name(group.get("name"))
        if printed_name(group.get("phase")) == "Succeeded":
            passed += 1
            continue
        said = (
            printed_words(group.get("message"))
            or printed_words(group.get("reason"))
            or printed_name(group.get("phase"))
        )
        findings.append(PartReport(part=printed_name(tests), outcome=PartState.FAILED, said=said))
    if phase == "Failed" and not findings:
        said = printed_words(status.get("message")) or sentence("it failed")
        findings.append(PartReport(part="ValidationRequest", outcome=PartState.FAILED, said=said))
    if not groups and not findings:
        return proves_nothing(sentence("it tested nothing on {node}", node=node))
    return bounded_result(findings=findings, passed=passed)


def read_certification(found: Mapping[str, Any]) -> ReadResult | None:
    """Return what a Certification says; None while it is not over."""
    conditions = {
        printed_name(one.get("type")): one for one in _dicts(_dict(found.get("status")).get("conditions"))
    }
    if printed_name(_dict(conditions.get("Failed")).get("status")) == "True":
        failed = conditions["Failed"]
        said = printed_words(failed.get("message")) or printed_name(failed.get("reason"))
        return bounded_result(
            findings=[PartReport(part="Certification", outcome=PartState.FAILED, said=said)]
        )
    if printed_name(_dict(conditions.get("Succeeded")).get("status")) == "True":
        return bounded_result(passed=1)
    return None


def read_readiness_rule(found: Mapping[str, Any], node: Mapping[str, Any]) -> ReadResult | None:
    """Return what a NodeReadinessRule asks of the node and finds there; None where it is not about the node."""
    spec = _dict(found.get("spec"))
    selector = _dict(_dict(spec.get("nodeSelector")).get("matchLabels"))
    labels = _dict(_dict(node.get("metadata")).get("labels"))
    if any(labels.get(key) != value for key, value in selector.items()) or spec.get("dryRun") is True:
        return None
    seen = {
        printed_name(one.get("type")): printed_name(one.get("status"))
        for one in _dicts(_dict(node.get("status")).get("conditions"))
    }
    findings: list[PartReport] = []
    passed = 0
    for one in _dicts(spec.get("conditions")):
        kind, wanted = printed_name(one.get("type")), printed_name(one.get("requiredStatus")) or "True"
        if seen.get(kind) == wanted:
            passed += 1
            continue
        said = sentence(
            "it is {seen}, and must be {wanted}", seen=seen.get(kind) or sentence("not there"), wanted=wanted
        )
        findings.append(PartReport(part=kind, outcome=PartState.FAILED, said=said))
    if not passed and not findings:
        return None
    return bounded_result(findings=findings, passed=passed)


def _dict(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


def _dicts(found: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(found, list):
        yield from (one for one in found[:_MOST] if isinstance(one, dict))


def _names(found: object) -> Sequence[str]:
    return (
        [printed_name(one) for one in found[:_MOST] if isinstance(one, str)]
        if isinstance(found, list)
        else []
    )
