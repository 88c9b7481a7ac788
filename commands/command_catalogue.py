"""The list of all commands, the source of help, docs, permissions and the chart's RBAC rules."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

import commands.alert.commands as alert
import commands.ask.commands as ask
import commands.audit.commands as audit
import commands.breaker.commands as breaker
import commands.dns.commands as dns
import commands.gpu.commands as gpu
import commands.home.commands as home
import commands.incident.commands as incident
import commands.node.commands as node
import commands.plan.commands as plan
import commands.pod.commands as pod
import commands.remediation.commands as remediation
import commands.rule.commands as rule
import commands.runbook.commands as runbook
import commands.silence.commands as silence
import commands.team.commands as team
import commands.training.commands as training
import commands.volume.commands as volume
from commands.core.command import Command
from commands.core.matching.answers import answer_words
from commands.core.matching.examples import Example, Examples, examples_in
from commands.core.matching.lexicon import Lexicon
from commands.core.matching.phrases import ToolWords
from commands.help.commands import help_command

_OTHERS: tuple[Command[Any], ...] = (
    *alert.COMMANDS,
    *incident.COMMANDS,
    *silence.COMMANDS,
    *node.COMMANDS,
    *gpu.COMMANDS,
    *training.COMMANDS,
    *pod.COMMANDS,
    *volume.COMMANDS,
    *dns.COMMANDS,
    *plan.COMMANDS,
    *breaker.COMMANDS,
    *remediation.COMMANDS,
    *ask.COMMANDS,
    *team.COMMANDS,
    *audit.COMMANDS,
    *runbook.COMMANDS,
    *rule.COMMANDS,
    *home.COMMANDS,
)


def _text(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _read(name: str) -> Any:
    text = _text(name)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # every start of the program waits for it
    return yaml.load(text, Loader=loader)


_SAID: Mapping[str, Any] = _read("synonyms.yaml")


def _with_synonyms(command: Command[Any]) -> Command[Any]:
    return replace(command, synonyms=tuple(_SAID["commands"].get(command.name, ())))


def read_examples() -> tuple[Example, ...]:
    """Return lines as people type them, each with the command that it means."""
    return examples_in(_text("example_lines.txt"))


CATALOGUE: tuple[Command[Any], ...] = tuple(map(_with_synonyms, (*_OTHERS, help_command(_OTHERS))))
LEXICON = Lexicon(
    CATALOGUE,
    _SAID["nouns"],
    [(one["said"], one["nearest"]) for one in _SAID["absent"]],
    _SAID["options"],
    answer_words(_read("answers.yaml")),
    _SAID["verbs"],
    [(one["asked"], one["answered_by"]) for one in _SAID["questions"]],
    [ToolWords(**one) for one in _read("tool_words.yaml")],
    Examples(read_examples),
)
