"""Evict: ask the API server to end a pod, which PodDisruptionBudgets may delay."""

import re

from collectors.facts.sentences import said_by, sentence
from collectors.sources.kubernetes.client import KubernetesError
from commands.execution.node_effects import NO_EFFECTS_ON_NODES, NodeEffects
from commands.execution.object_refs import ObjectReader
from commands.execution.rights import Right
from commands.execution.step_outcomes import Done, Outcome, Refused, Waiting
from commands.execution.steps.step_kind import Attempt, DryRun, ObjectStep

BLOCKED_FOR = 5.0  # seconds: an exhausted budget sends no Retry-After
_BUDGET = re.compile(r"[Dd]isruption budget (\S+)")


class Evict(ObjectStep, frozen=True, kw_only=True, omit_defaults=True, tag="evict"):
    """Evict the pod with this uid and wait until it is gone. It has its own grace period. There is no inverse.

    A PodDisruptionBudget that allows no disruption now is waited for.
    """

    seconds: float = 3600  # from the first attempt until the pod is gone

    @property
    def limit(self) -> float:
        return self.seconds

    def meaning(self) -> None:
        return None  # the node was decided, and pods come and go on it

    def inverse(self, uid: str) -> None:
        return None

    def on_nodes(self) -> NodeEffects:
        return NO_EFFECTS_ON_NODES

    @classmethod
    def rights(cls, group: str, *resources: str, namespace: str = "") -> tuple[Right, ...]:
        evictions = tuple(f"{resource}/eviction" for resource in resources)
        return (
            Right(group=group, resources=resources, verbs=("get",), namespace=namespace),
            Right(group=group, resources=evictions, verbs=("create",), namespace=namespace),
        )

    async def dry_run(self, run: DryRun) -> Outcome:
        try:
            await run.writer.evict(self.ref, dry_run=True)
        except KubernetesError as error:
            return self._refusal(error)
        return Done()

    async def apply(self, attempt: Attempt) -> Outcome:
        found = await attempt.writer.read(self.ref)
        if found is None:
            return Done()
        if found["metadata"].get("deletionTimestamp"):
            return _TERMINATING
        attempt.was_sent = False  # an eviction of an earlier process took no effect
        try:
            await attempt.send(attempt.writer.evict(self.ref))
        except KubernetesError as error:
            return self._refusal(error)
        return _TERMINATING

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        found = await reader.read(self.ref)
        if found is None or found["metadata"].get("deletionTimestamp"):
            return Done()
        return Refused(reason=sentence("{ref} is still running", ref=str(self.ref)))

    def _refusal(self, error: KubernetesError) -> Outcome:
        """Return what a refused eviction means. Raises the error if it means nothing special."""
        causes = dict(error.causes)
        again_in = error.retry_after.total_seconds() if error.retry_after else BLOCKED_FOR
        if error.status == 404:
            return Done(text=sentence("gone"))
        if error.status == 429 and "DisruptionBudget" in causes:
            message = causes["DisruptionBudget"]
            named = _BUDGET.search(message)
            return Waiting(
                reason=message,
                again_in=again_in,
                blocker=f"{self.ref.namespace}/{named[1]}" if named else message,
            )
        if error.status in (409, 429) or (error.status == 403 and "NamespaceTerminating" in causes):
            return Waiting(reason=error.message or said_by(error), again_in=again_in)
        if error.status == 500 and "more than one PodDisruptionBudget" in error.message:
            return Refused(
                reason=sentence(
                    "{ref} has more than one PodDisruptionBudget, so it can never be evicted",
                    ref=str(self.ref),
                )
            )
        raise error


_TERMINATING = Waiting(reason=sentence("terminating"))
