"""What explains an incident besides its headline: what follows from the lead, and the other alerts. Pure."""

from collections.abc import Mapping

from alerts.cards.headline import group_headline
from alerts.cards.text import Text, bold, code, joined, moment, text
from alerts.incidents.incident import Incident, Member
from alerts.incidents.totals import Totals

MEMBERS_SHOWN = 5


def detail_of(incident: Incident) -> Text:
    """What follows from the lead, what its log line names, and when it was logged if that is over."""
    lead = incident.lead
    says = lead.description if incident.is_open else ""  # what to do is over, too
    if incident.crash_of and incident.is_open:
        says = (
            "The same XID on every node is a fault of the training or of what it shares, not of so many GPUs."
        )
    parts = [text(" ".join(says.split()))] if says else []
    if lead.is_worse and (names := named_by_logs(incident)):
        named = joined(", ", (text(f"{word} ", code(it)) for word, it in names.items()))
        parts.append(text("Logged ", moment(lead.since), ": ", named, "."))
    elif incident.is_open and lead.is_logged and not lead.is_firing:
        parts.append(text("Logged ", moment(lead.since), "; nothing shows that it is over."))
    return joined(" ", parts)


def named_by_logs(incident: Incident) -> Mapping[str, str]:
    """Return what the log lines of the incident name besides its subject, where they agree."""
    found: dict[str, set[str]] = {}
    for member in incident.standing or incident.members:
        for word, it in member.labels.items() if member.is_logged else ():
            found.setdefault(word, set()).add(it)
    if incident.lead.subject.volume:
        found["claim"] = {incident.lead.subject.volume}
    known = set(incident.subject.without("volume").words().values())
    return {word: next(iter(its)) for word, its in found.items() if len(its) == 1 and not its & known}


def other_alerts(incident: Incident) -> Text:
    """The alerts of other rules: one example and a count for each rule, those that stand first.

    A milder rule over what the lead measures is left out: it would say the headline again.
    """
    lead = incident.lead
    by_rule: dict[str, list[Member]] = {}
    for member in sorted(
        incident.members,
        key=lambda member: (
            not member.is_firing,
            not incident.stands(member),
            -member.severity.rank,
            member.since,
        ),
    ):
        if member.name != lead.name and not _measures_the_same(member, lead):
            by_rule.setdefault(member.name, []).append(member)
    if not by_rule:
        return ()
    shown = [_rule_example(incident, members) for members in list(by_rule.values())[:MEMBERS_SHOWN]]
    more = f"; and {len(by_rule) - len(shown)} more rules" if len(by_rule) > len(shown) else ""
    return text(bold("Also: "), joined("; ", shown), more)


def many_alerts(incident: Incident) -> Text:
    """Return how many alerts it has and where they are listed, where the card names only the first; empty for few."""
    if incident.totals is None:
        return ()
    count = incident.totals.members
    said = text(f"It has {count} alerts: ", code(f"incident show {incident.id} --page 1"), " lists them.")
    if not incident.is_crowded:
        return said
    return text(said, " More cannot be kept, so others are left out.")


def _measures_the_same(member: Member, lead: Member) -> bool:
    """Whether both rules measure one thing of one subject. Two counts may be equal by chance, two fractions are not."""
    is_alike = member.subject == lead.subject and member.is_firing == lead.is_firing
    return is_alike and member.value == lead.value and not float(member.value).is_integer()


def _rule_example(incident: Incident, members: list[Member]) -> Text:
    first = members[0]
    mark: Text = ()
    if incident.is_open and not first.is_firing:
        word = "logged " if first.is_logged else "not proven over, since "
        mark = text(word, moment(first.since), ": ") if incident.stands(first) else text("✓ ")
    alike = [one for one in members if one.is_firing == first.is_firing]
    every = incident.totals
    totals = (every.firing if first.is_firing else every.over).get(first.name) if every is not None else None
    if (said := group_headline(incident, alike, totals)) is not None:
        return text(mark, said)
    count = len(members) if every is None else _count(every, first.name)
    more = f" (and {count - 1} more)" if count > 1 else ""
    return text(mark, first.summary.rstrip("."), more)


def _count(totals: Totals, name: str) -> int:
    return sum(groups[name].count for groups in (totals.firing, totals.over) if name in groups)
