"""Counts of `rule doctor`: after how many trials a person did the same, or the opposite."""

from dataclasses import replace
from datetime import datetime, timedelta

from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Origin, Plan, PlanState, in_order
from commands.execution.steps import Patch
from commands.gates.remediation import Remediation, RemediationState
from commands.rule.trials import RemediationCount, remediation_counts
from tests.support.execution import plan_of
from tests.support.remediations import NOON, a_remediation


def a_plan(minutes: int, *, node: str = "gpu-a01", cordons: bool = True, **changes: object) -> Plan:
    step = Patch(
        ref=ObjectRef(api="v1", kind="Node", name=node),
        body={"spec": {"unschedulable": cordons}},
        description="cordon it",
    )
    at = NOON + timedelta(minutes=minutes)
    plan = replace(plan_of(), stages=in_order(step), state=PlanState.DONE, confirmed_at=at)
    return replace(plan, **changes)  # type: ignore[arg-type]


def counted(one: Remediation, *plans: Plan, now: datetime = NOON) -> RemediationCount:
    return remediation_counts([one], plans, now).get(one.rule, RemediationCount())


TRIAL = a_remediation(state=RemediationState.TRIAL, is_trial=True)


def test_a_person_who_cordons_the_node_did_the_same() -> None:
    assert counted(TRIAL, a_plan(10)) == RemediationCount(trials=1, same=1)


def test_a_person_who_puts_the_node_back_did_the_opposite() -> None:
    assert counted(TRIAL, a_plan(10, cordons=False)) == RemediationCount(trials=1, opposite=1)


def test_what_does_not_answer_it_does_not_count() -> None:
    others = (
        a_plan(-10),
        a_plan(25 * 60),
        a_plan(10, node="gpu-a02"),
        a_plan(10, state=PlanState.FAILED),
        a_plan(10, origin=Origin(remediation="r9")),
    )
    assert counted(TRIAL, *others) == RemediationCount(trials=1)


def test_what_ran_was_undone_by_the_undo_of_its_plan_and_the_rest_is_held() -> None:
    ran = a_remediation(plan="p9")
    assert counted(ran, a_plan(10, cordons=False, undo_of="p9")) == RemediationCount(ran=1, undone=1)
    assert counted(a_remediation(state=RemediationState.STOPPED)) == RemediationCount(held=1)
    assert counted(ran, now=NOON + timedelta(days=8)) == RemediationCount()
