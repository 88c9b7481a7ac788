"""The volume that an alert is about, from what the log lines of its incident name together. Pure."""

from collections.abc import Iterable
from dataclasses import replace

from alerts.incidents.incident import Member
from alerts.rules import ImpactScope
from collectors.facts.topology import ClaimFacts, Topology

_WORDS = ("device", "volume", "claim")


class LoggedVolumes:
    """The incidents with log lines about a volume, for one cycle. What ended since is still among them."""

    def __init__(self) -> None:
        self._order: dict[str, int] = {}  # of the incidents
        self._found: dict[str, set[str]] = {}  # by volume

    def add(self, incident: str, members: Iterable[Member]) -> None:
        """Add the log lines of an incident. The first call of each says its place."""
        self._order.setdefault(incident, len(self._order))
        for member in members:
            if member.is_logged and member.subject.volume:
                self._found.setdefault(member.subject.volume, set()).add(incident)

    def candidates(self, volume: str) -> Iterable[str]:
        """Return the ids of the incidents, the first first."""
        return sorted(self._found.get(volume, ()), key=self._order.__getitem__)


def with_volume(member: Member, others: Iterable[Member], topology: Topology) -> Member:
    """Return the alert with its volume's claim, and, if data is lost, with the training that writes to it.

    One line names the device, another the volume on that device, a third its claim: what they have in common connects
    them. A training is only named if no other may be meant, since it may be stopped for it. While the volume is only
    in danger, its claim is what an action is about, and whom the alert concerns stays as its rule says.
    """
    claim = claim_of(member, others, topology)
    if claim is None:
        return member
    if not member.is_worse:
        return replace(member, subject=replace(member.subject, volume=claim.name))
    training = claim.writers[0] if len(claim.writers) == 1 else ""
    facts = topology.trainings.get(training)
    subject = replace(
        member.subject,
        volume=claim.name,
        namespace=claim.name.partition("/")[0],
        training=training,
        training_name=facts.name if facts is not None else "",
        owner=facts.owner if facts is not None else "",
    )
    return replace(member, subject=subject, scope=ImpactScope.SUBJECT)


def names_volume(member: Member) -> bool:
    """Whether the alert's labels name a device, a volume or a claim: else no other line says anything of it."""
    return any(word in member.labels for word in _WORDS)


def claim_of(member: Member, others: Iterable[Member], topology: Topology) -> ClaimFacts | None:
    """Return the claim of the volume that the alert is about; None where the lines do not name it."""
    named = _connected(member, [one for one in others if one.alert != member.alert])
    return next((topology.claims[name] for name in named if name in topology.claims), None)


def _connected(member: Member, others: list[Member]) -> list[str]:
    """Return the claims and volumes that the member's line names, or lines that share a device or volume with it."""
    known = {word: name for word, name in member.labels.items() if word in _WORDS}
    while True:
        joined = [one for one in others if any(known.get(word) == name for word, name in one.labels.items())]
        found = {word: one.labels[word] for one in joined for word in _WORDS if word in one.labels}
        if found.keys() <= known.keys():
            return [known[word] for word in ("claim", "volume") if word in known]
        known = {**found, **known}
