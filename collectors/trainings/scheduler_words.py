"""The scheduler's reason why no node takes a pod, in fewer words. Source: its FitError, Kubernetes 1.36."""

import re

_WHOLE = re.compile(r"0/(?P<nodes>\d+) nodes are available: (?P<reasons>.+)", re.DOTALL)
_ENDS = re.compile(r"\.\s+(?:no new claims to deallocate|preemption:).*", re.DOTALL)
_REASON = re.compile(r"(?P<count>\d+) (?P<what>.+)")
_TAINT = re.compile(r"had untolerated taint(?:\(s\)|s)?(?: \{(?P<key>[^:}]+).*)?")
_KNOWN = {  # the scheduler's words after "node(s) ": for one node, and for several
    "were unschedulable": ("is cordoned", "are cordoned"),
    "didn't match Pod's node affinity/selector": ("does not match its selector", "do not match its selector"),
    "didn't match pod affinity rules": ("does not match its pod affinity", "do not match its pod affinity"),
    "didn't match pod anti-affinity rules": (
        "has pods that it must stay away from",
        "have pods that it must stay away from",
    ),
    "had volume node affinity conflict": ("cannot reach its volume", "cannot reach its volume"),
}


def explain_unschedulable(message: str) -> str:
    """Return a text like `of 18 nodes 15 lack nvidia.com/gpu, 3 are cordoned`; other messages as they are."""
    found = _WHOLE.fullmatch(message.strip())
    if found is None:
        return message
    reasons = _ENDS.sub("", found["reasons"]).strip().rstrip(".").split(", ")
    nodes = "1 node" if found["nodes"] == "1" else f"{found['nodes']} nodes"
    return f"of {nodes} {', '.join(map(_reason, reasons))}"


def _reason(words: str) -> str:
    found = _REASON.fullmatch(words)
    if found is None:
        return words
    count, what = found["count"], found["what"].removeprefix("node(s) ")
    is_one = count == "1"
    if what.startswith("Insufficient "):
        return f"{count} {'lacks' if is_one else 'lack'} {what.removeprefix('Insufficient ')}"
    if what == "Too many pods":
        return f"{count} {'is' if is_one else 'are'} full of pods"
    if taint := _TAINT.fullmatch(what):
        key = f" {taint['key']}" if taint["key"] else ""
        return f"{count} {'is' if is_one else 'are'} tainted{key}"
    if what in _KNOWN:
        return f"{count} {_KNOWN[what][0 if is_one else 1]}"
    return f"{count} {what}"
