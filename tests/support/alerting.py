"""Rules, samples and alerts for tests; each test names only what matters to it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from alerts.alert import Alert
from alerts.lifecycle import AlertLife, AlertState
from alerts.rendering import RuleRenderer
from alerts.rules import AlertTemplate, ResolveWhen, Rule, Timing
from collectors.facts.label_mapping import subject_of
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import QueryResult, Sample, Seen
from collectors.facts.topology import NodeFacts, PodFacts, Topology, TrainingFacts

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CLUSTER = "prod-a"


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def a_rule(
    name: str = "GPUTemperatureHigh",
    *,
    for_: timedelta = timedelta(),
    keep_firing_for: timedelta = timedelta(),
    severity: str = "warning",
    labels: Mapping[str, str] | None = None,
    summary: str = "{{ $labels.node }} is hot: {{ $value }}.",
    description: str = "",
    actions: tuple[str, ...] = (),
    runbook: str = "",
    resolve_when: ResolveWhen = ResolveWhen.CLEARED,
    expr: str = "heat > 83",
    presence: str | None = None,
    limit: int = 0,
) -> Rule:
    """A rule on PromQL, evaluated each minute."""
    annotations = {"summary": summary, "description": description}
    return Rule(
        id=f"gpu/heat/{name}",
        name=name,
        query=PromQLQuery(expr=expr, presence=presence),
        timing=Timing(for_=for_, keep_firing_for=keep_firing_for),
        template=AlertTemplate(
            labels={"severity": severity, **(labels or {})},
            annotations={key: value for key, value in annotations.items() if value},
            actions=actions,
            runbook=runbook,
            resolve_when=resolve_when,
        ),
        interval=minutes(1),
        limit=limit,
    )


def a_sample(value: float = 91, *, texts: tuple[str, ...] = (), **labels: str) -> Sample:
    return Sample(labels=Labels(labels or {"node": "gpu-a01"}), value=value, texts=texts)


def seen(
    *samples: Sample,
    at: datetime = NOON,
    present: tuple[Mapping[str, str], ...] | None = None,
    unread: tuple[Mapping[str, str], ...] = (),
) -> QueryResult:
    presence = None if present is None else tuple(Labels(one) for one in present)
    return Seen(
        source="prometheus",
        at=at,
        samples=samples,
        present=presence,
        unread=tuple(Labels(one) for one in unread),
    )


def a_topology() -> Topology:
    """Return two nodes of a rack, with two ranks of detr on the first and one of asr on the second."""
    ranks = (
        PodFacts(namespace="vision", name="detr-0", node="gpu-a01", training="vision/detr", gpus=8),
        PodFacts(namespace="vision", name="detr-1", node="gpu-a01", training="vision/detr", gpus=8),
        PodFacts(namespace="speech", name="asr-0", node="gpu-a02", training="speech/asr", gpus=4),
    )
    return Topology(
        cluster=CLUSTER,
        as_of=NOON,
        nodes={
            name: NodeFacts(name=name, rack="rack-a", addresses=(address,), gpus=8)
            for name, address in (("gpu-a01", "10.0.0.11"), ("gpu-a02", "10.0.0.12"))
        },
        pods={(pod.namespace, pod.name): pod for pod in ranks},
        trainings={
            "vision/detr": TrainingFacts(id="vision/detr", owner="ana", team="vision", gpus=16, ranks=2),
            "speech/asr": TrainingFacts(id="speech/asr", owner="bo", team="speech", gpus=4, ranks=1),
        },
        node_of_address={"10.0.0.11": "gpu-a01", "10.0.0.12": "gpu-a02"},
        pods_on={"gpu-a01": ranks[:2], "gpu-a02": ranks[2:]},
    )


def a_renderer(topology: Topology | None = None) -> RuleRenderer:
    known = topology or a_topology()
    return RuleRenderer(lambda: known, clean=lambda text: text)


def an_alert(
    name: str = "GPUTemperatureHigh",
    *,
    state: AlertState = AlertState.FIRING,
    severity: str = "warning",
    at: datetime = NOON,
    summary: str = "",
    topology: Topology | None = None,
    on: Mapping[str, str] | None = None,
    **labels: str,
) -> Alert:
    """Return an alert on `gpu-a01` unless labels are given (`on`, or by name); its subject comes from the labels."""
    chosen = {**(on or {}), **labels} or {"node": "gpu-a01"}
    all_labels = Labels({**chosen, "alertname": name, "severity": severity})
    own = subject_of(all_labels)
    return Alert(
        cluster=CLUSTER,
        rule=f"gpu/heat/{name}",
        labels=all_labels,
        own_subject=own,
        subject=(topology or a_topology()).complete(own),
        life=AlertLife(
            state=state,
            since=at,
            fired_at=at if state is not AlertState.PENDING else None,
            resolved_at=at if state is AlertState.RESOLVED else None,
        ),
        value=91,
        annotations={"summary": summary or f"{name} of {own.node or own.pod or own.component}."},
    )


def resolved(alert: Alert, at: datetime) -> Alert:
    return replace(alert, life=replace(alert.life, state=AlertState.RESOLVED, resolved_at=at))
