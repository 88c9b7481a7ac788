"""Exec: run a program of the fixed list in a container, and keep what it says. There is no inverse."""

from typing import Any

from collectors.facts.one_line import printable
from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from commands.execution.node_effects import NO_EFFECTS_ON_NODES, NodeEffects
from commands.execution.object_refs import ObjectReader
from commands.execution.rights import Right
from commands.execution.step_outcomes import Done, Outcome, Refused, Waiting
from commands.execution.steps.step_kind import Attempt, DryRun, ObjectStep
from commands.execution.tools.reading import LINES, WHERE, WIDTH
from commands.execution.tools.tool_list import NOT_THERE, TOOLS

KEPT_LINE = WIDTH * 2  # characters: redaction may make a line longer
_NEVER_STARTS = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError"}
)


class Exec(ObjectStep, frozen=True, kw_only=True, omit_defaults=True, tag="exec"):
    """Run the `tool`, a name of the fixed list, in a container of the pod with this uid.

    `rank` is what people call the pod among others. Its outcome's first line is where it is; the others are what that
    rests on, and a line that begins with `!` is why nothing was learned. A container that is starting is waited for.
    """

    tool: str
    container: str
    rank: str = ""
    seconds: float = 60

    @property
    def limit(self) -> float:
        return self.seconds

    def meaning(self) -> list[object]:
        return ["Exec", self.ref, self.tool]

    def inverse(self, uid: str) -> None:
        return None

    def on_nodes(self) -> NodeEffects:
        return NO_EFFECTS_ON_NODES

    @classmethod
    def rights(cls, group: str, *resources: str, namespace: str = "") -> tuple[Right, ...]:
        execs = tuple(f"{resource}/exec" for resource in resources)
        return (
            Right(group=group, resources=resources, verbs=("get",), namespace=namespace),
            # A websocket is opened with GET, for which an API server wants `get`, and since 1.35 `create` as well.
            Right(group=group, resources=execs, verbs=("get", "create"), namespace=namespace),
        )

    async def dry_run(self, run: DryRun) -> Outcome:
        found = await run.read(self.ref)
        return Done() if found is not None else _gone(self)

    async def apply(self, attempt: Attempt) -> Outcome:
        attempt.was_sent = False  # nothing is changed: it may be run again
        if self.tool not in TOOLS:
            return Refused(reason=sentence("{tool} is not a program of the list", tool=self.tool))
        found = await attempt.writer.read(self.ref)
        if found is None:
            return _gone(self)
        if (waits := _waits(found, self.container)) is not None:
            return waits
        tool = TOOLS[self.tool]
        try:
            said = await attempt.writer.execute(self.ref, self.container, tool.command, seconds=self.seconds)
        except SourceError as error:
            if error.temporary or error.status is not None:
                raise
            return _not_there(self) if _says_not_there(str(error)) else Refused(reason=_bounded(str(error)))
        if said.exit_code in NOT_THERE:
            return _not_there(self)
        result = tool.read(said.text, said.exit_code)
        if result.error:
            return Done(text=f"!{_bounded(result.error)}", is_ours=False)
        lines = [_bounded(line, KEPT_LINE) for line in result.lines[:LINES]]
        return Done(text="\n".join((_bounded(result.where), *lines)), is_ours=False)

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        return Refused(reason=sentence("nothing was changed, and its output was lost"))


def _bounded(text: str, most: int = WHERE) -> str:
    return printable(text, most)


def _gone(step: Exec) -> Outcome:
    return Refused(reason=sentence("{pod} is gone", pod=f"{step.ref.namespace}/{step.ref.name}"))


def _not_there(step: Exec) -> Outcome:
    return Done(
        text="!" + sentence("container {container} has no {tool}", container=step.container, tool=step.tool),
        is_ours=False,
    )


def _says_not_there(error: str) -> bool:
    """Whether a container runtime says that there is no such program: it then runs nothing."""
    return "executable file not found" in error or "no such file or directory" in error


def _waits(pod: dict[str, Any], container: str) -> Outcome | None:
    """Return why the program cannot be run in the container now; None for one that runs."""
    status = pod.get("status") or {}
    for one in (*(status.get("containerStatuses") or ()), *(status.get("ephemeralContainerStatuses") or ())):
        if one.get("name") != container:
            continue
        state = one.get("state") or {}
        if "running" in state:
            return None
        if "terminated" in state:
            return Refused(reason=sentence("container {container} has ended", container=container))
        reason = (state.get("waiting") or {}).get("reason") or "ContainerCreating"
        if reason in _NEVER_STARTS:
            message = (state.get("waiting") or {}).get("message") or ""
            return Refused(reason=_bounded(f"{reason}: {message}".rstrip(": ")))
        return Waiting(
            reason=sentence("container {container} waits: {reason}", container=container, reason=reason)
        )
    if status.get("phase") == "Running":
        return Waiting(
            reason=sentence("container {container} waits: {reason}", container=container, reason="new")
        )
    return Refused(reason=sentence("its phase is {phase}", phase=status.get("phase") or "?"))
