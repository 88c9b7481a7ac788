"""Verdicts of NVSentinel, its readiness engine and readiness rules on a node, as their documentation shows the objects.

NVIDIA/NVSentinel, the page "Validation Configuration"; NVIDIA/cluster-readiness-engine, `Certification`;
kubernetes-sigs/node-readiness-controller, `NodeReadinessRule` v1alpha1.
"""

from typing import Any

from collectors.acceptance.readings import PartState
from collectors.acceptance.validations import (
    conditions_asked,
    judged_conditions,
    read_certification,
    read_conditions,
    read_validation_request,
)


def a_request(phase: str, *groups: tuple[str, str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "nvsentinel.nvidia.com/v1alpha1",
        "kind": "ValidationRequest",
        "metadata": {"name": "node-a-validation-9e957162e15e"},
        "spec": {"nodes": [{"name": "node-a"}], "tests": [test for test, _, _ in groups]},
        "status": {
            "phase": phase,
            "testGroups": [
                {
                    "name": f"{test}-group-1",
                    "provider": "k8s-job-provider",
                    "phase": of,
                    "nodes": [node],
                    "tests": [test],
                }
                for test, of, node in groups
            ],
        },
    }


def test_a_request_that_succeeded_passed_with_each_of_its_groups() -> None:
    found = a_request(
        "Succeeded",
        ("dcgm-diag-test", "Succeeded", "node-a"),
        ("nccl-loopback-nvswitch", "Succeeded", "node-a"),
        ("dcgm-diag-test", "Succeeded", "node-b"),
    )
    reading = read_validation_request(found, {"node": "node-a"})
    assert reading is not None
    assert (reading.passed, reading.has_passed) == (2, True)


def test_a_request_names_the_test_that_failed() -> None:
    found = a_request(
        "Failed", ("dcgm-diag-test", "Succeeded", "node-a"), ("nccl-loopback-nvswitch", "Failed", "node-a")
    )
    reading = read_validation_request(found, {"node": "node-a"})
    assert reading is not None
    assert [(one.part, one.said) for one in reading.failed] == [("nccl-loopback-nvswitch", "Failed")]


def test_a_request_that_runs_says_nothing_yet() -> None:
    assert (
        read_validation_request(
            a_request("Running", ("dcgm-diag-test", "Running", "node-a")), {"node": "node-a"}
        )
        is None
    )
    assert read_validation_request({"spec": {}}, {"node": "node-a"}) is None


def test_a_request_about_other_nodes_proves_nothing_of_this_one() -> None:
    reading = read_validation_request(
        a_request("Succeeded", ("dcgm", "Succeeded", "node-b")), {"node": "node-a"}
    )
    assert reading is not None
    assert reading.problem == "it tested nothing on node-a"


def test_a_certification_ends_with_one_of_two_conditions() -> None:
    def a_certification(kind: str, status: str) -> dict[str, Any]:
        one = {"type": kind, "status": status, "reason": "BelowThreshold", "message": "412 of 580 GB/s"}
        return {"kind": "Certification", "status": {"conditions": [one]}}

    passed = read_certification(a_certification("Succeeded", "True"), {})
    assert passed is not None
    assert passed.has_passed
    failed = read_certification(a_certification("Failed", "True"), {})
    assert failed is not None
    assert [one.said for one in failed.failed] == ["412 of 580 GB/s"]
    assert read_certification(a_certification("Succeeded", "False"), {}) is None
    assert read_certification({}, {}) is None


def test_groups_of_the_first_version_name_no_nodes() -> None:
    found = a_request("Failed", ("dcgm-diag-test", "Failed", "node-a"))
    (group,) = found["status"]["testGroups"]
    del group["nodes"], group["tests"]
    group["attempts"] = [{"phase": "Failed", "failureReason": "TestTimeout"}]
    reading = read_validation_request(found, {"node": "node-a"})
    assert reading is not None
    assert [(one.part, one.said) for one in reading.failed] == [("dcgm-diag-test-group-1", "TestTimeout")]


def test_a_test_that_was_skipped_is_said_and_proves_nothing() -> None:
    found = a_request("Succeeded")
    found["status"]["skipped"] = {"tests": ["nccl-all-reduce"]}
    reading = read_validation_request(found, {"node": "node-a"})
    assert reading is not None
    assert [(one.part, one.outcome) for one in reading.findings] == []
    assert reading.problem == "it tested nothing on node-a"
    found = a_request("Succeeded", ("dcgm-diag-test", "Succeeded", "node-a"))
    found["status"]["skipped"] = {"tests": ["nccl-all-reduce"]}
    reading = read_validation_request(found, {"node": "node-a"})
    assert reading is not None
    assert [(one.part, one.outcome) for one in reading.findings] == [("nccl-all-reduce", PartState.SKIPPED)]


def a_rule(selector: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "kind": "NodeReadinessRule",
        "spec": {
            "conditions": [{"type": "gpu.example.com/BurnedIn", "requiredStatus": "True"}],
            "nodeSelector": selector,
            "taint": {"key": "readiness.k8s.io/burn-in", "effect": "NoSchedule"},
            **more,
        },
    }


def a_node(status: str, pool: str = "h100") -> dict[str, Any]:
    conditions = [{"type": "gpu.example.com/BurnedIn", "status": status}] if status else []
    return {"metadata": {"labels": {"pool": pool}}, "status": {"conditions": conditions}}


def test_a_readiness_rule_asks_conditions_of_the_nodes_that_it_selects() -> None:
    asked = {"gpu.example.com/BurnedIn": "True"}
    of_pool = a_rule({"matchLabels": {"pool": "h100"}})
    assert conditions_asked([of_pool], a_node("")) == asked
    assert conditions_asked([of_pool], a_node("", pool="cpu")) == {}
    assert conditions_asked([a_rule({}, dryRun=True)], a_node("")) == {}

    def selected(operator: str, *values: str, key: str = "pool") -> bool:
        one = {"key": key, "operator": operator, "values": list(values)}
        return bool(conditions_asked([a_rule({"matchExpressions": [one]})], a_node("")))

    assert (selected("In", "h100"), selected("In", "cpu")) == (True, False)
    assert (selected("NotIn", "h100"), selected("NotIn", "cpu")) == (False, True)
    assert (selected("Exists"), selected("DoesNotExist")) == (True, False)
    assert not selected("Gt", "1"), "an operator that label selectors do not have"


def test_conditions_are_over_once_each_has_its_status() -> None:
    wanted = {"gpu.example.com/BurnedIn": "True"}
    assert read_conditions(a_node("True"), wanted) is not None
    assert read_conditions(a_node("False"), wanted) is None
    (failed,) = judged_conditions(a_node("False"), wanted).failed
    assert failed.said == "it is False, and must be True"
    (failed,) = judged_conditions(a_node(""), wanted).failed
    assert failed.said == "it is not there, and must be True"
