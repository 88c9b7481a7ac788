"""Remains of actions and silences: they stay on the resolved card, with the button that ends them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.alert import Alert
from alerts.cards.incident_context import IncidentContext
from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.matching import parse_matchers
from alerts.silences import Silence
from collectors.cluster.inventory import Inventory
from collectors.trainings.training import Training
from commands.acceptance.acceptance import Acceptance, AcceptanceState
from commands.acceptance.suites import AcceptancePolicy
from commands.core.node_script import NodeJobDefaults
from commands.core.testable_nodes import NodeTests, node_tests
from commands.incident.card_context import incident_context
from commands.incident.cordons_left import still_cordoned, still_cordoned_gpu
from commands.incident.seen_cluster import SeenCluster
from tests.support.alerting import CLUSTER, NOON, a_topology, an_alert, minutes
from tests.support.grouping import add_alert
from tests.support.memory_store import MemoryStore
from tests.support.objects import inventory, node
from tests.support.rows import a_gpu_lease, a_lease, an_acceptance

HOT = an_alert(node="gpu-a01")
OVER = NOON + minutes(9)
LEASE = a_lease(
    NOON + minutes(5), owner="U1", owner_name="Dana", reason="GPU hot", until=NOON + timedelta(hours=4)
)
GPU_LEASE = a_gpu_lease(
    NOON + minutes(5), owner="U1", owner_name="Dana", reason="throttles", until=NOON + timedelta(hours=4)
)
PASSED = an_acceptance(
    "gpu-a01",
    cluster=CLUSTER,
    at=NOON + minutes(6),
    ended_at=NOON + minutes(7),
    state=AcceptanceState.ACCEPTED,
)
SILENCE = Silence(
    id="s1",
    cluster=CLUSTER,
    matchers=parse_matchers('node="gpu-a01"'),
    starts_at=NOON,
    ends_at=NOON + timedelta(hours=1),
    by="U1",
    comment="new fans",
)


class Seen:
    """A cluster with gpu-a01, since its boot with the id of `an_acceptance`."""

    def inventory(self) -> Inventory:
        return inventory(node("gpu-a01", uid="u1", status={"nodeInfo": {"bootID": "b1"}}))

    def trainings(self) -> Sequence[Training]:
        return ()


async def left_by(*rows: object, is_open: bool = False, seen: SeenCluster | None = None) -> IncidentContext:
    grouping = GroupingContext(rules={}, topology=a_topology())
    opened = open_incident("i1", HOT, channels=("C1",), now=NOON)
    incident = replace(add_alert(opened, HOT, grouping, NOON), resolved_at=None if is_open else OVER)
    store = MemoryStore()
    async with store.unit() as unit:
        await unit.rows(Incident).put(incident)
        await unit.rows(Alert).put(HOT)
        for row in rows:
            await unit.rows(type(row)).put(row)  # type: ignore[type-var]
    async with store.read() as snapshot:
        return await incident_context(incident, snapshot, rules={}, now=OVER, cluster=seen)


@pytest.mark.parametrize(
    ("row", "said", "line"),
    [
        (
            LEASE,
            "gpu-a01 is still cordoned until 2026-03-02 16:00 UTC: GPU hot, by Dana.",
            "node uncordon gpu-a01",
        ),
        (
            replace(LEASE, since=NOON - minutes(9), incident="i1"),
            "gpu-a01 is still cordoned until 2026-03-02 16:00 UTC: GPU hot, by Dana.",
            "node uncordon gpu-a01",
        ),
        (
            replace(LEASE, since=NOON - minutes(9), incident="i0"),
            "gpu-a01 is still cordoned until 2026-03-02 16:00 UTC: GPU hot, by Dana.",
            "node uncordon gpu-a01",
        ),
        (SILENCE, "Its alerts are still silenced until 2026-03-02 13:00 UTC: s1.", "silence expire s1"),
        (
            replace(SILENCE, matchers=(), incident="i1"),
            "Its alerts are still silenced until 2026-03-02 13:00 UTC: s1.",
            "silence expire s1",
        ),
    ],
    ids=[
        "its cordon",
        "a cordon from its card",
        "a cordon of an earlier incident",
        "a silence of its alerts",
        "a silence of it",
    ],
)
async def test_what_is_still_open_is_kept_with_its_button(row: object, said: str, line: str) -> None:
    (left,) = (await left_by(row)).still_open

    assert (plain(left.text), left.button.line) == (said, line)
    assert (await left_by(row, is_open=True)).still_open == ()


async def test_a_node_whose_gpu_had_a_fault_is_offered_a_test_before_it_returns() -> None:
    (left,) = (await left_by(LEASE)).still_open
    assert [button.line for button in left.buttons] == ["node accept gpu-a01", "node uncordon gpu-a01"]
    (lifted,) = (await left_by(replace(LEASE, lifted_at=OVER))).still_open
    assert [button.line for button in lifted.buttons] == ["node uncordon gpu-a01"]


@pytest.mark.parametrize(
    ("tested", "said", "offers_a_test"),
    [
        pytest.param(PASSED, "; accepted 2026-03-02 12:07 UTC", False, id="passed"),
        pytest.param(
            replace(PASSED, boot_id="b0"), "; not accepted since it was rebooted", True, id="rebooted since"
        ),
        pytest.param(
            replace(PASSED, state=AcceptanceState.FAILED),
            "; last tested 2026-03-02 12:07 UTC: failed",
            True,
            id="failed",
        ),
        pytest.param(
            replace(PASSED, state=AcceptanceState.RUNNING, ended_at=None),
            "; it is being tested",
            False,
            id="in progress",
        ),
        pytest.param(replace(PASSED, at=NOON), ", by Dana.", True, id="of before the cordon"),
        pytest.param(replace(PASSED, device="gpu-3"), ", by Dana.", True, id="of one GPU of it"),
    ],
)
async def test_what_the_newest_test_says_is_shown_and_a_passed_one_is_not_offered_again(
    tested: Acceptance, said: str, offers_a_test: bool
) -> None:
    (left,) = (await left_by(LEASE, tested, seen=Seen())).still_open
    assert plain(left.text).endswith(said)
    assert (left.first is not None) is offers_a_test


async def test_a_gpu_that_passed_its_test_alone_is_not_offered_one_again() -> None:
    (left,) = (await left_by(GPU_LEASE, replace(PASSED, device="gpu-3", gpu="3"), seen=Seen())).still_open
    assert plain(left.text).endswith("by Dana; accepted 2026-03-02 12:07 UTC")
    assert [button.line for button in left.buttons] == ["gpu uncordon gpu-a01 3"]


async def test_a_test_is_offered_only_with_images_and_else_why_not() -> None:
    tests = node_tests(AcceptancePolicy(), NodeJobDefaults())
    left = still_cordoned(LEASE, is_tested=True, tests=tests)
    assert [button.line for button in left.buttons] == ["node uncordon gpu-a01"]
    said = plain(left.text).replace("`", "")
    assert said.endswith(" node accept cannot test it: the settings name no images for the tests.")
    assert node_tests(AcceptancePolicy(), NodeJobDefaults(image="registry.example/tests:1")) == NodeTests()


async def test_a_gpu_that_is_still_cordoned_can_be_tested_where_the_suite_has_a_test_of_one() -> None:
    (left,) = (await left_by(GPU_LEASE)).still_open
    assert [button.line for button in left.buttons] == ["gpu accept gpu-a01 3", "gpu uncordon gpu-a01 3"]
    for tests in (NodeTests(of_one_gpu=False), NodeTests(lack="an image")):
        left = still_cordoned_gpu(GPU_LEASE, tests=tests)
        assert [button.line for button in left.buttons] == ["gpu uncordon gpu-a01 3"]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(replace(LEASE, id="x", node="gpu-a02"), id="a cordon of another node"),
        pytest.param(replace(SILENCE, matchers=parse_matchers('node="gpu-a02"')), id="a silence of others"),
        pytest.param(replace(SILENCE, ends_at=OVER), id="a silence that ended"),
        pytest.param(
            replace(SILENCE, matchers=(), incident="i1", is_until_over=True), id="a silence that ends with it"
        ),
    ],
)
async def test_what_is_not_left_by_it_is_not_shown(row: object) -> None:
    assert (await left_by(row)).still_open == ()
