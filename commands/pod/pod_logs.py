"""The command `pod logs`: the last lines of a container, even if its pod is gone."""

from dataclasses import dataclass

from alerts.cards.text import bold
from collectors.cluster.objects import Pod
from collectors.facts.one_line import one_line
from collectors.facts.redaction import Redactor
from collectors.facts.sentences import sentence
from collectors.pod_troubles import statuses_of, why_not_running
from commands.core.command import Answer, Command, UnknownNameError, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import known_name
from commands.core.named_pod import pod_named
from commands.core.parameters import POD_ARGUMENT, option
from commands.core.pod_lines import READ_LOGS, PodLog, log_message, log_options, read_lines
from commands.pod.show_pod import troubled_container

_REASON = 300  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowPodLogs:
    pod: str
    container: str
    previous: bool
    tail: int


async def pod_log(action: ShowPodLogs, context: CommandContext) -> Answer:
    """Return the last lines. The log store is asked for a pod that is gone, if the line has its namespace."""
    try:
        pod = pod_named(action.pod, context.cluster.inventory())
    except UnknownNameError:
        namespace, slash, name = action.pod.partition("/")
        if not slash or context.cluster.logs is None:
            raise
        return await _shown(PodLog(namespace=namespace, pod=name, tail=action.tail), context)
    container, previous = _container(pod, action)
    if previous and not any(one.name == container and one.restart_count for one in statuses_of(pod)):
        raise UnusableError(
            sentence(
                "Container {container} of {pod} has not restarted, so there is no log of an earlier run.",
                container=container,
                pod=pod.key,
            )
        )
    reason = one_line(why_not_running(pod, context.cluster.inventory()), _REASON)
    log = PodLog(
        namespace=pod.metadata.namespace,
        pod=pod.metadata.name,
        container=container,
        tail=action.tail,
        previous=previous,
        waits=sentence("its container is not running ({reason})", reason=reason) if reason else "",
    )
    return await _shown(log, context)


async def _shown(log: PodLog, context: CommandContext) -> Answer:
    redact = Redactor(context.defaults.redact)
    found = await read_lines(log, context.cluster, redact=redact, now=context.now)
    named = bold(f"{log.namespace}/{log.pod}")
    title = sentence("The log of {pod}", pod=named)
    if log.container:
        title = sentence("The log of {pod}, container {container}", pod=named, container=log.container)
    return Answer(message=log_message(title, found.shown, found.source, f"{log.pod}.log", context))


def _container(pod: Pod, action: ShowPodLogs) -> tuple[str, bool]:
    """Return the container, and whether the run before is meant. Raises UnusableError for one that it does not have."""
    if not action.container:
        container, is_of_before = troubled_container(pod)
        return container, action.previous or is_of_before
    names = [one.name for one in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))]
    if action.container not in names:
        known_name(action.container, names, "container")
    return action.container, action.previous


LOGS: Command[ShowPodLogs] = Command(
    noun="pod",
    verb="logs",
    summary="Show the last log lines of a container, even if its pod is gone.",
    action=ShowPodLogs,
    parameters=(
        POD_ARGUMENT,
        option("--container", metavar="CONTAINER", help="default: the one that failed, or the first"),
        *log_options(),
    ),
    read=pod_log,
    rights=(READ_LOGS,),
    example="pod logs vision/detr-worker-3 --tail 200",
)
