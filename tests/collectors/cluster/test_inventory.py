"""The top controllers of pods."""

from typing import Any

import pytest

from collectors.cluster.objects import (
    Deployment,
    Job,
    ReplicaSet,
    StatefulSet,
)
from tests.support.objects import inventory, owned, pod
from tests.support.one_training import made

OWNERS = [
    (
        "a pod of a Deployment",
        [
            made(ReplicaSet, "ps-7b6f", metadata={"ownerReferences": owned("Deployment", "ps")}),
            made(Deployment, "ps"),
        ],
        "ReplicaSet",
        "ps-7b6f",
        "default/Deployment/ps",
    ),
    ("a pod of a Job", [made(Job, "worker")], "Job", "worker", "default/Job/worker"),
    (
        "a pod of a CronJob",
        [made(Job, "nightly-1", metadata={"ownerReferences": owned("CronJob", "nightly")})],
        "Job",
        "nightly-1",
        "default/CronJob/nightly",
    ),
    ("a pod of a StatefulSet", [made(StatefulSet, "db")], "StatefulSet", "db", "default/StatefulSet/db"),
    ("a pod whose ReplicaSet cannot be seen", [], "ReplicaSet", "ps-7b6f", "default/Deployment/ps"),
    ("a static pod", [], "Node", "n1", ""),
    ("a pod with an owner of an unknown kind", [], "Sparkle", "s", "default/Sparkle/s"),
    (
        "a pod with a cycle of owners",
        [made(Job, "a", metadata={"ownerReferences": owned("Job", "a")})],
        "Job",
        "a",
        "default/Job/a",
    ),
]


@pytest.mark.parametrize(
    ("above", "kind", "name", "top"), [case[1:] for case in OWNERS], ids=[case[0] for case in OWNERS]
)
def test_the_top_controller_of_a_pod_is(above: list[Any], kind: str, name: str, top: str) -> None:
    one = pod("p", ownerReferences=owned(kind, name), labels={"pod-template-hash": "7b6f"})
    seen = inventory(one, *above)
    assert seen.workload_of(one) == top
    if top:
        assert seen.pods_of(top) == (one,)


def test_a_bare_pod_has_no_controller() -> None:
    one = pod("p")
    assert inventory(one).workload_of(one) == ""
