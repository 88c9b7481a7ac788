"""Suggested actions: a rule's command lines, filled from the alert's subject. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from alerts.incidents.incident import Incident
from alerts.incidents.xid_advice import keeps_node
from alerts.rules import Rule
from collectors.facts.sentences import sentence
from collectors.facts.subjects import WORDS, Subject

_PLACEHOLDER = re.compile(rf"\{{({'|'.join(WORDS)})\}}")
_NOUNS = {"dns": "DNS", "gpu": "GPUs", "rule": "rules"}  # as people write them
_VERBS = {"doctor": "check"}
_EMPTIES = "node cordon "  # what begins so keeps work away from a node
_LABEL = 60  # characters
_PLAIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A command line that a rule suggests. `volume`: the claim of its alert, if it is about one."""

    line: str
    volume: str = ""

    @property
    def command(self) -> str:
        return " ".join(self.line.split()[:2])

    @property
    def object(self) -> str:
        """What it acts on; empty for a line without one."""
        word = (self.line.split()[2:3] or [""])[0]
        return "" if word.startswith("-") else word

    @property
    def node(self) -> str:
        """The node of its option, if it has one."""
        words = self.line.split()
        return words[words.index("--node") + 1] if "--node" in words else ""


def suggestions(incident: Incident, rules: Mapping[str, Rule]) -> tuple[Suggestion, ...]:
    """Return what the rules of the alerts that stand suggest, those of what explains most first.

    A line with a placeholder that the subject cannot fill is left out.
    """
    found: dict[str, Suggestion] = {}
    kept: dict[str, bool] = {}  # node -> whether the XIDs on it let it keep its work
    for member in incident.standing or (incident.lead,):
        rule, node = rules.get(member.rule), member.subject.node
        if member.recovery is not None and node not in kept:
            kept[node] = keeps_node(incident, member)
        keeps = member.recovery is not None and kept[node]
        for action in rule.template.actions if rule else ():
            if keeps and action.startswith(_EMPTIES):
                continue
            if (line := fill(action, member.subject.or_else(incident.subject))) is not None:
                found.setdefault(line, Suggestion(line=line, volume=member.subject.volume))
    return tuple(found.values())


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
    verb = _VERBS.get(verb, verb)
    rest = [word for word in words[2:3] if not word.startswith("-")]
    noun = "" if rest else f" {_NOUNS.get(words[0], words[0] + 's' * (verb == 'list'))}"
    label = f"{verb.capitalize()}{noun}{' ' + rest[0] if rest else ''}"
    if not rest or len(label) > _LABEL:
        return label[:_LABEL]
    return sentence(f"{verb.capitalize()} {{name}}", name=rest[0])
