"""The scheduler's reason is said in fewer words, and never lost."""

import pytest

from collectors.cluster.gpu_claims import NO_CLAIMS
from collectors.trainings.ranks import rank_of
from collectors.trainings.scheduler_words import explain_unschedulable
from tests.support.objects import pod

WHOLE = (
    "0/18 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 2 node(s) were "
    "unschedulable, 15 Insufficient nvidia.com/gpu. no new claims to deallocate, preemption: 0/18 nodes are available: "
    "3 Preemption is not helpful for scheduling, 15 No preemption victims found for incoming pod."
)
SHORT = (
    "of 18 nodes, 1 is tainted node.kubernetes.io/unreachable, 2 are cordoned, "
    "15 have too little nvidia.com/gpu free"
)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        pytest.param(WHOLE, SHORT, id="the whole message"),
        pytest.param(
            "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
            "of 1 node, 1 has too little nvidia.com/gpu free",
            id="short",
        ),
        pytest.param(
            "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 node(s) didn't match Pod's node "
            "affinity/selector. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.",
            "of 4 nodes, 1 is tainted, 3 do not match its selector",
            id="taints and selectors",
        ),
        pytest.param(
            "0/2 nodes are available: 2 Too many pods.", "of 2 nodes, 2 are full of pods", id="pods"
        ),
        pytest.param(
            "0/2 nodes are available: 2 node(s) were on the moon.",
            "of 2 nodes, 2 were on the moon",
            id="unknown",
        ),
        pytest.param("running PreBind plugin failed", "running PreBind plugin failed", id="another message"),
        pytest.param("", "", id="no message"),
    ],
)
def test_the_reason_is_said_in_fewer_words(message: str, words: str) -> None:
    assert explain_unschedulable(message) == words


def test_a_rank_that_waits_has_the_short_reason() -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": WHOLE}
    waiting = pod("w-0", status={"phase": "Pending", "conditions": [condition]})
    rank = rank_of(waiting, "worker", 0, NO_CLAIMS)
    assert (rank.reason, rank.explanation) == ("Unschedulable", SHORT)
