"""The explanation of an incident besides its headline: what follows from the lead, and the other alerts. Pure."""

from collections.abc import Mapping

from alerts.cards.headline import group_headline
from alerts.cards.text import Text, bold, code, joined, text
from alerts.incidents.incident import Incident, Member
from alerts.incidents.ladders import implied
from alerts.incidents.totals import Totals
from collectors.facts.sentences import Sentence, counted, headline_of, listed, sentence

MEMBERS_SHOWN = 5


def detail_of(incident: Incident, *, is_advised: bool = False) -> Text:
    """What follows from the lead, what its log line names, and when it was logged if that is over.

    `is_advised`: the card says what to do by its history, which the rule's advice does not know.
    """
    lead = incident.lead
    says = lead.description if incident.is_open and not is_advised else ""  # what to do is over, too
    if incident.crash_of and incident.is_open:
        says = sentence(
            "The same XID on every node is a fault of the training or of what it shares, not of so many GPUs."
        )
    line = " ".join(says.split())
    parts = [text(says if line == says else line)] if says else []
    if lead.is_worse and (names := named_by_logs(incident)):
        named = listed(text(f"{label} ", code(it)) for label, it in names.items())
        parts.append(text(sentence("Logged {at}: {named}.", at=lead.since, named=named)))
    elif incident.is_open and lead.is_logged and not lead.is_firing:
        parts.append(text(sentence("Logged {at}; nothing shows that it is over.", at=lead.since)))
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
    """The alerts of other rules: one example and a count for each rule, the worst of those that stand first.

    A milder degree of what another one says is left out.
    """
    lead, said_already = incident.lead, implied(incident)
    by_rule: dict[str, list[Member]] = {}
    for member in sorted(
        incident.members,
        key=lambda member: (
            not member.is_firing,
            not incident.stands(member),
            -member.gravity,
            member.since,
        ),
    ):
        if member.name != lead.name and member.alert not in said_already:
            by_rule.setdefault(member.name, []).append(member)
    if not by_rule:
        return ()
    shown = [_rule_example(incident, members) for members in list(by_rule.values())[:MEMBERS_SHOWN]]
    said: Sentence = listed(shown, ";")
    if more := len(by_rule) - len(shown):
        said = counted(
            "{rules}; and {count} more rule", "{rules}; and {count} more rules", rules=said, count=more
        )
    return text(bold("Also: "), said)


def many_alerts(incident: Incident) -> Text:
    """Return how many alerts it has and where they are listed, where the card names only the first; empty for few."""
    if incident.totals is None:
        return ()
    count = incident.totals.members
    said = counted(
        "It has {count} alert: `incident show {incident} --page 1` lists it.",
        "It has {count} alerts: `incident show {incident} --page 1` lists them.",
        count=count,
        incident=incident.id,
    )
    if not incident.is_crowded:
        return text(said)
    return text(listed([said, sentence("More cannot be kept, so others are left out.")], "."))


def _rule_example(incident: Incident, members: list[Member]) -> str:
    first, said = members[0], _example(incident, members)
    if not incident.is_open or first.is_firing:
        return said
    if not incident.stands(first):
        return sentence("✓ {alert}", alert=said)
    if first.is_logged:
        return sentence("logged {at}: {alert}", at=first.since, alert=said)
    return sentence("not proven over, since {at}: {alert}", at=first.since, alert=said)


def _example(incident: Incident, members: list[Member]) -> str:
    first = members[0]
    alike = [one for one in members if one.is_firing == first.is_firing]
    every = incident.totals
    totals = (every.firing if first.is_firing else every.over).get(first.name) if every is not None else None
    is_over = not incident.is_open or not (first.is_firing or incident.stands(first))
    if (said := group_headline(incident, alike, totals, is_over=is_over)) is not None:
        return said
    count = len(members) if every is None else _count(every, first.name)
    past = group_headline(incident, [first], is_over=True) if is_over else None  # they may share too little
    alone = past or headline_of(first.summary)
    said = sentence("{alert} (and {count} more)", alert=alone, count=count - 1) if count > 1 else alone
    return sentence("over: {alert}", alert=said) if is_over and past is None and not first.is_worse else said


def _count(totals: Totals, name: str) -> int:
    return sum(groups[name].count for groups in (totals.firing, totals.over) if name in groups)
