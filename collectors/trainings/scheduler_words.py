"""The scheduler's reason why no node takes a pod, in fewer words. Source: its FitError, Kubernetes 1.36."""

import re

from collectors.facts.sentences import counted, listed

_WHOLE = re.compile(r"0/(?P<nodes>\d+) nodes are available: (?P<reasons>.+)", re.DOTALL)
_ENDS = re.compile(r"\.\s+(?:no new claims to deallocate|preemption:).*", re.DOTALL)
_REASON = re.compile(r"(?P<count>\d+) (?P<what>.+)")
_TAINT = re.compile(r"had untolerated taint(?:\(s\)|s)?(?: \{(?P<key>[^:}]+).*)?")
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


def explain_unschedulable(message: str) -> str:
    """Return a text like `of 18 nodes, 2 are cordoned, 15 have too little cpu free`; other messages as they are."""
    found = _WHOLE.fullmatch(message.strip())
    if found is None:
        return message
    reasons = _ENDS.sub("", found["reasons"]).strip().rstrip(".").split(", ")
    return counted(
        "of {count} node, {reasons}",
        "of {count} nodes, {reasons}",
        count=int(found["nodes"]),
        reasons=listed(map(_reason, reasons)),
    )


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
