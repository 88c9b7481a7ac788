"""Verdicts of NVSentinel, its readiness engine and readiness rules on a node, as their documentation shows the objects.

NVIDIA/NVSentinel, the page "Validation Configuration"; NVIDIA/cluster-readiness-engine, `Certification`;
kubernetes-sigs/node-readiness-controller, `NodeReadinessRule` v1alpha1.
"""

from typing import Any

from collectors.acceptance.validations import (
    read_certification,
    read_readiness_rule,
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
    reading = read_validation_request(found, "node-a")
    assert reading is not None
    assert (reading.passed, reading.has_passed) == (2, True)


def test_a_request_names_the_test_that_failed() -> None:
    found = a_request(
        "Failed", ("dcgm-diag-test", "Succeeded", "node-a"), ("nccl-loopback-nvswitch", "Failed", "node-a")
    )
    reading = read_validation_request(found, "node-a")
    assert reading is not None
    assert [(one.part, one.said) for one in reading.failed] == [("nccl-loopback-nvswitch", "Failed")]


def test_a_request_that_runs_says_nothing_yet() -> None:
    assert (
        read_validation_request(a_request("Running", ("dcgm-diag-test", "Running", "node-a")), "node-a")
        is None
    )
    assert read_validation_request({"spec": {}}, "node-a") is None


def test_a_request_about_other_nodes_proves_nothing_of_this_one() -> None:
    reading = read_validation_request(a_request("Succeeded", ("dcgm", "Succeeded", "node-b")), "node-a")
    assert reading is not None
    assert reading.problem == "it tested nothing on node-a"


def test_a_certification_ends_with_one_of_two_conditions() -> None:
    def a_certification(kind: str, status: str) -> dict[str, Any]:
        one = {"type": kind, "status": status, "reason": "BelowThreshold", "message": "412 of 580 GB/s"}
        return {"kind": "Certification", "status": {"conditions": [one]}}

    passed = read_certification(a_certification("Succeeded", "True"))
    assert passed is not None
    assert passed.has_passed
    failed = read_certification(a_certification("Failed", "True"))
    assert failed is not None
    assert [one.said for one in failed.failed] == ["412 of 580 GB/s"]
    assert read_certification(a_certification("Succeeded", "False")) is None
    assert read_certification({}) is None


def test_a_readiness_rule_is_held_against_the_conditions_of_its_nodes() -> None:
    rule = {
        "kind": "NodeReadinessRule",
        "spec": {
            "conditions": [{"type": "gpu.example.com/BurnedIn", "requiredStatus": "True"}],
            "nodeSelector": {"matchLabels": {"pool": "h100"}},
            "taint": {"key": "readiness.k8s.io/burn-in", "effect": "NoSchedule"},
        },
    }

    def a_node(status: str, pool: str = "h100") -> dict[str, Any]:
        conditions = [{"type": "gpu.example.com/BurnedIn", "status": status}] if status else []
        return {"metadata": {"labels": {"pool": pool}}, "status": {"conditions": conditions}}

    passed = read_readiness_rule(rule, a_node("True"))
    assert passed is not None
    assert passed.has_passed
    failed = read_readiness_rule(rule, a_node("False"))
    assert failed is not None
    assert [one.said for one in failed.failed] == ["it is False, and must be True"]
    missing = read_readiness_rule(rule, a_node(""))
    assert missing is not None
    assert [one.said for one in missing.failed] == ["it is not there, and must be True"]
    assert read_readiness_rule(rule, a_node("True", pool="cpu")) is None
    assert read_readiness_rule({**rule, "spec": {**rule["spec"], "dryRun": True}}, a_node("False")) is None  # type: ignore[dict-item]
