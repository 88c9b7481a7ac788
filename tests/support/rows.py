"""Rows of every table for tests: plain ones by hand, rich ones by Hypothesis."""

from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import EnumType
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from alerts.alert import Alert
from alerts.cards.message import text
from alerts.cards.posted import CardId, CardKind, PostedCard, ThreadReply, card_id, reply_id
from alerts.lifecycle import AlertLife, AlertState
from collectors.facts.labels import Labels
from collectors.facts.subjects import Subject
from commands.models import AuditEntry, HandledRequest
from commands.plans.object_refs import ObjectRef
from commands.plans.preconditions import Precondition
from commands.plans.steps import Create, Delete, Evict, Patch, Record, Scale, Step, Wait

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
_BODIES = st.dictionaries(_NAMES, _JSON, max_size=3)
_REFS = st.builds(ObjectRef, api=_TEXTS, kind=_TEXTS, name=_TEXTS, namespace=_TEXTS, uid=_TEXTS)
_STEPS = st.one_of(
    st.builds(
        Patch,
        ref=_REFS,
        description=_TEXTS,
        body=_BODIES,
        requires=st.lists(
            st.builds(Precondition, path=st.lists(_TEXTS, max_size=2).map(tuple), equals=_JSON), max_size=2
        ).map(tuple),
        undo=st.none() | _BODIES,
    ),
    st.builds(Create, manifest=_BODIES, description=_TEXTS, is_secret=st.booleans()),
    st.builds(Delete, ref=_REFS, description=_TEXTS),
    st.builds(Evict, ref=_REFS, description=_TEXTS),
    st.builds(Scale, ref=_REFS, description=_TEXTS, replicas=st.integers(0, 9), expected=st.integers(0, 9)),
    st.builds(Wait, ref=_REFS, description=_TEXTS, equals=_JSON, at_least=st.none() | st.floats(0, 9)),
    st.builds(Record, table=_TEXTS, id=_TEXTS, description=_TEXTS, row=st.none() | _BODIES),
)


_LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    str: _TEXTS,
    CardId: _TEXTS,
    int: st.integers(-(2**53), 2**53),
    bool: st.booleans(),
    float: st.floats(),
    type(None): st.none(),
    datetime: _MOMENTS,
    Labels: st.dictionaries(_NAMES, _TEXTS, max_size=4).map(Labels),
    Step: _STEPS,
}


def rich(kind: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for values of this type, with Unicode, microseconds, NaN and infinities."""
    if kind in _LEAVES:
        return _LEAVES[kind]
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{one.name: rich(hints[one.name]) for one in fields(kind)})
    if isinstance(kind, EnumType):
        return st.sampled_from(list(kind))
    parts = get_args(kind)
    if get_origin(kind) in (UnionType, Union):
        return st.one_of(*map(rich, parts))
    if get_origin(kind) is tuple:
        if parts[-1] is ...:
            return st.lists(rich(parts[0]), max_size=3).map(tuple)
        return st.tuples(*map(rich, parts))
    return st.dictionaries(rich(parts[0]), rich(parts[1]), max_size=3)


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
