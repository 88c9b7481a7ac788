"""The rows with which a card of each kind reads all that it depends on."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from alerts.cards.posted import CardImage, CardKind
from alerts.incidents.events import IncidentEventType
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident, Standing
from alerts.rules import Severity
from bot.cards.card_kind import CardContext
from collectors.facts.topology import Topology
from commands.execution.plan import Origin, PlanState, in_order
from commands.execution.record_steps import record
from commands.gates.remediation import RemediationState
from commands.gates.window import WindowNotice
from commands.gpu.reclaim_requests import request_step
from commands.models import DailyReminder, LogFollow, ReclaimState
from tests.support.execution import plan_of
from tests.support.grouping import add_alert
from tests.support.remediations import a_breaker, a_remediation
from tests.support.rows import (
    NOON,
    a_card,
    a_gpu_lease,
    a_job_run,
    a_launch,
    a_lease,
    a_notice,
    a_request,
    a_silence,
    an_acceptance,
    an_alert,
)

CONTEXT = CardContext(rules=dict, training=lambda *_: None, blind=lambda *_: {})

FAILED_PLAN = replace(
    plan_of(), id="i1", cluster="lab", origin=Origin(incident="i1"), confirmed_at=NOON, state=PlanState.FAILED
)
LEASE = a_lease(NOON, "gpu-i1", id="lab/gpu-i1", cluster="lab")
GPU_LEASE = a_gpu_lease(NOON, "gpu-i1", id="lab/gpu-i1/3", cluster="lab")
REQUEST = a_request(NOON, cluster="lab")
RECORDING_PLAN = replace(
    FAILED_PLAN,
    stages=in_order(
        record("leases", LEASE, text="record the lease"),
        record("gpu_leases", GPU_LEASE, text="record the lease of a GPU"),
        request_step(REQUEST, text="request", before=REQUEST),
    ),
)
SILENCE = a_silence(NOON, "", ends_at=NOON + timedelta(hours=1), comment="new fans")


def an_incident(id: str, node: str) -> Incident:
    alert = an_alert(node)
    opened = open_incident(id, alert, channels=("C1",), now=NOON)
    return add_alert(opened, alert, GroupingContext(rules={}, topology=Topology(cluster="lab")), NOON)


def a_critical_incident(id: str, node: str) -> Incident:
    found = an_incident(id, node)
    return replace(found, members=tuple(replace(one, severity=Severity.CRITICAL) for one in found.members))


def a_parent(id: str) -> ParentIncident:
    standing = Standing(
        severity=Severity.WARNING, gravity=2, incidents=1, open_incidents=1, nodes=1, open_nodes=1
    )
    parent = ParentIncident(
        id=id, cluster="lab", key="rack/r1", name="r1", opened_at=NOON, joined_at=NOON, standing=standing
    )
    return parent.with_event(IncidentEventType.OPENED, NOON)


A_MEMBER = replace(an_incident("i2", "gpu-i2"), parent="i1")

# For each kind, the rows with which the card of "i1" reads every type that it depends on.
FULL: Mapping[CardKind, tuple[Any, ...]] = {
    CardKind.PARENT: (a_parent("i1"), A_MEMBER, replace(SILENCE, cluster="lab")),
    CardKind.INCIDENT: (
        replace(an_incident("i1", "gpu-i1"), parent="i9"),  # whose row was deleted: it shows itself
        an_alert("gpu-i1"),
        FAILED_PLAN,
        replace(SILENCE, cluster="lab"),
        LEASE,
        CardImage(
            id=a_card("i1").id,
            cluster="lab",
            card=a_card("i1").id,
            incident="i1",
            file="F1",
            alt="Highest 109.",
            resolved_at=None,
        ),
    ),
    CardKind.PLAN: (
        RECORDING_PLAN,
        replace(a_job_run(), plan="i1", cluster="lab"),
        an_acceptance(plan="i1", cluster="lab"),
    ),
    CardKind.RECLAIM_REQUEST: (
        a_request(
            NOON,
            id="i1",
            cluster="lab",
            owner_id="U1",
            asked_by="U2",
            asked_by_name="Dana",
            state=ReclaimState.FREED,
        ),
    ),
    CardKind.LAUNCH: (
        a_launch(NOON, id="i1", cluster="lab", by_name="Ann", plan="i1", failed_at=NOON, failed_on="gpu-i1"),
        a_critical_incident("i1", "gpu-i1"),
        FAILED_PLAN,
    ),
    CardKind.WINDOW: (WindowNotice(id="i1", window="night", at=NOON, has_begun=True),),
    CardKind.REMEDIATION: (
        a_remediation(id="i1", cluster="lab", incident="i1", state=RemediationState.TRIAL),
        a_critical_incident("i1", "gpu-i1"),
        LEASE,
        FAILED_PLAN,
    ),
    CardKind.BREAKER: (
        replace(a_breaker(), id="i1", cluster="lab"),
        replace(a_remediation(), cluster="lab", breaker="i1", state=RemediationState.STOPPED),
    ),
    CardKind.LOG_FOLLOW: (
        LogFollow(
            id="i1",
            cluster="lab",
            training="vision/Job/detr",
            name="vision/detr, worker 0",
            namespace="vision",
            pod="detr-0",
            by="U1",
            by_name="ana",
            at=NOON,
            until=NOON,
        ),
    ),
    CardKind.DAILY_LEASES: (DailyReminder(id="i1", owner="U1", owner_name="ana", at=NOON),),
    CardKind.TRAINING_NOTICE: (
        a_notice(NOON, id="i1", cluster="lab", plan="i1", nodes=("gpu-i1",)),
        a_critical_incident("i1", "gpu-i1"),
        FAILED_PLAN,
    ),
}
