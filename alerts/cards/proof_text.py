"""What an incident waits for that time does not heal, and what proved that it is over, in words. Pure."""

from alerts.cards.text import Text, bold, code, joined, moment, person, text
from alerts.incidents.events import IncidentEvent
from alerts.incidents.evidence import Proven
from alerts.incidents.grouping import place_of
from alerts.incidents.incident import Incident, Member
from alerts.incidents.recurring_faults import WITHIN, Returned
from alerts.rules import Proof

MAX_CONDITIONS = 3  # alerts that wait for different things are few, but for eight GPUs of a node


def waits_for(incident: Incident) -> Text:
    """Return until when the incident stays open; empty if the end of its alerts ends it."""
    unproven = [
        tuple(_condition(member, proof) for proof in _seen_ones(member)) for member in incident.unproven
    ]
    if not unproven:
        return ()
    word = text("somebody says ", code(f"incident resolve {incident.id}"), ".")
    if not all(unproven):  # nothing that is seen ends one of them
        return text(bold("Stays open until "), word)
    conditions = [joined(" or ", proofs) for proofs in dict.fromkeys(unproven)]
    more = len(conditions) - MAX_CONDITIONS
    shown = joined(", and until ", conditions[:MAX_CONDITIONS])
    rest = text(f", and so on for {more} more") if more > 0 else ()
    return text(bold("Stays open until "), shown, rest, ", or ", word)


def came_back(returned: Returned) -> Text:
    """Return that the fault was repaired before, and that it is the vendor's now."""
    place = place_of(returned.member.subject)
    return text(
        bold(f"Repaired {returned.repairs} times in {WITHIN.days} days, and back: "),
        f"do not reset or restart again; keep {place} out of use, and have the part replaced by the vendor.",
    )


def what_proved(incident: Incident) -> Text:
    """Return what proved that the incident is over, the last if several did; empty if nothing had to."""
    said = [member for member in incident.members if _ended(incident, member)]
    last = max(
        said, key=lambda member: member.proven.at if member.proven else incident.began_at, default=None
    )
    return _proved(last) if last is not None else ()


def proved_then(incident: Incident, event: IncidentEvent) -> Text:
    """Return what proved then that a fault is over: what was seen, or who said so."""
    if event.who:
        return _word(event.who, event.who_name, event.text)
    then = (member for member in incident.members if member.proven and member.proven.at == event.at)
    return joined(", ", dict.fromkeys(_proved(member) for member in then))


def _seen_ones(member: Member) -> list[Proof]:
    return [proof for proof in member.proofs if proof is not Proof.WORD]


def _condition(member: Member, proof: Proof) -> Text:
    node = member.subject.node or place_of(member.subject)
    match proof:
        case Proof.GPUS_ALLOCATABLE:
            known = member.evidence.gpus if member.evidence else 0
            if known:
                return text(f"all {known} GPUs of {node} are allocatable again")
            return text(f"all GPUs of {node} are allocatable again")
        case Proof.NODE_REBOOTED:
            return text(f"{node} was rebooted and is ready")
        case Proof.VOLUME_MOUNTED:
            return text("a pod runs that waited for the volume")
        case Proof.METRIC:
            return text(f"the metrics of {place_of(member.subject)} are well again")
        case Proof.WORD:
            return ()


def _ended(incident: Incident, member: Member) -> bool:
    return member.proven is not None and member.proven.at >= incident.began_at


def _proved(member: Member) -> Text:
    proven = member.proven
    if proven is None:
        return ()
    if proven.who:
        return _word(proven.who, proven.who_name, proven.reason)
    return text(_seen(member, proven), " since ", moment(proven.since or proven.at))


def _word(who: str, who_name: str, reason: str) -> Text:
    said = text(person(who, who_name), " says that it is over")
    return text(said, f": {reason}") if reason else said


def _seen(member: Member, proven: Proven) -> Text:
    node = member.subject.node or place_of(member.subject)
    if proven.is_gone:
        return text(f"{node} is no longer in the cluster")
    match proven.proof:
        case Proof.GPUS_ALLOCATABLE:
            if proven.is_rebooted:
                return text(f"all {proven.gpus} GPUs of {node} are allocatable again after a reboot")
            return text(f"all {proven.gpus} GPUs of {node} are allocatable again")
        case Proof.NODE_REBOOTED:
            return text(f"{node} was rebooted and is ready")
        case Proof.VOLUME_MOUNTED:
            return text(f"{proven.pod}, which waited for the volume, runs")
        case Proof.METRIC:
            return text(f"the metrics of {place_of(member.subject)} are well again")
        case Proof.WORD:
            return ()
