"""This file makes the reference of commands, rules, checks and metrics from the program itself."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import click

from alerts.rules import Rule
from bot.evaluation.rulebook import read_rulebook
from bot.metrics import Metrics
from bot.settings.schema import RulesSettings
from collectors.checks.catalogue import CHECKS
from collectors.facts.clock import in_words
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery, Query
from commands.command_catalogue import CATALOGUE
from commands.core.command import Command
from helm.rights import act_rights


def commands_part() -> str:
    """A section for each noun: what each command does, how to write it, who may, and what Kubernetes must allow."""
    nouns = dict.fromkeys(command.noun for command in CATALOGUE)
    return "\n\n".join(_noun(noun, [one for one in CATALOGUE if one.noun == noun]) for noun in nouns)


def _noun(noun: str, commands: Sequence[Command[Any]]) -> str:
    return f"## {noun}\n\n" + "\n\n".join(_command(command) for command in commands)


def _command(command: Command[Any]) -> str:
    lines = [f"### {command.name}", "", command.summary, "", "```text", command.usage, "```", ""]
    options = [
        f"* `{', '.join(parameter.opts)}`: {parameter.help}"
        for parameter in command.parameters
        if isinstance(parameter, click.Option) and parameter.help
    ]
    if options:
        lines += [*options, ""]
    if command.details:
        lines += [command.details, ""]
    lines += [f"For example: `{command.example}`", "", f"*{_kind(command)}* {_who(command)}"]
    if command.rights:
        lines += ["", f"Kubernetes must allow: {'; '.join(_needs(command))}."]
    return "\n".join(lines)


def _kind(command: Command[Any]) -> str:
    if command.read is not None:
        return "Looks; changes nothing."
    if command.record is not None:
        return "Notes: changes at once what Yardmaster remembers, and nothing else."
    return f"Plans ({command.risk.value}): shows what it would do, and does it when confirmed."


def _who(command: Command[Any]) -> str:
    if command.for_everyone:
        return "For everybody in the channel."
    if command.checks_permission_itself:
        return "For the owner of the thing, or a team that is given it."
    return "For members of any team." if command.read is not None else "For teams that are given it."


def _needs(command: Command[Any]) -> list[str]:
    if command.read is not None:
        return [
            _allowed(right.group, right.resources, right.verbs, right.namespace) for right in command.rights
        ]
    rights = act_rights([command])[command.name]
    placed = {"": rights["cluster"], **rights["namespaces"]}
    return [
        _allowed(rule["apiGroups"][0], rule["resources"], rule["verbs"], place)
        for place, rules in placed.items()
        for rule in rules
    ]


def _allowed(group: str, resources: Sequence[str], verbs: Sequence[str], place: str) -> str:
    behind = f" ({group})" if group else ""
    where = f" in `{place}`" if place else ""
    return f"{', '.join(verbs)} of {', '.join(f'`{one}`' for one in resources)}{behind}{where}"


def rules_part() -> str:
    """A table for each pack: what is asked, how long it must hold, how urgent it is."""
    groups = read_rulebook(RulesSettings()).groups
    packs: dict[str, list[Rule]] = {}
    for group in groups:
        for rule in group.rules:
            packs.setdefault(rule.id.partition("/")[0], []).append(rule)
    return "\n\n".join(_pack(name, rules) for name, rules in sorted(packs.items()))


def _pack(name: str, rules: Iterable[Rule]) -> str:
    head = ["| Alert | Severity | For | Source | Runbook |", "|---|---|---|---|---|"]
    return "\n".join([f"### {name}", "", *head, *(_rule(rule) for rule in rules)])


def _rule(rule: Rule) -> str:
    severity = rule.template.labels.get("severity", "warning")
    shown = severity if "{{" not in severity else "by the XID"
    hold = in_words(rule.timing.for_) if rule.timing.for_ else "at once"
    book = rule.template.runbook
    page = f"[{book}](runbooks/{book}.md)" if book else ""
    return f"| {rule.name} | {shown} | {hold} | {_query(rule.query)} | {page} |"


def _query(query: Query) -> str:
    match query:
        case PromQLQuery():
            return "Prometheus"
        case LogQuery():
            return f"logs: {_code(query.match)}"
        case CheckQuery():
            return f"the check [{query.name}](checks.md)"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def checks_part() -> str:
    """The checks: what each finds, what it looks at, and its parameters with their defaults."""
    rows = [
        f"| `{check.name}` | {_sentence(check.summary)} | {', '.join(sorted(check.needs))} "
        f"| {_code(json.dumps(dict(check.parameters))) if check.parameters else ''} |"
        for check in CHECKS.values()
    ]
    return "\n".join(["| Check | Finds that | Looks at | Parameters |", "|---|---|---|---|", *rows])


def _sentence(text: str) -> str:
    return text.replace("|", "\\|")


def metrics_part() -> str:
    """Our own metrics, as /metrics shows them."""
    rows = []
    for family in Metrics().registry.collect():
        suffix = "_total" if family.type == "counter" else ""
        name = family.name + ("" if family.name.endswith(suffix) and suffix else suffix)
        rows.append((name, family.type, family.documentation))
    lines = [f"| `{name}` | {kind} | {meaning} |" for name, kind, meaning in sorted(rows)]
    return "\n".join(["| Metric | Type | Meaning |", "|---|---|---|", *lines])
