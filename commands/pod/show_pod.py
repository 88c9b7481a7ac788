"""The answers of `pod show` and `pod events`: what a pod is, whose, why it does not run, and what happened to it."""

from dataclasses import dataclass

from alerts.cards.message import (
    Block,
    Button,
    Buttons,
    ButtonStyle,
    Color,
    Context,
    Fields,
    Message,
    Preformatted,
    Table,
)
from alerts.cards.text import Text, bold, code, text
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import EVENTS
from collectors.cluster.objects import Pod
from collectors.cluster.pods import ContainerStatus
from collectors.facts.one_line import one_line
from collectors.facts.redaction import Redactor
from collectors.facts.results import SourceError
from collectors.facts.sentences import listed, sentence, word
from collectors.pod_troubles import end_text, events_of, statuses_of, why_not_running
from commands.core.command import Answer
from commands.core.context import CommandContext
from commands.core.event_lines import event_lines
from commands.core.lookups import age
from commands.core.named_incident import open_incidents
from commands.core.named_pod import PodUser, gpus_held, pod_named, user_of_pod
from commands.core.pod_lines import PodLog, api_lines

EVENTS_SHOWN = 40
_FEW_EVENTS = 4  # in `pod show`
_FEW_LINES = 5  # of the log of a pod that does not run
_CONTAINERS = 20
_REASON = 500  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowPod:
    pod: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowPodEvents:
    pod: str


async def show(action: ShowPod, context: CommandContext) -> Answer:
    """Return what the pod is and why it does not run, with its last events, and the last lines of one that fails."""
    inventory = context.cluster.inventory()
    pod = pod_named(action.pod, inventory)
    user, reason = user_of_pod(pod, context), one_line(why_not_running(pod, inventory), _REASON)
    blocks: list[Block] = [
        Fields(rows=(*_rows(pod, user, reason, context), *await _incident_rows(pod, user, context))),
        _containers(pod),
        *_event_blocks(pod, inventory, context, most=_FEW_EVENTS),
    ]
    if reason and pod.status.phase != "Succeeded" and (lines := await _last_lines(pod, context)):
        blocks.append(Preformatted(lines=lines))
    blocks.append(Buttons(buttons=_buttons(pod, user, context)))
    color = Color.WARNING if reason and pod.status.phase != "Succeeded" else Color.GOOD
    title = text(bold(sentence("Pod {pod}", pod=pod.key)))
    return Answer(message=Message(title=title, color=color, blocks=tuple(blocks)))


async def events(action: ShowPodEvents, context: CommandContext) -> Answer:
    """Return the events of the pod that the cluster still has, the newest first."""
    inventory = context.cluster.inventory()
    pod = pod_named(action.pod, inventory)
    blocks = _event_blocks(pod, inventory, context, most=EVENTS_SHOWN)
    if not blocks:
        said = sentence("The cluster has no events for it: by default it keeps them for an hour.")
        blocks = [Context(text=text(said))]
    title = text(bold(sentence("Events of {pod}", pod=pod.key)))
    return Answer(message=Message(title=title, blocks=tuple(blocks)))


def _rows(pod: Pod, user: PodUser, reason: str, context: CommandContext) -> list[tuple[str, Text]]:
    meta, status = pod.metadata, pod.status
    phase = bold(word(status.phase or "?"))
    rows: list[tuple[str, Text]] = [("state", text(listed(filter(None, (phase, reason)), ":")))]
    rows.append(("training" if user.training else "workload", text(code(user.shown))))
    owner = user.owner or sentence("unknown")
    rows.append(
        ("owner", text(sentence("{owner}, team {team}", owner=owner, team=user.team) if user.team else owner))
    )
    rows.append(("node", text(pod.spec.node_name or sentence("none yet"))))
    if gpus := gpus_held(pod, context.cluster.inventory()):
        rows.append(("GPUs", text(f"{gpus:g}")))
    if meta.creation_timestamp is not None:
        made = meta.creation_timestamp
        rows.append(("created", text(sentence("{at}, {age} ago", at=made, age=age(made, context.now)))))
    return rows


async def _incident_rows(pod: Pod, user: PodUser, context: CommandContext) -> list[tuple[str, Text]]:
    """Return the open incidents of the pod, of its training, and of its node."""
    meta = pod.metadata
    return [
        ("incident", text(code(one.id), " ", one.lead.summary))
        for one in await open_incidents(context)
        if (one.subject.namespace, one.subject.pod) == (meta.namespace, meta.name)
        or (user.training is not None and one.subject.training == user.key)
        or (pod.spec.node_name != "" and one.subject.node == pod.spec.node_name)
    ]


def _containers(pod: Pod) -> Table:
    images = {
        one.name: one.image for one in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))
    }
    known = {one.name: one for one in statuses_of(pod)}
    rows = tuple(
        (name, _state(known.get(name)), _restarts(known.get(name)), image) for name, image in images.items()
    )
    return Table(
        heading=("container", "state", "restarts", "image"),
        rows=rows[:_CONTAINERS],
        more=max(0, len(rows) - _CONTAINERS),
    )


def _state(status: ContainerStatus | None) -> str:
    if status is None:
        return sentence("not known")
    state = status.state
    if state.waiting is not None:
        return state.waiting.reason or sentence("waiting")
    if state.terminated is not None:
        return end_text(state.terminated)
    if state.running is None:
        return sentence("not known")
    return word("running") if status.ready else sentence("running, not ready")


def _restarts(status: ContainerStatus | None) -> str:
    if status is None or not status.restart_count:
        return ""
    last = status.last_state.terminated
    return str(status.restart_count) if last is None else f"{status.restart_count} ({last.exit_code})"


def _event_blocks(pod: Pod, inventory: Inventory, context: CommandContext, *, most: int) -> list[Block]:
    if reason := inventory.missing_reason(EVENTS):
        return [Context(text=text(sentence("Events cannot be seen: {reason}", reason=reason)))]
    found = events_of(pod, inventory)
    lines = event_lines(found, context.now, Redactor(context.defaults.redact), most=most)
    return [Preformatted(lines=lines)] if lines else []


async def _last_lines(pod: Pod, context: CommandContext) -> tuple[str, ...]:
    """Return the last lines of the container that is in trouble; none where nothing can be read."""
    if context.cluster.pod_logs is None or not pod.spec.node_name:
        return ()
    container, previous = troubled_container(pod)
    meta = pod.metadata
    log = PodLog(
        namespace=meta.namespace, pod=meta.name, container=container, tail=_FEW_LINES, previous=previous
    )
    redact = Redactor(context.defaults.redact)
    try:
        found = await api_lines(log, context.cluster.pod_logs, redact=redact, now=context.now)
    except SourceError:
        return ()
    return tuple(line.text for line in found[-_FEW_LINES:])


def troubled_container(pod: Pod) -> tuple[str, bool]:
    """Return the container whose lines say most, and whether they are those of its run before.

    One that waits has none but of the run before; else one that failed; else the first.
    """
    for one in statuses_of(pod):
        if one.state.waiting is not None and one.last_state.terminated is not None:
            return one.name, True
    for one in statuses_of(pod):
        if one.state.terminated is not None and one.state.terminated.exit_code:
            return one.name, False
    first = next(iter(pod.spec.containers or ()), None)
    return (first.name if first is not None else ""), False


def _buttons(pod: Pod, user: PodUser, context: CommandContext) -> tuple[Button, ...]:
    buttons = [
        Button(label="Logs", line=f"pod logs {pod.key}"),
        Button(label="Events", line=f"pod events {pod.key}"),
    ]
    if user.training is not None:
        buttons.append(Button(label="Training", line=f"training show {user.shown}"))
    if context.may.get("pod stacks", False) and pod.status.phase == "Running":
        buttons.append(Button(label="Stacks", line=f"pod stacks {pod.key}"))
    if context.may.get("pod delete", False) and pod.metadata.deletion_timestamp is None:
        buttons.append(Button(label="Delete", line=f"pod delete {pod.key}", style=ButtonStyle.DANGER))
    return tuple(buttons)
