"""The pods that a card names as what is probably behind it: which, whose, and the figure that says so. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from alerts.cards.text import Text, bold, person, text
from alerts.incidents.incident import Incident
from alerts.rules import Culprits, Rule
from collectors.facts.sentences import Sentence, listed, sentence

CULPRITS_SHOWN = 3  # pods
_LABELS = {
    Culprits.MEMORY: sentence("Most memory on it"),
    Culprits.CPU: sentence("Most CPU on it"),
    Culprits.TROUBLE: sentence("In trouble on it"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Culprit:
    """A pod, `namespace/name`. `figure`: what it uses, or what is wrong with it. `owner`: of its training, if known."""

    kind: Culprits
    pod: str
    figure: str
    owner: str = ""


def wanted_culprits(incident: Incident, rules: Mapping[str, Rule], kind: Culprits) -> str:
    """Return the node whose pods of this kind the card names; empty where no alert that stands asks for them."""
    for member in incident.standing if incident.is_open else ():
        rule = rules.get(member.rule)
        if rule is not None and rule.template.culprits is kind and member.subject.node:
            return member.subject.node
    return ""


def culprits_texts(culprits: Sequence[Culprit], people: Mapping[str, str]) -> list[Text]:
    """Return a line for each kind of them, the worst first."""
    lines = []
    for kind, label in _LABELS.items():
        if found := [one for one in culprits if one.kind is kind]:
            said = listed((_said(one, people) for one in found[:CULPRITS_SHOWN]), ";")
            lines.append(text(bold(sentence("{label}:", label=label)), " ", said))
    return lines


def _said(one: Culprit, people: Mapping[str, str]) -> Sentence:
    if not one.owner:
        return sentence("`{pod}`, {figure}", pod=one.pod, figure=one.figure)
    owner = person(people.get(one.owner, ""), one.owner)
    return sentence("`{pod}` of {owner}, {figure}", pod=one.pod, owner=owner, figure=one.figure)
