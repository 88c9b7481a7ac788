"""Advice about an XID: by its number, by what its line says, and by the incident's other XIDs. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from alerts.incidents.incident import Incident, Member
from collectors.facts.sentences import listed, sentence, word
from collectors.facts.xid_catalogue import Recovery, recovery_of, xid_of

DRIVER_SAYS = 154  # a summary of other XIDs, with the driver's own recovery action
_ADVICE: Mapping[Recovery, str] = {
    Recovery.NOTHING: "The GPU itself needs nothing.",
    Recovery.RESTART_APPLICATION: "Restart the program; the GPU itself can be used.",
    Recovery.UPDATE_DRIVER: "Update the driver, or the software of the virtual GPU.",
    Recovery.RESET_GPU: "Cordon the node, drain it, and reset the GPU.",
    Recovery.RESTART_NODE: "Cordon the node, drain it, and power it off and on: a reset does not recover the GPU.",
    Recovery.CALL_VENDOR: "Cordon the node, and have its board and cables looked at.",
}
_NOTES: Mapping[int, str] = {
    13: "If it happens on the same GPU with several programs, suspect the GPU.",
    31: "If it happens on the same GPU with several programs, suspect the GPU.",
    43: "Look for the XID before it.",
    45: "Look for the XID before it.",
    63: "The row is replaced when the GPU is reset: do that when its training ends.",
    74: "The other end of the link may be the broken one: look for the first 74 or 79 on the board.",
    109: "The device plugin goes on advertising the GPU: only a cordon keeps work away from it.",
    155: "It is expected during maintenance of the links.",
}


def number_of(labels: Mapping[str, str]) -> int:
    """Return the XID that the labels name; 0 for none."""
    text = labels.get("xid", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0


def with_advice(member: Member, labels: Mapping[str, str]) -> Member:
    """Return the alert with what its XID calls for, and with what that means unless its rule has a description."""
    number = number_of(labels)
    if not number:
        return member
    recovery = recovery_of(number, class_=labels.get("class", ""), action=labels.get("recovery", ""))
    meaning = sentence("XID {xid}: {meaning}.", xid=number, meaning=xid_of(number).meaning)
    notes = [word(_NOTES[number])] if number in _NOTES else []
    description = member.description or listed([meaning, word(_ADVICE[recovery]), *notes], ".")
    return replace(member, xid=number, recovery=recovery, description=description)


def decided(members: Iterable[Member]) -> Recovery | None:
    """Return what the XIDs of these alerts call for together; None if none is about an XID.

    What the driver says of a GPU decides if it is the newest that the log says of it; otherwise the worst decides. A
    number that only follows another one beside it never does.
    """
    found = [member for member in members if member.xid and member.recovery is not None]
    if not found:
        return None
    by_address: dict[str, list[Member]] = defaultdict(list)
    for member in found:
        by_address[member.labels.get("pci", "")].append(member)
    answers, overruled = [], set()
    for address, logged in by_address.items():
        newest = max(logged, key=lambda member: (member.since, member.xid == DRIVER_SAYS))
        if address and newest.xid == DRIVER_SAYS and newest.recovery is not None:
            answers.append(newest.recovery)
            overruled |= {member.xid for member in logged}
        elif address:
            answers.append(_worst(logged))
    if counted := [member for member in by_address.get("", ()) if member.xid not in overruled]:
        answers.append(_worst(counted, beside=found))
    return max(answers, key=lambda one: one.rank, default=Recovery.NOTHING)


def _worst(members: list[Member], *, beside: Iterable[Member] = ()) -> Recovery:
    numbers = {member.xid for member in (*members, *beside)}
    roots = [member for member in members if not _follows(member.xid, numbers)] or members
    found = (member.recovery for member in roots if member.recovery is not None)
    return max(found, key=lambda one: one.rank, default=Recovery.NOTHING)


def _follows(number: int, numbers: set[int]) -> bool:
    """Whether the number is only a consequence of another one of these."""
    xid = xid_of(number)
    if xid.follows:
        return not numbers.isdisjoint(xid.follows)
    return xid.is_follower and any(not xid_of(one).is_follower for one in numbers)


def keeps_node(incident: Incident, member: Member) -> bool:
    """Whether the alert's node may keep its work: its XIDs call for less, or a program crashed."""
    if member.recovery is None:
        return False
    here = [one for one in incident.standing or incident.members if one.subject.node == member.subject.node]
    recovery = decided(here)
    return bool(incident.crash_of) or recovery is None or not recovery.empties_the_node
