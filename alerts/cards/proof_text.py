"""Text about proofs: what an incident waits for that time does not heal, and what proved that it is over. Pure."""

from datetime import datetime

from alerts.cards.text import Text, bold, joined, person, text
from alerts.incidents.events import IncidentEvent
from alerts.incidents.evidence import Proven
from alerts.incidents.grouping import place_of
from alerts.incidents.incident import Incident, Member
from alerts.incidents.recurring_faults import WITHIN, Returned
from alerts.rules import Proof
from collectors.facts.sentences import Sentence, counted, listed, sentence

MAX_CONDITIONS = 3  # alerts that wait for different things are few, but for eight GPUs of a node


def waits_for(incident: Incident) -> Text:
    """Return until when the incident stays open; empty if the end of its alerts ends it."""
    unproven = [
        tuple(_condition(member, proof) for proof in _seen_ones(member)) for member in incident.unproven
    ]
    if not unproven:
        return ()
    word = sentence("somebody says `incident resolve {incident}`.", incident=incident.id)
    if not all(unproven):  # nothing that is seen ends one of them
        return text(bold("Stays open until "), word)
    first, *others = [listed(proofs, "or") for proofs in dict.fromkeys(unproven)]
    said: Sentence = first
    for other in others[: MAX_CONDITIONS - 1]:
        said = sentence("{first}, and until {second}", first=said, second=other)
    if (more := len(others) + 1 - MAX_CONDITIONS) > 0:
        said = sentence("{conditions}, and so on for {count} more", conditions=said, count=more)
    return text(bold("Stays open until "), sentence("{conditions}, or {word}", conditions=said, word=word))


def came_back(returned: Returned) -> Text:
    """Return that the fault was repaired before, and that it is the vendor's now."""
    repaired = counted(
        "Repaired {count} time in {days} days, and it came back:",
        "Repaired {count} times in {days} days, and it came back:",
        count=returned.repairs,
        days=WITHIN.days,
    )
    advice = sentence(
        "do not reset or restart again; keep {place} out of use, and have the part replaced by the vendor.",
        place=place_of(returned.member.subject),
    )
    return text(bold(repaired), " ", advice)


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
    if _repaired_at(member):
        return [Proof.REPAIRED]  # nothing else is to be done
    return [proof for proof in member.proofs if proof is not Proof.WORD]


def _repaired_at(member: Member) -> datetime | None:
    return member.evidence.repaired_at if member.evidence else None


def _condition(member: Member, proof: Proof) -> str:
    node = member.subject.node or place_of(member.subject)
    match proof:
        case Proof.GPUS_ALLOCATABLE:
            return _gpus_allocatable(member.evidence.gpus if member.evidence else 0, node)
        case Proof.REPAIRED if at := _repaired_at(member):
            return sentence("the alert ends: {node} was repaired ({at})", node=node, at=at)
        case Proof.REPAIRED:
            return sentence("a repair of {node} has worked", node=node)
        case Proof.NODE_REBOOTED:
            return sentence("{node} has rebooted and is ready", node=node)
        case Proof.VOLUME_MOUNTED:
            return sentence("a pod that waited for the volume runs")
        case Proof.METRIC:
            return sentence("the metrics of {place} are back to normal", place=place_of(member.subject))
        case Proof.ACCEPTED:
            return sentence("{node} passes its tests (`node accept {node}`)", node=node)
        case Proof.WORD:
            return ""


def _gpus_allocatable(gpus: int, node: str) -> Sentence:
    if gpus:
        return counted(
            "the {count} GPU of {node} is allocatable again",
            "all {count} GPUs of {node} are allocatable again",
            count=gpus,
            node=node,
        )
    return sentence("all GPUs of {node} are allocatable again", node=node)


def _ended(incident: Incident, member: Member) -> bool:
    return member.proven is not None and member.proven.at >= incident.began_at


def _proved(member: Member) -> Text:
    proven = member.proven
    if proven is None:
        return ()
    if proven.who:
        return _word(proven.who, proven.who_name, proven.reason)
    said = sentence("{proof} ({at})", proof=_seen(member, proven), at=proven.since or proven.at)
    return text(said)


def _word(who: str, who_name: str, reason: str) -> Text:
    by = person(who, who_name)
    if reason:
        return text(sentence("{who} said that it was over: {reason}", who=by, reason=reason))
    return text(sentence("{who} said that it was over", who=by))


def _seen(member: Member, proven: Proven) -> str:
    node = member.subject.node or place_of(member.subject)
    if proven.is_gone:
        return sentence("{node} was no longer in the cluster", node=node)
    match proven.proof:
        case Proof.GPUS_ALLOCATABLE:
            if proven.is_rebooted:
                return counted(
                    "the {count} GPU of {node} was allocatable again after a reboot",
                    "all {count} GPUs of {node} were allocatable again after a reboot",
                    count=proven.gpus,
                    node=node,
                )
            return counted(
                "the {count} GPU of {node} was allocatable again",
                "all {count} GPUs of {node} were allocatable again",
                count=proven.gpus,
                node=node,
            )
        case Proof.REPAIRED:
            return sentence("{node} was repaired", node=node)
        case Proof.NODE_REBOOTED:
            return sentence("{node} had rebooted and was ready", node=node)
        case Proof.VOLUME_MOUNTED:
            return sentence("{pod}, which waited for the volume, ran", pod=proven.pod)
        case Proof.METRIC:
            return sentence("the metrics of {place} were back to normal", place=place_of(member.subject))
        case Proof.ACCEPTED:
            return sentence("{node} had passed its tests", node=node)
        case Proof.WORD:
            return ""
