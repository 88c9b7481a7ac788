"""The scheduler's reason why no node takes a pod, in fewer words. Source: its FitError, Kubernetes 1.36; Volcano's."""

import re
from dataclasses import dataclass

from collectors.cluster.resources import gpu_resource
from collectors.facts.sentences import counted, listed
from collectors.trainings.wait_reasons import WaitKind

_WHOLE = re.compile(r"0/(?P<nodes>\d+) nodes are (?:un)?available: (?P<reasons>.+)", re.DOTALL)
_ENDS = re.compile(r"\.\s+(?:no new claims to deallocate|preemption:).*", re.DOTALL)
_BETWEEN = re.compile(r", (?=\d+ )")  # a taint's own words may have commas
_REASON = re.compile(r"(?P<count>\d+) (?P<what>.+)", re.DOTALL)
_TAINT = re.compile(r"had (?:untolerated )?taint(?:\(s\)|s)?(?: \{(?P<key>[^:}]+).*)?", re.DOTALL)
_NODE_TROUBLE = "node.kubernetes.io/"  # taints that Kubernetes itself sets: not ready, under pressure
_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
# What the scheduler says of nodes besides lacking resources and taints.
_KINDS = (
    (re.compile(r"were unschedulable|.*node\.kubernetes\.io/unschedulable.*"), WaitKind.CORDONED),
    (re.compile(r".*(?:node affinity/selector|node selector).*"), WaitKind.SELECTOR),
    (re.compile(r"(?i).*(?:volume|persistentvolumeclaim|PVC|storage).*"), WaitKind.VOLUME),
    (re.compile(r".*(?:topology|affinity).*"), WaitKind.AFFINITY),
    (re.compile(r"(?i).*(?:resourceclaim|allocate all claims|device).*"), WaitKind.CLAIM),
    (re.compile(r"Too many pods|.*(?:free ports|hugepages).*"), WaitKind.RESOURCES),
    (re.compile(r".*(?:not ready|unreachable|unknown condition).*"), WaitKind.NODES),
)
_KNOWN = {  # the scheduler's words after "node(s) ": for one node, and for several
    "were unschedulable": ("{count} is cordoned", "{count} are cordoned"),
    "didn't match Pod's node affinity/selector": (
        "{count} does not match its selector",
        "{count} do not match its selector",
    ),
    "didn't match pod affinity rules": (
        "{count} does not match its pod affinity",
        "{count} do not match its pod affinity",
    ),
    "didn't match pod anti-affinity rules": (
        "{count} has pods that it must stay away from",
        "{count} have pods that it must stay away from",
    ),
    "had volume node affinity conflict": (
        "{count} cannot reach its volume",
        "{count} cannot reach its volume",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why some of the nodes do not take the pod: how many, and what of them. `what`: a resource, or a taint."""

    kind: WaitKind
    count: int
    text: str
    what: str = ""

    @property
    def is_of_control_plane(self) -> bool:
        return self.kind is WaitKind.TAINT and self.what in _CONTROL_PLANE


def refusals_of(message: str) -> tuple[int, tuple[Refusal, ...]]:
    """Return how many nodes there are and why they do not take the pod; 0 and nothing for another message."""
    found = _WHOLE.fullmatch(message.strip())
    if found is None:
        return 0, ()
    nodes = int(found["nodes"])
    return nodes, tuple(_refusal(words, nodes) for words in _split(found["reasons"]))


def explain_unschedulable(message: str) -> str:
    """Return a text like `of 18 nodes, 2 are cordoned, 15 have too little cpu free`; other messages as they are."""
    found = _WHOLE.fullmatch(message.strip())
    if found is None:
        return message
    return counted(
        "of {count} node, {reasons}",
        "of {count} nodes, {reasons}",
        count=int(found["nodes"]),
        reasons=listed(map(_reason, _split(found["reasons"]))),
    )


def _split(reasons: str) -> list[str]:
    return _BETWEEN.split(_ENDS.sub("", reasons).strip().rstrip("."))


def _refusal(words: str, nodes: int) -> Refusal:
    """Return one; words without a number are about all nodes, as those of an unbound volume are."""
    found = _REASON.fullmatch(words)
    count, what = (int(found["count"]), found["what"]) if found else (nodes, words)
    what = what.removeprefix("node(s) ")
    text = _reason(words)
    if what.startswith("Insufficient "):
        lacking = what.removeprefix("Insufficient ")
        kind = WaitKind.GPUS if gpu_resource(lacking) else WaitKind.RESOURCES
        return Refusal(kind=kind, count=count, text=text, what=lacking)
    if taint := _TAINT.fullmatch(what):
        key = taint["key"] or ""
        kind = WaitKind.TAINT
        if key.startswith(_NODE_TROUBLE):
            kind = WaitKind.CORDONED if key.endswith("/unschedulable") else WaitKind.NODES
        return Refusal(kind=kind, count=count, text=text, what=key)
    kind = next((kind for pattern, kind in _KINDS if pattern.fullmatch(what)), WaitKind.UNKNOWN)
    return Refusal(kind=kind, count=count, text=text)


def _reason(words: str) -> str:
    found = _REASON.fullmatch(words)
    if found is None:
        return words
    count, what = int(found["count"]), found["what"].removeprefix("node(s) ")
    if what.startswith("Insufficient "):
        lacking = what.removeprefix("Insufficient ")
        return counted(
            "{count} has too little {resource} free",
            "{count} have too little {resource} free",
            count=count,
            resource=lacking,
        )
    if what == "Too many pods":
        return counted("{count} is full of pods", "{count} are full of pods", count=count)
    if taint := _TAINT.fullmatch(what):
        if not taint["key"]:
            return counted("{count} is tainted", "{count} are tainted", count=count)
        return counted(
            "{count} is tainted {taint}", "{count} are tainted {taint}", count=count, taint=taint["key"]
        )
    if what in _KNOWN:
        one, many = _KNOWN[what]
        return counted(one, many, count=count)
    return f"{count} {what}"
