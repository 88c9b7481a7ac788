"""The verdict on a node: what its tests said, held against what its model reached before."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from alerts.lifecycle import AlertState
from collectors.acceptance.readings import MeasuredFigure, NextStep, PartReport, PartState, ReadResult
from collectors.facts.labels import Labels
from commands.acceptance.acceptance import Acceptance, AcceptanceState
from commands.acceptance.judgement import NodeUnderTest, SuiteResult, judged, next_steps, withdrawn
from tests.support.rows import an_acceptance, an_alert

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HERE = NodeUnderTest(uid="u1", boot_id="b1")
PASSED = ReadResult(passed=8, gpus=8)


def figure(value: float, gpu: int | None = None, name: str = "memory copy") -> MeasuredFigure:
    return MeasuredFigure(name=name, unit="GB/s", value=value, gpu=gpu)


def of_fleet(*values: float, name: str = "memory copy", gpu: int | None = 0) -> list[Acceptance]:
    return [
        an_acceptance(
            f"gpu-b{number:02}",
            state=AcceptanceState.ACCEPTED,
            ended_at=NOON,
            figures=(figure(value, gpu, name),),
        )
        for number, value in enumerate(values)
    ]


def judge(
    *tests: SuiteResult, earlier: list[Acceptance] | None = None, node: NodeUnderTest | None = HERE
) -> Acceptance:
    return judged(an_acceptance(), tests, earlier or [], node=node, now=NOON, watched_for=timedelta(hours=1))


def test_a_node_whose_tests_passed_is_accepted_and_watched() -> None:
    one = judge(SuiteResult(name="driver", reading=PASSED), earlier=of_fleet(1300, 1310))
    assert one.is_proof
    assert (one.compared, one.is_first) == (2, False)
    assert one.watched_until == NOON + timedelta(hours=1)


def test_the_first_node_of_a_model_is_accepted_and_said_to_be_the_first() -> None:
    other = replace(of_fleet(2000)[0], model="NVIDIA-B200")
    one = judge(SuiteResult(name="copy", reading=replace(PASSED, figures=(figure(900, 3),))), earlier=[other])
    assert one.is_proof
    assert one.is_first


def test_a_gpu_below_nine_tenths_of_the_median_is_slow_and_named() -> None:
    reading = replace(PASSED, figures=(figure(1300, 2), figure(1102, 3), figure(1200, 4)))
    one = judge(SuiteResult(name="nccl", reading=reading), earlier=of_fleet(1300, 1310, 1330))
    assert one.state is AcceptanceState.SLOW
    assert one.reasons == ("GPU 3: memory copy 1102 GB/s, 84 % of the median of its model (1310)",)


@pytest.mark.parametrize(("value", "state"), [(1179.1, "accepted"), (1178.9, "slow")])
def test_nine_tenths_are_enough(value: float, state: str) -> None:
    reading = replace(PASSED, figures=(figure(value, 3),))
    assert judge(SuiteResult(name="nccl", reading=reading), earlier=of_fleet(1310)).state == state


def test_a_cost_is_slow_above_the_median() -> None:
    latency = MeasuredFigure(name="dns", unit="ms", value=12, is_cost=True)
    before = [replace(one, figures=(replace(latency, value=4),)) for one in of_fleet(1, 2)]
    one = judge(SuiteResult(name="network", reading=replace(PASSED, figures=(latency,))), earlier=before)
    assert one.reasons == ("the node: dns 12 ms, 33 % of the median of its model (4)",)


def test_a_slow_gpu_of_the_first_node_is_found_among_the_others_of_its_node() -> None:
    reading = replace(PASSED, figures=tuple(figure(700 if gpu == 5 else 1300, gpu) for gpu in range(8)))
    one = judge(SuiteResult(name="nccl", reading=reading))
    assert one.reasons == (
        "GPU 5: memory copy 700 GB/s, 54 % of what the other GPUs of this node reach (1300)",
    )


def test_a_node_is_not_compared_with_itself_or_with_nodes_that_were_slow() -> None:
    slow = [replace(one, state=AcceptanceState.SLOW) for one in of_fleet(1310)]
    before = [*slow, replace(of_fleet(1310)[0], node="gpu-a04", id="prod-a/gpu-a04/0")]
    one = judge(SuiteResult(name="nccl", reading=replace(PASSED, figures=(figure(900, 3),))), earlier=before)
    assert one.is_first


def test_a_part_that_failed_is_the_verdict_with_its_next_steps() -> None:
    broken = PartReport(
        part="memory", gpu=3, outcome=PartState.FAILED, said="a DBE", next_step=NextStep.RESET
    )
    worse = PartReport(part="PCIe", outcome=PartState.FAILED, next_step=NextStep.REPLACE)
    one = judge(
        SuiteResult(name="dcgm", reading=replace(PASSED, findings=(broken, worse))),
        SuiteResult(name="nccl", not_run="its image is not there"),
    )
    assert one.state is AcceptanceState.FAILED
    assert one.reasons == ("memory of GPU 3: a DBE", "PCIe")
    assert next_steps(one) == (NextStep.REPLACE, NextStep.RESET)


def test_a_test_that_hangs_fails_the_node_and_calls_for_a_reboot() -> None:
    one = judge(SuiteResult(name="nccl", hung="it did not end within 20m"))
    assert one.state is AcceptanceState.FAILED
    assert one.reasons == ("nccl: it did not end within 20m",)
    assert next_steps(one) == (NextStep.REBOOT,)


@pytest.mark.parametrize(
    "test",
    [
        SuiteResult(name="dcgm", not_run="its image is not there"),
        SuiteResult(name="dcgm"),
        SuiteResult(name="dcgm", reading=ReadResult(problem="its output ends in the middle", passed=3)),
        SuiteResult(name="dcgm", reading=ReadResult()),
    ],
    ids=["not run", "no result", "unreadable", "nothing passed"],
)
def test_what_proves_nothing_is_no_pass(test: SuiteResult) -> None:
    one = judge(SuiteResult(name="driver", reading=PASSED), test)
    assert one.state is AcceptanceState.UNTESTED
    assert one.reasons[0].startswith("dcgm: ")


def test_an_acceptance_without_a_test_is_no_pass() -> None:
    assert judge().reasons == ("no test has run",)


def test_a_gpu_that_is_missing_fails_the_node() -> None:
    one = judge(SuiteResult(name="driver", reading=ReadResult(passed=7, gpus=7)))
    assert one.reasons == ("GPU: 7 of its 8 GPUs are seen",)


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (None, "gpu-a04 has left the cluster"),
        (NodeUnderTest(uid="u2", boot_id="b1"), "another node has its name by now"),
        (NodeUnderTest(uid="u1", boot_id="b2"), "it was rebooted while it was tested"),
    ],
)
def test_a_node_that_was_replaced_or_rebooted_meanwhile_is_not_accepted(
    node: NodeUnderTest | None, reason: str
) -> None:
    one = judge(SuiteResult(name="driver", reading=PASSED), node=node)
    assert (one.state, one.reasons) == (AcceptanceState.UNTESTED, (reason,))


def test_another_version_than_most_others_is_a_warning() -> None:
    before = [replace(one, versions={"driver": "580.1"}) for one in of_fleet(1, 2, 3)]
    one = judge(
        SuiteResult(name="driver", reading=replace(PASSED, versions={"driver": "535.2"})), earlier=before
    )
    assert one.is_proof
    assert [(finding.part, finding.outcome, finding.said) for finding in one.findings] == [
        ("driver", PartState.WARNED, "535.2, and the others of its model have 580.1")
    ]


@pytest.mark.parametrize(
    ("name", "after", "is_withdrawn"),
    [
        ("GPUThermalThrottling", timedelta(minutes=5), True),
        ("GPUXIDError", timedelta(minutes=60), True),
        ("GPUThermalThrottling", timedelta(minutes=61), False),
        ("GPUThermalThrottling", timedelta(minutes=-1), False),
        ("KubePodCrashLooping", timedelta(minutes=5), False),
    ],
)
def test_an_alert_soon_after_a_pass_withdraws_it(name: str, after: timedelta, is_withdrawn: bool) -> None:
    accepted = judge(SuiteResult(name="driver", reading=PASSED))
    alert = an_alert("gpu-a04")
    alert = replace(
        alert,
        labels=Labels({**alert.labels, "alertname": name}),
        life=replace(alert.life, state=AlertState.FIRING, fired_at=NOON + after),
    )
    found = withdrawn(accepted, [alert], NOON + timedelta(hours=2))
    assert (found is not None) is is_withdrawn
    elsewhere = replace(alert, subject=replace(alert.subject, node="gpu-z99"))
    assert withdrawn(accepted, [elsewhere], NOON + timedelta(hours=2)) is None
    if found is not None:
        assert found.state is AcceptanceState.WITHDRAWN
        assert found.reasons[0].startswith(f"it passed, and {name} fired ")
