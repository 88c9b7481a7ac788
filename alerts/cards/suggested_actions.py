"""Suggested actions: a rule's command lines, filled from the alert's subject. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from alerts.incidents.incident import Incident, Member
from alerts.incidents.twin import is_received
from alerts.incidents.xid_advice import keeps_node
from alerts.received import rule_of
from alerts.rules import Rule
from collectors.facts.sentences import sentence
from collectors.facts.subjects import WORDS, Subject

_PLACEHOLDER = re.compile(rf"\{{({'|'.join(WORDS)})\}}")
_NOUNS = {"dns": "DNS", "gpu": "GPUs", "pod": "pods", "rule": "rules"}  # as people write them
_VERBS = {
    "doctor": "show blind",
    "fix-mounts": "fix the mounts of",
    "idle": "list idle",
    "logs": "show the logs of",
    "restart-agent": "restart an agent of",
    "stacks": "show the stacks of",
}
_EMPTIES = ("node cordon ", "gpu cordon ")  # what begins so keeps work away from a node or from a GPU of it
# What may help where no rule of ours knows the alert: those lines that its subject can fill.
_OF_ANY = (
    "training show {training}",
    "volume show {volume}",
    "node show {node}",
    'node cordon {node} --reason "alert"',
)
_OF_ONE_GPU = frozenset({"gpu cordon", "gpu uncordon"})
_LABEL = 60  # characters
_LOOK = "node show"
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
    def gpu(self) -> str:
        """The GPU of a node that it acts on, if it does."""
        words = self.line.split()
        return words[3] if self.command in _OF_ONE_GPU and len(words) > 3 else ""

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
        node = member.subject.node
        if member.recovery is not None and node not in kept:
            kept[node] = keeps_node(incident, member)
        keeps = member.recovery is not None and kept[node]
        for action in _actions_of(member, rules):
            if keeps and action.startswith(_EMPTIES):
                continue
            if (line := fill(action, member.subject.or_else(incident.subject))) is not None:
                found.setdefault(line, Suggestion(line=line, volume=member.subject.volume))
    return (*_named(incident, found.values()), *found.values())


def _named(incident: Incident, others: Iterable[Suggestion]) -> Iterable[Suggestion]:
    """Yield a look at the training that the log line names, where the rule has only a look at the node."""
    if any(one.command != _LOOK for one in others):
        return
    for impact in incident.impacts:
        if impact.is_named and _PLAIN_WORD.fullmatch(impact.shown):
            yield Suggestion(line=f"training show {impact.shown}")
            return


def _actions_of(member: Member, rules: Mapping[str, Rule]) -> Iterable[str]:
    if (rule := rule_of(member.rule, rules)) is not None:
        return rule.template.actions
    return _OF_ANY if is_received(member.rule) else ()


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
    if " ".join(words[:2]) in _OF_ONE_GPU and len(words) > 3:
        return sentence(f"{words[1].capitalize()} GPU {{gpu}} of {{node}}", gpu=words[3], node=words[2])
    verb = words[1] if len(words) > 1 else words[0]
    verb = _VERBS.get(verb, verb)
    rest = [word for word in words[2:3] if not word.startswith("-")]
    noun = "" if rest else f" {_NOUNS.get(words[0], words[0] + 's' * (verb == 'list'))}"
    label = f"{verb.capitalize()}{noun}{' ' + rest[0] if rest else ''}"
    if not rest or len(label) > _LABEL:
        return label[:_LABEL]
    return sentence(f"{verb.capitalize()} {{name}}", name=rest[0])
