"""The table of what each rule suggests: its commands, what of them may run by itself, and what undoes it."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from alerts.rules import Rule
from alerts.runbooks import runbook_page
from collectors.facts.sentences import said_by
from commands.command_catalogue import CATALOGUE
from commands.core.command import Command, UnusableError
from commands.core.parsing import find
from docs.shipped_rules import shipped

_PAGES = "../alerts/packs/runbooks"

# What undoes the effect of each command that plans. A command that is missing here fails a test.
UNDONE_BY: dict[str, str] = {
    "node reboot": "Undo, while it has not been rebooted: the request is taken back",
    "node restart-agent": "nothing: its DaemonSet has started another pod",
    "node cordon": "`plan undo`, `node uncordon`",
    "node drain": "`plan undo` lifts the cordon; no pod comes back",
    "node uncordon": "`plan undo`",
    "node repair": "nothing; each repair says what it leaves",
    "gpu cordon": "`plan undo`, `gpu uncordon`; no pod comes back",
    "gpu free": "`plan undo` takes the request back, until its owner has answered it",
    "training stop": "nothing: a launch starts it anew, and `training launch --like` with what it had",
    "volume freeze": "`volume thaw`",
    "volume thaw": "`plan undo`, `volume freeze`",
    "volume fix-mounts": "`plan undo`",
    "dns scale": "`plan undo`",
    "pod delete": "nothing; a controller makes another one",
    "pod clean": "nothing: they have ended",
    "pod stacks": "nothing: what runs goes on; the container of `--add-container` stays until its pod ends",
}


def actions_part() -> str:
    """Return how many rules suggest a command that plans, and a row for each rule, by pack."""
    rules = sorted(shipped().rules, key=lambda one: one.name)
    planned = sum(bool(planned_commands(rule)) for rule in rules)
    packs: dict[str, list[Rule]] = {}
    for rule in rules:
        packs.setdefault(rule.id.partition("/")[0], []).append(rule)
    counted = (
        f"{planned} of {len(rules)} rules suggest a command that plans. For each of the others the table says why "
        "no command helps, as its runbook does."
    )
    return "\n\n".join([counted, *(_pack(name, packs[name]) for name in sorted(packs))])


def _pack(name: str, rules: Sequence[Rule]) -> str:
    head = ["| Rule | Shows | Suggests | May run by itself | Undone by |", "|---|---|---|---|---|"]
    return "\n".join([f"## {name}", "", *head, *map(_row, rules)])


def planned_commands(rule: Rule) -> tuple[str, ...]:
    """Return the commands among a rule's actions that make a plan."""
    found = (_command(line) for line in rule.template.actions)
    return tuple(dict.fromkeys(one.name for one in found if one.plan is not None))


def _command(line: str) -> Command[Any]:
    try:
        return find(line.split(), CATALOGUE)
    except UnusableError as error:
        raise ValueError(f"{line}: {said_by(error)}") from error


def _row(rule: Rule) -> str:
    planned = planned_commands(rule)
    shows, offers = (
        "<br>".join(
            f"`{_named(line)}`"
            for line in rule.template.actions
            if (_command(line).plan is not None) == plans
        )
        for plans in (False, True)
    )
    itself = f"`{rule.template.remediation}`" if rule.template.remediation else ""
    undone = "<br>".join(UNDONE_BY[name] for name in planned)
    page = rule.template.runbook
    nothing = f"nothing: {reasons(page).get(rule.name, '')} See [{page}]({_PAGES}/{page}.md)"
    return f"| {rule.name} | {shows} | {offers or nothing} | {itself} | {undone} |"


@cache
def reasons(page: str) -> dict[str, str]:
    """Return why nobody presses a button, by the rule's name, as the runbook says."""
    section = runbook_page(page).partition("## Why no button\n")[2].partition("\n## ")[0]
    found: dict[str, str] = {}
    for one in re.split(r"^- ", section, flags=re.MULTILINE)[1:]:
        names, _, why = one.partition(": ")
        found |= dict.fromkeys(re.findall(r"`(\w+)`", names), " ".join(why.split()))
    return found


def _named(line: str) -> str:
    """Return a line without the reason that it gives."""
    return line.partition(" --reason")[0]
