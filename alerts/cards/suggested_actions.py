"""Suggested actions: a rule's command lines, filled from the alert's subject. Pure."""

import re
from collections.abc import Mapping

from alerts.incidents.incident import Incident
from alerts.incidents.xid_advice import keeps_node
from alerts.rules import Rule
from collectors.facts.sentences import sentence
from collectors.facts.subjects import WORDS, Subject

_PLACEHOLDER = re.compile(rf"\{{({'|'.join(WORDS)})\}}")
_NOUNS = {"dns": "DNS", "gpu": "GPUs"}  # as people write them
_EMPTIES = "node cordon "  # what begins so keeps work away from a node
_LABEL = 60  # characters
_PLAIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]*", re.ASCII)


def suggested_actions(incident: Incident, rules: Mapping[str, Rule]) -> tuple[str, ...]:
    """Return the command lines to suggest, without those that have a placeholder the subject cannot fill."""
    found: dict[str, None] = {}
    for member in incident.standing or (incident.lead,):
        rule = rules.get(member.rule)
        keeps = keeps_node(incident, member)
        for action in rule.template.actions if rule else ():
            if keeps and action.startswith(_EMPTIES):
                continue
            if (line := fill(action, member.subject.or_else(incident.subject))) is not None:
                found.setdefault(line)
    return tuple(found)


def fill(line: str, subject: Subject) -> str | None:
    """Return the command line with each placeholder filled by exactly one word, or None if one is unknown.

    A cluster's names begin with a letter or a digit and contain no spaces, quotes or markup. Any other value came
    from elsewhere and could become another word or an option.
    """
    known = subject.words()
    if any(not _PLAIN_WORD.fullmatch(known.get(word, "")) for word in _PLACEHOLDER.findall(line)):
        return None
    return _PLACEHOLDER.sub(lambda match: known[match[1]], line)


def label_of(line: str) -> str:
    """Return a button's label for a command line: `node cordon gpu-a04 --reason …` becomes `Cordon gpu-a04`."""
    words = line.split()
    verb = words[1] if len(words) > 1 else words[0]
    rest = [word for word in words[2:3] if not word.startswith("-")]
    noun = "" if rest else f" {_NOUNS.get(words[0], words[0] + 's' * (verb == 'list'))}"
    label = f"{verb.capitalize()}{noun}{' ' + rest[0] if rest else ''}"
    if not rest or len(label) > _LABEL:
        return label[:_LABEL]
    return sentence(f"{verb.capitalize()} {{name}}", name=rest[0])
