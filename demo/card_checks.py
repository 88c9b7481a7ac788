"""Checks of every version of every card: what a card says and suggests was so when somebody could read it. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from functools import partial
from itertools import combinations

SETTLES = timedelta(seconds=5)  # until a change of the cluster or of a row is on the cards
LOOKS = timedelta(seconds=2)  # between two looks: what ended just before a version was seen as it was
LOOKED_AT = timedelta(seconds=75)  # a card that suggests something is composed once a minute
JOINS = timedelta(seconds=15)  # until an alert is on the card of its fault

_MARKS = {"🔴": 3, "🟠": 2, "🔵": 1}
_OVER = "✅"
_RAISED = re.compile(r"\**Severity raised to (?P<severity>critical|warning|info)\b")
_RANKS = {"critical": 3, "warning": 2, "info": 1}
_NEXT = re.compile(r"\*Next:\* \*(?P<label>[^*]+)\*")
# The last is the reason that a person gave.
_QUOTED = re.compile(r"```.*?```|`[^`]*`|<[^>]*>|(?<=said that it was over: )[^.\n]*", re.DOTALL)
# What an action left behind is so now, and so is a file in the thread.
_STILL = re.compile(r"\bstill\b|^\*?Its record\b|lease is left|list is attached")
_PRESENT = re.compile(
    r"\b(is|are|has|have|does|do|cannot|can't|throttles?|fails|runs|waits|wait|needs?|reports|gives up|goes)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A message as it was after a post or an edit. `offers`: the command lines of its buttons."""

    at: datetime
    said: str
    offers: tuple[str, ...] = ()
    is_deleted: bool = False

    @property
    def title(self) -> str:
        return self.said.partition("\n")[0].strip("*")

    @property
    def severity(self) -> int:
        """The rank of the mark of an open incident's card; 0 of any other."""
        return next((rank for mark, rank in _MARKS.items() if self.title.startswith(mark)), 0)

    @property
    def is_over(self) -> bool:
        return self.title.startswith(_OVER)

    @property
    def offered(self) -> tuple[str, ...]:
        """What it suggests: the lines of its buttons, and the label of the next step."""
        return (*self.offers, *_NEXT.findall(self.said))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message with its versions, the oldest first. `incident`: of the card, or of the card that it replies to."""

    channel: str
    id: str
    versions: tuple[Version, ...]
    incident: str = ""
    is_reply: bool = False

    def at(self, moment: datetime) -> Version | None:
        """Return what it showed then; None before it was posted, or after it was deleted."""
        seen = [one for one in self.versions if one.at <= moment]
        return seen[-1] if seen and not seen[-1].is_deleted else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIncident:
    """What was known of an open incident. `said`: what its standing alerts say, and how grave each is."""

    objects: frozenset[str] = frozenset()
    said: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What was so. `already`: beginnings of lines that would change nothing, such as `node cordon gpu-a01`."""

    at: datetime
    already: frozenset[str] = frozenset()
    incidents: Mapping[str, OpenIncident] = field(default_factory=dict)


def faults_in(messages: Sequence[Shown], moments: Sequence[Moment]) -> list[str]:
    """Return what was wrong with any version of any message, each as a sentence, once."""
    found = [
        *(fault for one in messages for fault in _offered_already(one, moments)),
        *(fault for one in messages for fault in _weak_headlines(one, moments)),
        *(fault for one in messages for fault in _not_raised(one, messages)),
        *(fault for one in messages for fault in _present_tense(one)),
        *_two_cards(messages, moments),
    ]
    return list(dict.fromkeys(found))


def _offered_already(message: Shown, moments: Sequence[Moment]) -> Iterator[str]:
    """A suggestion of what was so before the version, or while it stood for longer than cards are looked at."""
    for version, ends in _lasting(message, moments):
        for line in version.offered:
            made = _always(moments, version.at - SETTLES, version.at + LOOKS, partial(_is_so, line))
            stood = (
                (not message.is_reply or line in version.offers)  # the words of a reply are of their moment
                and ends - version.at > LOOKED_AT
                and _always(moments, ends - LOOKED_AT, ends, partial(_is_so, line))
            )
            if made or stood:
                yield f"{_named(message, version)} offers `{line}`, which is already so"


def _is_so(offered: str, now: Moment) -> bool:
    """Return whether a line, or the label `Cordon gpu-a01` of one, would change nothing."""
    line = " ".join(offered.split()[:3])
    return line in now.already or any(
        one.partition(" ")[2].casefold() == offered.casefold() for one in now.already
    )


def _weak_headlines(message: Shown, moments: Sequence[Moment]) -> Iterator[str]:
    """A headline of one alert while a graver one stands, or a mark that is milder than what stands."""
    if message.is_reply:
        return
    for version, _ in _lasting(message, moments):
        if not version.severity:
            continue
        seen = [
            (moment.at, incident.said)
            for moment in _between(moments, version.at - SETTLES, version.at + LOOKS)
            if (incident := moment.incidents.get(message.incident)) is not None and incident.said
        ]
        if not any(at <= version.at for at, _ in seen):
            continue  # it is as new as this version: nobody saw what stood when that was made
        known = [said for _, said in seen]
        worst = min(max(said.values()) for said in known)  # what stood all the time
        if version.severity < min(worst, 3):
            yield f"{_named(message, version)} has the mark of a milder severity than an alert that stands"
            continue
        graver = [one for said in reversed(known) for one, gravity in said.items() if gravity >= worst]
        milder = [one for one, gravity in known[-1].items() if gravity < worst]
        if milder and _likeness(version.title, milder) > _likeness(version.title, graver):
            yield f"{_named(message, version)} says less than `{graver[0]}`, which stands"


def _likeness(title: str, texts: Iterable[str]) -> float:
    """Return how much the title is like the most similar of the texts: numbers in it differ."""
    words = _bare(title)
    return max((SequenceMatcher(None, words, _bare(one)).ratio() for one in texts), default=0.0)


def _bare(words: str) -> list[str]:
    return words.replace("`", "").strip("*🔴🟠🔵✅ .").casefold().split()


def _not_raised(message: Shown, messages: Sequence[Shown]) -> Iterator[str]:
    """A reply that the severity was raised, where the card has never been milder in that time of the incident."""
    if not message.is_reply or not message.versions:
        return
    first = message.versions[0]
    if (raised := _RAISED.match(first.said)) is None:
        return
    rank = _RANKS[raised["severity"]]
    cards = [one for one in messages if one.incident == message.incident and one.channel == message.channel]
    versions = sorted(
        (version for one in cards if not one.is_reply for version in one.versions if version.at <= first.at),
        key=lambda version: version.at,
    )
    ended = max((number for number, version in enumerate(versions) if version.is_over), default=-1)
    current = [version for version in versions[ended + 1 :] if version.severity]
    if current and all(version.severity >= rank for version in current):
        yield f"{_named(message, first)}: its card was never milder"
    before = [
        version
        for one in cards
        if one.is_reply and one.id != message.id
        for version in one.versions[:1]
        if version.at < first.at and (not versions or ended < 0 or version.at > versions[ended].at)
    ]
    if any((other := _RAISED.match(one.said)) and _RANKS[other["severity"]] >= rank for one in before):
        yield f"{_named(message, first)}: it was said before"


def _present_tense(message: Shown) -> Iterator[str]:
    """A sentence in the present tense on the card of an incident that is over, but for what an action left behind."""
    for version in message.versions:
        if message.is_reply or not version.is_over:
            continue
        for line in _QUOTED.sub("", version.said).splitlines():
            if not _STILL.search(line) and (verb := _PRESENT.search(line)):
                yield f"{_named(message, version)} is over and says `{verb[0]}`: {line.strip()}"


def _two_cards(messages: Sequence[Shown], moments: Sequence[Moment]) -> Iterator[str]:
    """Two open cards in one channel about one object, for longer than alerts take to join."""
    since: dict[tuple[str, str, str], datetime] = {}
    for moment in moments:
        shown = {
            (one.channel, one.incident)
            for one in messages
            if not one.is_reply
            and one.incident in moment.incidents
            and (version := one.at(moment.at)) is not None
            and version.severity
        }
        together = {
            (channel, first, second): moment.incidents[first].objects & moment.incidents[second].objects
            for (channel, first), (other, second) in combinations(sorted(shown), 2)
            if channel == other
        }
        since = {pair: since.get(pair, moment.at) for pair, shared in together.items() if shared}
        for (channel, first, second), began in since.items():
            if moment.at - began > JOINS:
                both = ", ".join(sorted(together[channel, first, second]))
                yield f"{channel}: {first} and {second} are two open cards about {both}"


def _lasting(message: Shown, moments: Sequence[Moment]) -> Iterator[tuple[Version, datetime]]:
    """Yield each version that was shown, and until when."""
    last = moments[-1].at if moments else message.versions[-1].at
    for version, after in zip(message.versions, [*message.versions[1:], None], strict=True):
        if not version.is_deleted:
            yield version, after.at if after is not None else max(last, version.at)


def _between(moments: Sequence[Moment], start: datetime, end: datetime) -> list[Moment]:
    return [one for one in moments if start <= one.at <= end]


def _always(
    moments: Sequence[Moment], start: datetime, end: datetime, is_so: Callable[[Moment], bool]
) -> bool:
    """Return whether it was so all the time, as far as anybody looked; it takes two looks."""
    seen = _between(moments, start, end)
    return len(seen) > 1 and all(map(is_so, seen))


def _named(message: Shown, version: Version) -> str:
    kind = "reply" if message.is_reply else "card"
    of = f" of {message.incident}" if message.incident else ""
    return f"{message.channel}: the {kind}{of}, `{version.title}`,"
