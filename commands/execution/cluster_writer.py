"""The only writer to Kubernetes. Every write carries our field manager and may be a dry run."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from collectors.facts.results import SourceError
from collectors.facts.sentences import Sentence, sentence
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesError
from collectors.sources.kubernetes.exec_stream import ExecOutput, run_in_container
from commands.execution.access import Access, KubernetesUser
from commands.execution.object_paths import address, collection
from commands.execution.object_refs import JsonValue, ObjectRef, ref_of
from commands.execution.preconditions import first_missing, value_at

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class NotAsWrittenError(SourceError):
    """A write was accepted, and its answer is not what was written: it may have been taken back, or never done."""


FIELD_MANAGER = "yardmaster"
MERGE_PATCH = "application/merge-patch+json"
OUR_ANNOTATIONS = "yardmaster.io/"


class ClusterWriter:
    """Reads the current state of single objects, and writes them. Raises KubernetesError with the server's message.

    With a `user` it writes in their name, with their rights; it always reads with its own.
    """

    def __init__(self, client: KubernetesClient, user: KubernetesUser | None = None) -> None:
        self._client = client
        self.user = user

    def acting_as(self, user: KubernetesUser) -> "ClusterWriter":
        """Return a writer to the same cluster that writes as this user."""
        return ClusterWriter(self._client, user)

    async def refusal(self, access: Access) -> str | None:
        """Return why Kubernetes refuses this access to the user, or None if it allows it."""
        found = self._decoded(await self._write_call("POST", _REVIEWS, body=access.review()))
        status = found.get("status") or {}
        return None if status.get("allowed") else self._may_not(str(access), str(status.get("reason", "")))

    async def read(self, ref: ObjectRef, subresource: str = "") -> dict[str, Any] | None:
        """Return the object, or None if it does not exist or has another uid."""
        try:
            found = self._decoded(await self._client.call("GET", address(ref, subresource)))
        except KubernetesError as error:
            if error.status == 404:
                return None
            raise
        if other := _other_than(ref, found):
            raise SourceError(
                sentence(
                    "{where} was asked for {ref} and answered with {other}",
                    where=self._client.where,
                    ref=str(ref),
                    other=other,
                )
            )
        return None if ref.uid and found["metadata"].get("uid") != ref.uid else found

    async def listing(self, ref: ObjectRef, *, fields: str = "", labels: str = "") -> list[dict[str, Any]]:
        """Return the objects of the reference's kind in its namespace, or in all. Meant for few objects."""
        selectors = {"fieldSelector": fields, "labelSelector": labels}
        params = {name: selector for name, selector in selectors.items() if selector}
        found = self._decoded(await self._client.call("GET", collection(ref), params=params))
        items: list[dict[str, Any]] = found.get("items") or []
        return items

    async def pod_log(self, ref: ObjectRef, *, tail: int, byte_limit: int) -> str:
        """Return the last lines of the log of a pod's container, as they are: nothing is redacted."""
        params = {"tailLines": str(tail), "limitBytes": str(byte_limit)}
        accept = (("Accept", "*/*"),)
        found = await self._client.call("GET", address(ref, "log"), params=params, headers=accept)
        return found.decode(errors="replace")

    async def patch(
        self,
        ref: ObjectRef,
        body: dict[str, JsonValue],
        *,
        subresource: str = "",
        version: str = "",
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Merge-patch the object. With a resourceVersion, raises 409 if the object has another version by now.

        Raises NotAsWrittenError if the answer is not that object, or lacks what was written.
        """
        sent = body
        if version:
            sent = {**body, "metadata": {**body.get("metadata", {}), "resourceVersion": version}}
        path = address(ref, subresource)
        found = await self._write("PATCH", path, sent, dry_run=dry_run, content_type=MERGE_PATCH)
        return self._as_written(ref, found, body)

    async def scale(self, ref: ObjectRef, replicas: int, *, dry_run: bool = False) -> dict[str, Any]:
        return await self.patch(ref, {"spec": {"replicas": replicas}}, subresource="scale", dry_run=dry_run)

    async def create(self, manifest: dict[str, Any], *, dry_run: bool = False) -> dict[str, Any]:
        """Create the object. Admission may change its spec, so that only its name and our annotations are compared.

        Raises NotAsWrittenError if the answer is another object.
        """
        ref, annotations = ref_of(manifest), manifest["metadata"].get("annotations") or {}
        found = await self._write("POST", collection(ref), manifest, dry_run=dry_run)
        ours = {key: value for key, value in annotations.items() if key.startswith(OUR_ANNOTATIONS)}
        return self._as_written(ref, found, {"metadata": {"annotations": ours}})

    async def evict(self, ref: ObjectRef, *, dry_run: bool = False) -> None:
        """Begin to end the pod, with its own grace period. Raises KubernetesError 429 if a budget forbids it now."""
        options: dict[str, Any] = {"preconditions": {"uid": ref.uid}} if ref.uid else {}
        if dry_run:
            options["dryRun"] = ["All"]
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": ref.name, "namespace": ref.namespace},
            "deleteOptions": options,
        }
        self._decoded(await self._write_call("POST", address(ref, "eviction"), body=body))

    async def delete(self, ref: ObjectRef, *, dry_run: bool = False) -> None:
        """Delete exactly that object; its dependants are deleted in the background.

        Raises NotAsWrittenError if the answer does not say that it is being deleted. For some kinds it is the object as
        it was.
        """
        options: dict[str, Any] = {"propagationPolicy": "Background"}
        if ref.uid:
            options["preconditions"] = {"uid": ref.uid}
        if dry_run:
            options["dryRun"] = ["All"]
        found = self._decoded(await self._write_call("DELETE", address(ref), body=options))
        is_success = found["kind"] == "Status" and found.get("status") == "Success"
        if not dry_run and not is_success and not found["metadata"].get("deletionTimestamp"):
            raise NotAsWrittenError(
                sentence(
                    "{where} accepted the deletion of {ref} and did not say that it is being deleted",
                    where=self._client.where,
                    ref=str(ref),
                ),
                temporary=False,
            )

    async def execute(
        self, ref: ObjectRef, container: str, command: Sequence[str], *, seconds: float
    ) -> ExecOutput:
        """Run a program in a container of the pod, and return what it printed and its exit code."""
        headers = self.user.headers if self.user else ()
        return await run_in_container(
            self._client, ref.namespace, ref.name, container, command, seconds=seconds, headers=headers
        )

    async def _write(
        self, method: str, path: str, body: JsonValue, *, dry_run: bool, content_type: str = ""
    ) -> dict[str, Any]:
        params = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}
        if dry_run:
            params["dryRun"] = "All"
        return self._decoded(
            await self._write_call(method, path, params=params, body=body, content_type=content_type)
        )

    async def _write_call(self, method: str, path: str, **request: Any) -> bytes:
        """Send a request in the name of the user, if there is one. A refusal of their rights reads like one of ours."""
        if self.user is None:
            return await self._client.call(method, path, **request)
        try:
            return await self._client.call(method, path, headers=self.user.headers, **request)
        except KubernetesError as error:
            if error.status != 403 or error.causes:
                raise
            said = self._may_not(f"{method} {path}", error.message)
            raise KubernetesError(said, status=403, reason=error.reason, message=error.message) from error

    def _may_not(self, what: str, why: str) -> Sentence:
        """Return that the user has no right to it, as Kubernetes says."""
        user = self.user.user if self.user else sentence("Yardmaster")
        if not why:
            return sentence("Kubernetes does not allow `{what}` to {user}.", what=what, user=user)
        return sentence("Kubernetes does not allow `{what}` to {user}: {why}", what=what, user=user, why=why)

    def _as_written(
        self, ref: ObjectRef, found: dict[str, Any], body: Mapping[str, JsonValue]
    ) -> dict[str, Any]:
        """Return the answer to a write if it is that object and has what was written. Defaults may be added to it."""
        where = self._client.where
        if other := _other_than(ref, found, with_uid=True):
            raise NotAsWrittenError(
                sentence(
                    "{where} accepted the change of {ref} and answered with {other}",
                    where=where,
                    ref=str(ref),
                    other=other,
                ),
                temporary=False,
            )
        if (missing := first_missing(found, body)) is not None:
            raise NotAsWrittenError(
                sentence(
                    "{where} accepted the change of {ref} and answered that {path} is {found}, not {written}: "
                    "something there, such as an admission webhook, takes it back",
                    where=where,
                    ref=str(ref),
                    path=".".join(missing.path),
                    found=repr(value_at(found, missing.path)),
                    written=repr(missing.equals),
                ),
                temporary=False,
            )
        return found

    def _decoded(self, body: bytes) -> dict[str, Any]:
        try:
            found = msgspec.json.decode(body, type=dict[str, Any])
            if not isinstance(found.get("metadata"), dict) or not isinstance(found.get("kind"), str):
                raise msgspec.ValidationError(sentence("no kind or no metadata"))
            return found
        except msgspec.DecodeError as error:  # a proxy's error page, or a truncated response
            raise SourceError(
                sentence(
                    "{where} did not answer with a Kubernetes object: is there a proxy in between?",
                    where=self._client.where,
                )
            ) from error


def _other_than(ref: ObjectRef, found: Mapping[str, Any], *, with_uid: bool = False) -> str:
    """Return what was found if it is not the object of this name, and with `with_uid` of this uid."""
    meta = found["metadata"]
    name, namespace = meta.get("name"), meta.get("namespace") or ""
    is_it = name == ref.name and (not ref.namespace or namespace == ref.namespace)
    if is_it and with_uid and ref.uid and meta.get("uid") != ref.uid:
        return sentence("another {kind} of this name", kind=found["kind"])
    if is_it:
        return ""
    where = f"{namespace}/" if namespace else ""
    return (
        f"{found['kind']} {where}{name}" if name else sentence("a {kind} without a name", kind=found["kind"])
    )
