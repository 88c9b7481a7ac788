"""Reference tables of commands, rules, checks, metrics and kinds of training, generated from the program."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import click

from alerts.rules import Rule, Severity
from bot.doctor.role_rules import act_rights
from bot.metrics import Metrics
from collectors.check_catalogue import CHECKS
from collectors.facts.clock import humanize
from collectors.facts.log_match import AllOf, render_match
from collectors.facts.queries import CheckQuery, LogLevel, LogQuery, PromQLQuery, Query
from collectors.facts.workload_keys import shown_kind
from collectors.trainings import catalogue as trainings_read
from collectors.trainings.reading_kind import ReadingKind
from commands.command_catalogue import CATALOGUE
from commands.core.command import Command
from commands.training import training_kinds as trainings_written
from docs.shipped_rules import shipped


def commands_part() -> str:
    """A section per noun: what each command does, its usage, who may use it, and what Kubernetes must allow."""
    nouns = {
        noun: [one for one in CATALOGUE if one.noun == noun]
        for noun in dict.fromkeys(command.noun for command in CATALOGUE)
    }
    contents = "\n".join(f"* {_links(noun, commands)}" for noun, commands in nouns.items())
    return "\n\n".join([contents, *(_noun(noun, commands) for noun, commands in nouns.items())])


def _links(noun: str, commands: Sequence[Command[Any]]) -> str:
    """A line of the contents: the noun, and its commands as links."""
    shown = [f"[{one.verb or one.noun}](#{one.name.replace(' ', '-')})" for one in commands]
    return ", ".join(shown) if not commands[0].verb else f"{noun}: {', '.join(shown)}"


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
        lines += ["", "<details><summary>What Kubernetes must allow</summary>", ""]
        lines += [*(f"* {one}" for one in _needs(command)), "", "</details>"]
    return "\n".join(lines)


def _kind(command: Command[Any]) -> str:
    if command.read is not None:
        return "Reads; changes nothing."
    if command.record is not None:
        return "Records: changes only Yardmaster's own state, at once."
    return "Plans: shows a preview, and runs when confirmed."


def _who(command: Command[Any]) -> str:
    if command.for_everyone:
        return "For everyone in the channel."
    if command.for_whom:
        return command.for_whom
    return "For members of any team." if command.read is not None else "For teams that have this command."


def _needs(command: Command[Any]) -> list[str]:
    if command.read is not None:
        return [
            _allowed(right.group, right.resources, right.verbs, right.namespace, right.names)
            for right in command.rights
        ]
    rights = act_rights([command])[command.name]
    by_namespace = {"": rights["cluster"], **rights["namespaces"]}
    return [
        _allowed(
            rule["apiGroups"][0], rule["resources"], rule["verbs"], namespace, rule.get("resourceNames", [])
        )
        for namespace, rules in by_namespace.items()
        for rule in rules
    ]


def _allowed(
    group: str, resources: Sequence[str], verbs: Sequence[str], namespace: str, names: Sequence[str]
) -> str:
    in_group = f" ({group})" if group else ""
    named = f" named {', '.join(f'`{name}`' for name in names)}" if names else ""
    where = f" in `{namespace}`" if namespace else ""
    return f"{', '.join(verbs)} of {', '.join(f'`{resource}`' for resource in resources)}{in_group}{named}{where}"


def rules_part() -> str:
    """A table per pack: each alert with its severity, `for`, source and runbook."""
    groups = shipped().groups
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
    shown = severity if "{{" not in severity else _judged_by(severity)
    wait = humanize(rule.timing.for_) if rule.timing.for_ else "at once"
    runbook = rule.template.runbook
    page = f"[{runbook}](../alerts/packs/runbooks/{runbook}.md)" if runbook else ""
    return f"| {rule.name} | {shown} | {wait} | {_query(rule.query)} | {page} |"


def _judged_by(severity: str) -> str:
    """Name the severities of a template, the gravest first, and the labels that decide."""
    found = set(re.findall(rf"}}}}\s*({'|'.join(Severity)})\s*{{{{", severity))
    shown = [one.value for one in Severity if one.value in found]
    labels = dict.fromkeys(re.findall(r"\$labels\.(\w+)", severity))
    decided = [f"`{label}`" for label in labels] or ["its value"]
    return f"{' or '.join(shown)}, by {' and '.join(decided)}"


def remediations_part() -> str:
    """What each shipped rule may do by itself, once the settings let it."""
    rules = [rule for group in shipped().groups for rule in group.rules]
    rows = [
        f"| {rule.name} | `{rule.template.remediation}` | {' or '.join(rule.template.remediation_with)} |"
        for rule in rules
        if rule.template.remediation
    ]
    return "\n".join(["| Rule | Runs | Only while the node also has |", "|---|---|---|", *rows])


def _query(query: Query) -> str:
    match query:
        case PromQLQuery():
            return "Prometheus"
        case LogQuery(level=LogLevel() as level, match=AllOf(parts=())):
            return f"logs of level {level.name.lower()} or worse"
        case LogQuery():
            return f"logs: {_code(render_match(query.match))}"
        case CheckQuery():
            return f"the check [{query.name}](checks.md)"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def checks_part() -> str:
    """A table of the checks: what each detects, what it needs, and its parameters with their defaults."""
    rows = [
        f"| `{check.name}` | {_escaped(check.summary)} | {', '.join(sorted(check.needs))} "
        f"| {_code(json.dumps(dict(check.parameters))) if check.parameters else ''} |"
        for check in CHECKS.values()
    ]
    return "\n".join(["| Check | Condition | Needs | Parameters |", "|---|---|---|---|", *rows])


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def metrics_part() -> str:
    """A table of our own metrics, as /metrics exposes them."""
    rows = []
    for family in Metrics().registry.collect():
        suffix = "_total" if family.type == "counter" else ""
        name = family.name + ("" if family.name.endswith(suffix) and suffix else suffix)
        rows.append((name, family.type, family.documentation))
    lines = [f"| `{name}` | {kind} | {meaning} |" for name, kind, meaning in sorted(rows)]
    return "\n".join(["| Metric | Type | Meaning |", "|---|---|---|", *lines])


def trainings_part() -> str:
    """A table of the kinds of training: which objects are one, what a launch creates, and what must be allowed."""
    rows = [_training_kind(kind) for kind in trainings_read.KINDS]
    head = ["| Kind | Is | Launched as | Can be suspended | Watched |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def _training_kind(kind: ReadingKind[Any]) -> str:
    written = trainings_written.KINDS.get(kind.name)
    launching = written.launching if written is not None else None
    launched = (
        f"`--kind {written.option}`: {launching.summary}" if written and launching else "cannot be launched"
    )
    suspended = "yes" if written is not None and written.suspending is not None else "no"
    watched = ", ".join(f"`{one.name}`" + (f" ({one.group})" if one.group else "") for one in kind.needs)
    return f"| {shown_kind(kind.name)} | {kind.summary} | {launched} | {suspended} | {watched} |"
