"""Create: a new object, which carries the plan's id so that it is known again."""

from typing import Any

from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from collectors.sources.kubernetes.api_status import KubernetesError
from commands.execution.node_effects import NO_EFFECTS_ON_NODES, NodeEffects
from commands.execution.object_refs import JsonValue, ObjectReader, ObjectRef, ref_of
from commands.execution.rights import Right
from commands.execution.step_outcomes import Done, Outcome, Refused, Unknown, Waiting
from commands.execution.steps.delete import Delete
from commands.execution.steps.step_kind import (
    Attempt,
    DryRun,
    StepKind,
    kubectl_get,
    namespaces_of_ref,
    timeless,
)

PLAN_ANNOTATION = "yardmaster.io/plan"


class Create(StepKind, frozen=True, kw_only=True, omit_defaults=True, tag="create"):
    """Create an object. Its inverse deletes exactly that object, and only if the plan created it.

    We may create Secrets, but neither read nor delete them: an existing one that cannot be read is accepted, and
    none is deleted on undo; it is deleted with its namespace.
    """

    manifest: dict[str, JsonValue]
    is_secret: bool = False  # never shown, never logged
    copies: ObjectRef | None = None  # source of type and data, read at creation so that no plan contains them

    @property
    def ref(self) -> ObjectRef:
        return ref_of(self.manifest)

    @property
    def how_to_check(self) -> str:
        return kubectl_get(self.ref)

    def meaning(self) -> list[object]:
        return ["Create", self.ref, timeless(self.manifest)]

    def inverse(self, uid: str) -> Delete | None:
        if self.is_secret:
            return None
        ref = self.ref
        made = ObjectRef(api=ref.api, kind=ref.kind, name=ref.name, namespace=ref.namespace, uid=uid)
        return Delete(ref=made, description=sentence("delete {ref}, which this plan created", ref=str(ref)))

    def on_nodes(self) -> NodeEffects:
        return NO_EFFECTS_ON_NODES

    def namespaces(self) -> tuple[str, ...]:
        return namespaces_of_ref(self.ref)

    @classmethod
    def rights(
        cls, group: str, *resources: str, namespace: str = "", names: tuple[str, ...] = ()
    ) -> tuple[Right, ...]:
        """Return the rights. Kubernetes cannot limit names that are created, only names that are read."""
        return (
            Right(group=group, resources=resources, verbs=("create",), namespace=namespace),
            Right(group=group, resources=resources, verbs=("get",), namespace=namespace, names=names),
        )

    async def dry_run(self, run: DryRun) -> Outcome:
        run.made.add(self.ref)
        manifest = await self._with_content(run.writer)
        is_early = ObjectRef(api="v1", kind="Namespace", name=self.ref.namespace) in run.made
        if is_early:  # in another namespace, as its own does not exist yet
            manifest = {**manifest, "metadata": {**manifest["metadata"], "namespace": "default"}}
        try:
            await run.writer.create(manifest, dry_run=True)
        except SourceError as error:
            is_free = self.is_secret or is_early or run.is_gone(self.ref)  # we may not read Secrets
            is_accepted = error.status == 409 and is_free
            if not is_accepted and not (
                is_early and isinstance(error, KubernetesError) and "exceeded quota" in error.message
            ):
                raise
        return Done()

    async def apply(self, attempt: Attempt) -> Outcome:
        manifest = await self._with_content(attempt.writer)
        meta = manifest["metadata"]
        annotations = {**meta.get("annotations", {}), PLAN_ANNOTATION: attempt.plan}
        manifest = {**manifest, "metadata": {**meta, "annotations": annotations}}
        was_sent = attempt.was_sent
        try:
            made = await attempt.send(attempt.writer.create(manifest))
            return Done(text=sentence("created"), uid=made["metadata"].get("uid", ""))
        except SourceError as error:
            if error.status != 409:
                raise
            refused = said_by(error)
        try:
            found = await attempt.writer.read(self.ref)
        except SourceError as error:
            if error.status == 403 and self.is_secret:
                return Done(
                    text=sentence("already created") if was_sent else sentence("already there"),
                    is_ours=was_sent,
                )
            raise
        # A quota is being updated, or an object of this name is being deleted.
        if found is None or "deletionTimestamp" in found["metadata"]:
            return Waiting(
                reason=sentence("{ref} could not be created: {refused}", ref=str(self.ref), refused=refused)
            )
        if _is_made_by(attempt.plan, found):
            return Done(text=sentence("already created"), uid=found["metadata"].get("uid", ""))
        return Refused(
            reason=sentence("{ref} already exists and was not created by this plan", ref=str(self.ref))
        )

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        try:
            found = await reader.read(self.ref)
        except SourceError as error:
            if error.status == 403 and self.is_secret:
                return Unknown(reason=sentence("Yardmaster may not read {ref}", ref=str(self.ref)))
            raise
        if found is not None and _is_made_by(plan, found):
            return Done(text=sentence("created"), uid=found["metadata"].get("uid", ""))
        return Refused(reason=sentence("{ref} was not created by this plan", ref=str(self.ref)))

    async def _with_content(self, reader: ObjectReader) -> dict[str, Any]:
        """Return the manifest with the type and the data of the object that it copies."""
        if self.copies is None:
            return self.manifest
        found = await reader.read(self.copies)
        if found is None:
            raise SourceError(
                sentence("{copies} cannot be copied: it does not exist", copies=str(self.copies)),
                temporary=False,
            )
        return {
            **self.manifest,
            **{key: found[key] for key in ("type", "data", "binaryData") if key in found},
        }


def _is_made_by(plan: str, found: dict[str, Any]) -> bool:
    return bool(found["metadata"].get("annotations", {}).get(PLAN_ANNOTATION) == plan)
