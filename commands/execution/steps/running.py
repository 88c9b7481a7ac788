"""Running: wait until the pods of a workload that was resumed run again."""

from collections.abc import Mapping
from typing import Any

import msgspec

from collectors.cluster.objects import Pod
from collectors.facts.sentences import counted, listed, sentence
from collectors.trainings.ranks import problem_of
from commands.execution.node_effects import NO_EFFECTS_ON_NODES, NodeEffects
from commands.execution.object_refs import ObjectReader, ObjectRef
from commands.execution.rights import Right
from commands.execution.step_outcomes import Done, Outcome, Refused, Waiting
from commands.execution.steps.step_kind import Attempt, DryRun, ObjectStep

WAITS_FOR = 300.0  # seconds: images are pulled again, and the nodes may have no room yet
AGAIN_IN = 2.0  # seconds
_FAILED = ("Failed", "FailureTarget")
_ENDED = ("Complete", "Completed", "SuccessCriteriaMet", "Succeeded")


class Running(ObjectStep, frozen=True, kw_only=True, omit_defaults=True, tag="running"):
    """Wait until `count` pods with this label run. It fails once the workload has failed or is suspended again."""

    label: str  # key=value
    named_by: tuple[str, ...] = ()  # the path in the workload of the value, where the label is only the key
    count: int
    seconds: float = WAITS_FOR
    node: str = ""  # only pods on this node

    @property
    def limit(self) -> float:
        return self.seconds

    def meaning(self) -> list[object]:
        what = ["Running", self.ref, self.label]  # not how many: pods come and go
        return [*what, self.node] if self.node else what

    def inverse(self, uid: str) -> None:
        return None

    def on_nodes(self) -> NodeEffects:
        return NO_EFFECTS_ON_NODES

    @classmethod
    def rights(cls, group: str, *resources: str, namespace: str = "") -> tuple[Right, ...]:
        return (
            Right(group=group, resources=resources, verbs=("get",), namespace=namespace),
            Right(group="", resources=("pods",), verbs=("list",), namespace=namespace),
        )

    async def dry_run(self, run: DryRun) -> Outcome:
        return Done()

    async def apply(self, attempt: Attempt) -> Outcome:
        attempt.was_sent = False  # and not by an earlier process
        return await self._judged(attempt.writer)

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        return await self._judged(reader)

    async def _judged(self, reader: ObjectReader) -> Outcome:
        found = await reader.read(self.ref)
        if found is None:
            return Refused(reason=sentence("{ref} no longer exists", ref=str(self.ref)))
        conditions = {
            one["type"]: one for one in _conditions(found) if "type" in one and one.get("status") == "True"
        }
        if failed := next((conditions[one] for one in _FAILED if one in conditions), None):
            why = listed(filter(None, (failed.get("reason"), failed.get("message"))), ":")
            return Refused(
                reason=sentence(
                    "{ref} does not come back: it has failed ({why}) and has to be launched again",
                    ref=str(self.ref),
                    why=why,
                )
            )
        if any(one in conditions for one in _ENDED):
            return Done(text=sentence("it has ended by now"))
        if _is_suspended(found["spec"]):
            return Refused(reason=sentence("{ref} is suspended again", ref=str(self.ref)))
        if not (label := self._label(found)):
            return self._counted([])
        pods = ObjectRef(api="v1", kind="Pod", namespace=self.ref.namespace, name="")
        return self._counted(
            [
                msgspec.convert(one, Pod)
                for one in await reader.listing(pods, labels=label)
                if self.node in ("", one["spec"].get("nodeName"))
            ]
        )

    def _label(self, found: Mapping[str, Any]) -> str:
        """Return the label of its pods; empty while the workload does not name them."""
        if not self.named_by:
            return self.label
        value: Any = found
        for key in self.named_by:
            value = value.get(key) or {}
        return f"{self.label}={value}" if value else ""

    def _counted(self, pods: list[Pod]) -> Outcome:
        staying = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
        run = sum(pod.status.phase in ("Running", "Succeeded") for pod in staying)
        progress: str = counted(
            "{count} of {pods} pods runs", "{count} of {pods} pods run", count=run, pods=self.count
        )
        if run >= self.count:
            return Done(text=progress)
        for pod in sorted(staying, key=lambda pod: pod.metadata.name):
            reason, explanation = problem_of(pod)
            if reason:
                progress = sentence(
                    "{progress}; {pod} waits: {why}",
                    progress=progress,
                    pod=pod.metadata.name,
                    why=explanation or reason,
                )
                break
        return Waiting(reason=progress, again_in=AGAIN_IN)


def _is_suspended(spec: Mapping[str, Any]) -> bool:
    return bool(spec.get("suspend") or (spec.get("runPolicy") or {}).get("suspend"))


def _conditions(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    return (found.get("status") or {}).get("conditions") or []
