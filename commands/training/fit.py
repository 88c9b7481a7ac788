"""The fit of a launch: notes for its preview if it fits now, or a refusal that suggests what would help."""

import shlex
from collections import Counter
from dataclasses import replace

from alerts.cards.message import Block, Button, Buttons, Paragraph
from alerts.cards.text import joined, markup, text
from collectors.facts.one_line import some_of
from collectors.facts.sentences import counted, sentence
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import against_uncordoning, describe_cordon
from commands.core.named_incident import open_incidents
from commands.core.parsing import words_of
from commands.training.launch_steps import task_requests
from commands.training.placement import Placement, node_capacities, place
from commands.training.spec import TrainingSpec
from commands.training.unschedulable import (
    Suggestions,
    room_text,
    suggestions_for,
    unschedulable_reasons,
)

LONGEST_LINE = 1_500  # characters of a line behind a button


async def fit_notes(spec: TrainingSpec, context: CommandContext, *, may_wait: bool) -> list[str]:
    """Return notes on the placement. Raises UnusableError, with buttons, if it does not fit and may not wait."""
    inventory = context.cluster.inventory()
    tasks = task_requests(_at_least(spec))
    capacities = node_capacities(inventory, [name for task in tasks for name in task.amounts])
    placement = place(tasks, capacities)
    if placement.is_whole:
        return [sentence("It fits now, for example on {where}.", where=_where(placement))]
    incidents = await open_incidents(context)
    cordoned = {name: node for name, node in inventory.nodes.items() if node.spec.unschedulable}
    reasons = unschedulable_reasons(
        placement, {name: describe_cordon(node) for name, node in cordoned.items()}
    )
    safe = {name for name, node in cordoned.items() if not against_uncordoning(node, incidents)}
    found = suggestions_for(tasks, capacities, placement, safe=safe)
    lines = [*reasons, *_helps(found)]
    if may_wait:
        return [
            sentence(
                "It does not fit now: there is {room}. "
                "Tasks that fit hold their resources while the others wait.",
                room=room_text(placement),
            ),
            *lines,
        ]
    bullets = joined("\n", (text("• ", markup(line)) for line in lines))
    blocks: tuple[Block, ...] = (Paragraph(text=bullets),)
    if buttons := _buttons(found, context):
        blocks += (Buttons(buttons=buttons),)
    raise UnusableError(
        sentence(
            "{training} does not fit now: there is {room}.", training=spec.id, room=room_text(placement)
        ),
        blocks=blocks,
    )


def _at_least(spec: TrainingSpec) -> TrainingSpec:
    """Return the spec with as many tasks as must run: an elastic training begins with fewer than it may have."""
    return replace(spec, roles=tuple(replace(role, replicas=role.needed, least=0) for role in spec.roles))


def _helps(found: Suggestions) -> list[str]:
    lines: list[str] = (
        [
            counted(
                "with {count} GPU for each worker it would fit",
                "with {count} GPUs for each worker it would fit",
                count=found.gpus,
            )
        ]
        if found.gpus is not None
        else []
    )
    lines += (
        [
            counted(
                "with {count} worker it would fit", "with {count} workers it would fit", count=found.workers
            )
        ]
        if found.workers is not None
        else []
    )
    if found.uncordon:
        nodes = " ".join(found.uncordon)
        lines.append(
            sentence("`node uncordon {nodes}` would be enough", nodes=nodes)
            if found.is_enough
            else sentence("`node uncordon {nodes}` would help", nodes=nodes)
        )
    lines += [sentence("`gpu idle` shows idle GPUs and their owners")] if found.has_gpus else []
    return [*lines, sentence("`--wait` launches it anyway, to wait for room")]


def _buttons(found: Suggestions, context: CommandContext) -> tuple[Button, ...]:
    """Return the buttons that run the line again, changed, and that ask owners of idle GPUs for them."""
    buttons: list[Button] = []
    if found.has_gpus and context.may.get("gpu free", False):
        buttons.append(Button(label="Ask for idle GPUs", line="gpu free"))
    elif found.has_gpus and context.may.get("gpu idle", False):
        buttons.append(Button(label="Idle GPUs", line="gpu idle"))
    if context.uploads or not context.line or len(context.line) > LONGEST_LINE:
        return tuple(buttons)  # a button has no room for the script
    if found.gpus is not None:
        changed = with_option(context.line, "--gpus", str(found.gpus))
        label = counted("Launch with {count} GPU each", "Launch with {count} GPUs each", count=found.gpus)
        buttons.append(Button(label=label, line=changed))
    if found.workers is not None:
        changed = with_option(context.line, "--workers", str(found.workers))
        buttons.append(Button(label=sentence("Launch with {workers}", workers=found.workers), line=changed))
    return (*buttons, Button(label="Queue it", line=with_option(context.line, "--wait")))


def with_option(line: str, name: str, value: str = "") -> str:
    """Return the line with this option, in place of the one that it had. What follows `--` stays."""
    words = words_of(line)
    end = words.index("--") if "--" in words else len(words)
    kept: list[str] = []
    is_value = False
    for word in words[:end]:
        if not is_value and word.partition("=")[0] != name:
            kept.append(word)
        is_value = not is_value and bool(value) and word == name
    return shlex.join([*kept, name, *([value] if value else ()), *words[end:]])


def _where(placement: Placement, at_most: int = 6) -> str:
    on: Counter[str] = Counter()
    for _, node, count in placement.placed:
        on[node] += count
    names = [f"{node} ({count})" if count > 1 else node for node, count in sorted(on.items())]
    return some_of(names, at_most)
