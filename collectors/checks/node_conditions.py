"""Checks of what a node's kubelet and its problem detector report of it: conditions, and repeated events."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.cluster.base import Condition
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import EVENTS
from collectors.cluster.objects import Event
from collectors.facts.labels import Labels
from collectors.facts.patterns import compile_pattern
from collectors.facts.results import Blind, Sample

_TEXTS = 3  # messages of one sample
# Of Kubernetes itself, which other checks read.
_OWN = re.compile(r"Ready|(Memory|Disk|PID)Pressure|NetworkUnavailable")
# A type that ends so is True while all is well. One of the second kind is a state of which neither value is a fault.
_WELL = re.compile(r"(?<!Not)(Ready|Readiness|Healthy|Health|Available|OK|Ok|Up|Online|Connected|Alive)$")
_STATE = re.compile(
    r"(Configured|Initialized|Enabled|Registered|Installed|Joined|Provisioned|Succeeded|Completed|Active|Scheduled|"
    r"Attached|Valid|Passed|Synced|Running|Voter)$"
)
_FAULT = re.compile(
    r"(?i)problem|error|fail|fault|unhealthy|unavail|down$|lost|missing|dead|corrupt|degrad|hung|hang|stuck|broken|bad|"
    r"readonly|shutdown|flap|mismatch|exceed|overheat|throttl|xid|oom|leak|frequent|fatal|crash|stale|notready"
)


@partial(
    ClusterCheck,
    name="node-condition",
    summary="a node has a condition that reports a problem",
    parameters={"conditions": "DiskPressure MemoryPressure PIDPressure"},
)
def has_condition(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each node and condition that is True, with its reason and message: for how many seconds.

    `conditions`: their types, separated by spaces. All of them are reports of something wrong.
    """
    assert not isinstance(inputs.inventory, Blind)
    wanted = str(parameters["conditions"]).split()
    found = []
    for name, node in inputs.inventory.nodes.items():
        for one in node.status.conditions or ():
            if one.type not in wanted or one.status != "True":
                continue
            since = one.last_transition_time
            text = ": ".join(part for part in (one.type, one.reason, one.message) if part)
            labels = Labels({"node": name, "condition": one.type})
            seconds = (inputs.at - since).total_seconds() if since else 0
            found.append(Sample(labels=labels, value=seconds, texts=(text,)))
    return found


@partial(
    ClusterCheck,
    name="node-problem",
    summary="a problem detector reports a problem of a node in a condition of any type",
)
def has_problem(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each node and condition, of whatever type, that reports a problem: for how many seconds.

    Problem detectors set conditions of types that nobody else knows. True is a problem, unless the type says that True
    is well: then False is. Where a type says neither, it is a problem if less than half of the nodes with it agree.
    """
    assert not isinstance(inputs.inventory, Blind)
    found: list[tuple[str, Condition]] = []
    having = Counter[str]()
    for name, node in inputs.inventory.nodes.items():
        yield None
        for one in node.status.conditions or ():
            if _OWN.fullmatch(one.type) is None:
                having[one.type] += 1
                if one.status == ("False" if _WELL.search(one.type) else "True"):
                    found.append((name, one))
    reporting = Counter(one.type for _, one in found)
    for name, one in found:
        count = reporting[one.type]
        if _WELL.search(one.type):
            shown = f"{one.type}={one.status}"
        elif _FAULT.search(one.type) or (
            _STATE.search(one.type) is None and (count == 1 or 2 * count < having[one.type])
        ):
            shown = one.type
        else:
            continue
        since = one.last_transition_time
        text = ": ".join(part for part in (shown, one.reason, one.message) if part)
        seconds = (inputs.at - since).total_seconds() if since else 0
        yield Sample(labels=Labels({"node": name, "condition": shown}), value=seconds, texts=(text,))


@partial(
    ClusterCheck,
    name="node-events",
    summary="events of one kind repeat on a node or its pods",
    parameters={
        "reasons": "FailedCreatePodSandBox FailedKillPod ContainerGCFailed",
        "match": "",
        "but_not": "",
        "over_minutes": 10.0,
        "above": 4.0,
    },
    kinds={"events"},
)
def has_events(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each node with more than `above` of these events in the last minutes: how many.

    They are about the node or a pod on it. `reasons`: separated by spaces. `match`: an expression for the message.
    `but_not`: one for messages that do not count; without it, all do.
    """
    assert not isinstance(inputs.inventory, Blind)
    reasons = str(parameters["reasons"]).split()
    pattern = compile_pattern(str(parameters["match"]))
    but_not = compile_pattern(str(parameters["but_not"])) if parameters["but_not"] else None
    window = timedelta(minutes=float(parameters["over_minutes"]))
    counted: dict[str, float] = defaultdict(float)
    texts: dict[str, dict[str, None]] = defaultdict(dict)
    for event in inputs.inventory.all(EVENTS).values():
        if event.reason not in reasons or pattern.search(event.message) is None:
            continue
        if but_not is not None and but_not.search(event.message):
            continue
        times = _times_since(event, inputs.at - window)
        if times and (node := _node_of(event, inputs.inventory)):
            counted[node] += times
            texts[node][f"{event.involved_object.name}: {event.message}"] = None
    return [
        Sample(labels=Labels({"node": node}), value=round(count), texts=tuple(texts[node])[:_TEXTS])
        for node, count in counted.items()
        if round(count) > float(parameters["above"])
    ]


def _times_since(event: Event, start: datetime) -> float:
    """Return how often it happened since then: of one that began before, its share of the times."""
    last = event.last_seen
    if last is None or last < start:
        return 0
    first = event.first_timestamp or event.event_time or last
    share = 1.0 if first >= start else (last - start) / (last - first)
    return max(1.0, event.times * share)


def _node_of(event: Event, inventory: Inventory) -> str:
    about = event.involved_object
    if about.kind == "Node":
        return about.name
    pod = inventory.pods.get(f"{about.namespace}/{about.name}") if about.kind == "Pod" else None
    return event.source.host or (pod.spec.node_name if pod else "")


CHECKS = (has_condition, has_problem, has_events)
