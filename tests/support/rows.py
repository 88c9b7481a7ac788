"""Rows of every table for tests: plain ones by hand, rich ones by Hypothesis."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import EnumType
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from alerts.alert import Alert
from alerts.cards.posted import CardId, CardKind, PostedCard, ThreadReply, card_id, reply_id
from alerts.cards.text import text
from alerts.lifecycle import AlertLife, AlertState
from alerts.matching import parse_matchers
from alerts.silences import Silence
from collectors.facts.labels import Labels
from collectors.facts.subjects import Subject
from commands.acceptance.acceptance import Acceptance
from commands.execution.job_runs import JobRun
from commands.models import (
    AuditEntry,
    CordonLease,
    GpuLease,
    HandledRequest,
    Launch,
    ReclaimRequest,
    TrainingNotice,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
_NAMES = st.text("abcxyz_", min_size=1, max_size=5)
_MOMENTS = st.integers(-(10**15), 10**15).map(lambda count: NOON + timedelta(microseconds=count))
_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_NAMES, inner, max_size=2),
    max_leaves=4,
)

_LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    str: _TEXTS,
    CardId: _TEXTS,
    int: st.integers(-(2**53), 2**53),
    bool: st.booleans(),
    float: st.floats(),
    type(None): st.none(),
    datetime: _MOMENTS,
    timedelta: st.timedeltas(timedelta(days=-9999), timedelta(days=9999)),
    Labels: st.dictionaries(_NAMES, _TEXTS, max_size=4).map(Labels),
}
_JSON_LEAVES = {**_LEAVES, Any: _JSON, float: st.floats(allow_nan=False, allow_infinity=False)}


def rich(kind: Any, leaves: Mapping[Any, st.SearchStrategy[Any]] = _LEAVES) -> st.SearchStrategy[Any]:
    """Return a strategy for values of this type, with Unicode, microseconds, NaN and infinities.

    A plan's steps are structs, which are JSON: they have no NaN.
    """
    if kind in leaves:
        return leaves[kind]
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{one.name: rich(hints[one.name], leaves) for one in fields(kind)})
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = get_type_hints(kind)
        return st.builds(kind, **{name: rich(hints[name], _JSON_LEAVES) for name in kind.__struct_fields__})
    if isinstance(kind, EnumType):
        return st.sampled_from(list(kind))
    parts = [rich(part, leaves) for part in get_args(kind) if part is not ...]
    if get_origin(kind) in (UnionType, Union):
        return st.one_of(*parts)
    if get_origin(kind) is tuple:
        is_long = get_args(kind)[-1] is ...
        return st.lists(parts[0], max_size=3).map(tuple) if is_long else st.tuples(*parts)
    return st.dictionaries(*parts, max_size=3)


def an_alert(
    node: str = "gpu-a04", *, state: AlertState = AlertState.FIRING, at: datetime = NOON, value: float = 91
) -> Alert:
    subject = Subject(cluster="lab", node=node)
    return Alert(
        cluster="lab",
        rule="gpu/heat/GPUTemperatureHigh",
        labels=Labels({"alertname": "GPUTemperatureHigh", "node": node, "severity": "warning"}),
        own_subject=subject,
        subject=subject,
        life=AlertLife(state=state, since=at, resolved_at=at if state is AlertState.RESOLVED else None),
        value=value,
    )


def a_card(
    of: str = "7", *, channel: str = "slack:C1", kind: CardKind = CardKind.INCIDENT, **more: Any
) -> PostedCard:
    card = PostedCard(id=card_id(kind, of, channel), cluster="lab", kind=kind, row_id=of, channel=channel)
    return replace(card, **more)


def a_line(
    card: PostedCard, event: str = "1", *, said: str = "", at: datetime = NOON, **more: Any
) -> ThreadReply:
    reply = ThreadReply(
        id=reply_id(card.id, event), cluster="lab", card=card.id, text=text(said or f"event {event}"), at=at
    )
    return replace(reply, **more)


def a_handled_request(id: str = "g1", *, at: datetime = NOON) -> HandledRequest:
    return HandledRequest(id=id, at=at)


def an_audit_entry(id: str = "a1", *, at: datetime = NOON) -> AuditEntry:
    return AuditEntry(
        id=id, cluster="lab", at=at, actor="U1", actor_name="Ann", line="node list", what="asked"
    )


def a_silence(at: datetime, matchers: str, **changes: Any) -> Silence:
    """Return a silence of half an hour."""
    row = Silence(
        id="s1",
        cluster="prod-a",
        matchers=parse_matchers(matchers),
        starts_at=at,
        ends_at=at + timedelta(minutes=30),
        by="U1",
        comment="known",
    )
    return replace(row, **changes)


def a_request(at: datetime, **changes: Any) -> ReclaimRequest:
    """Return dana's request to ana for the GPUs of a training, which may be answered for half an hour."""
    row = ReclaimRequest(
        id="c1",
        cluster="prod-a",
        training="vision/detr",
        owner="ana",
        owner_id="U_ANA",
        gpus=8,
        asked_by="U_DANA",
        asked_by_name="dana",
        asked_at=at,
        grace_until=at + timedelta(minutes=30),
    )
    return replace(row, **changes)


def a_lease(at: datetime, node: str = "gpu-a01", **changes: Any) -> CordonLease:
    """Return dana's lease of a node."""
    row = CordonLease(
        id=f"prod-a/{node}",
        cluster="prod-a",
        node=node,
        owner="U_DANA",
        owner_name="dana",
        reason="hot",
        since=at,
    )
    return replace(row, **changes)


def a_gpu_lease(at: datetime, node: str = "gpu-a01", **changes: Any) -> GpuLease:
    """Return dana's lease of a GPU, for four hours."""
    row = GpuLease(
        id=f"prod-a/{node}/gpu-3",
        cluster="prod-a",
        node=node,
        device="gpu-3",
        gpu="3",
        rule=f"yardmaster-{node}-gpu-3",
        owner="U_DANA",
        owner_name="dana",
        reason="hot",
        since=at,
        until=at + timedelta(hours=4),
    )
    return replace(row, **changes)


def a_launch(at: datetime, **changes: Any) -> Launch:
    """Return ana's launch of a training."""
    row = Launch(
        id="l1", cluster="prod-a", training="vision/detr", by="U1", by_name="ana", at=at, channel="C1"
    )
    return replace(row, **changes)


def a_notice(at: datetime, **changes: Any) -> TrainingNotice:
    """Return what ana was notified of: the failure of a training."""
    row = TrainingNotice(
        id="t1",
        cluster="prod-a",
        training="vision/Job/detr",
        name="vision/detr",
        typed="vision/detr",
        owner="ana",
        alert="a1",
        since=at,
        at=at,
        summary="Training vision/detr has failed.",
        failed_at=at,
    )
    return replace(row, **changes)


def a_job_run(**more: Any) -> JobRun:
    run = JobRun(
        id="p1/gpu-a04/repair/nvidia-uvm/0",
        cluster="prod-a",
        plan="p1",
        node="gpu-a04",
        node_uid="u1",
        script="repair/nvidia-uvm",
        namespace="yardmaster-jobs",
        job="yardmaster-gpu-a04-1",
        began_at=NOON,
        log="loaded nvidia-uvm",
    )
    return replace(run, **more)


def an_acceptance(node: str = "gpu-a04", **changes: Any) -> Acceptance:
    """Return dana's acceptance of a node with eight GPUs, whose tests run."""
    row = Acceptance(
        id=f"prod-a/{node}/1",
        cluster="prod-a",
        node=node,
        uid="u1",
        boot_id="b1",
        model="NVIDIA-H100",
        gpus=8,
        suite="yardmaster",
        by="U_DANA",
        by_name="dana",
        at=NOON,
        plan="p1",
    )
    return replace(row, **changes)
