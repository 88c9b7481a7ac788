"""The only writer to Kubernetes. Every write carries our field manager and may be a dry run."""

from typing import Any

import msgspec

from collectors.cluster import kinds
from collectors.facts.results import SourceError
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesError
from commands.execution.object_refs import JsonValue, ObjectRef, ref_of

# (apiVersion, kind) -> (plural, whether it is namespaced): what is written and not cached
_NOT_CACHED: dict[tuple[str, str], tuple[str, bool]] = {
    ("v1", "Secret"): ("secrets", True),
    ("batch/v1", "CronJob"): ("cronjobs", True),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): ("horizontalpodautoscalers", True),
    ("scheduling.k8s.io/v1", "PriorityClass"): ("priorityclasses", False),
}


def collection(ref: ObjectRef) -> str:
    """Return the path of the object's collection. Raises KeyError for a kind that is not known here.

    Without a namespace it is that of all namespaces.
    """
    plural, is_namespaced = _collection(ref.api, ref.kind)
    root = "/api/v1" if ref.api == "v1" else f"/apis/{ref.api}"
    return (
        f"{root}/namespaces/{ref.namespace}/{plural}"
        if is_namespaced and ref.namespace
        else f"{root}/{plural}"
    )


def _collection(api: str, kind: str) -> tuple[str, bool]:
    for one in kinds.DEFAULT_KINDS:
        if (one.api, one.kind) == (api, kind):
            return one.path.rpartition("/")[2], one.is_namespaced
    return _NOT_CACHED[(api, kind)]


def address(ref: ObjectRef, subresource: str = "") -> str:
    """Return the path of the object or of its subresource."""
    return f"{collection(ref)}/{ref.name}" + (f"/{subresource}" if subresource else "")


FIELD_MANAGER = "yardmaster"
MERGE_PATCH = "application/merge-patch+json"


class ClusterWriter:
    """Reads the current state of single objects, and writes them. Raises KubernetesError with the server's message."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client

    async def read(self, ref: ObjectRef, subresource: str = "") -> dict[str, Any] | None:
        """Return the object, or None if it does not exist or has another uid."""
        try:
            found = self._decoded(await self._client.call("GET", address(ref, subresource)))
        except KubernetesError as error:
            if error.status == 404:
                return None
            raise
        return None if ref.uid and found["metadata"].get("uid") != ref.uid else found

    async def listing(self, ref: ObjectRef, *, fields: str = "", labels: str = "") -> list[dict[str, Any]]:
        """Return the objects of the reference's kind in its namespace, or in all. Meant for few objects."""
        selectors = {"fieldSelector": fields, "labelSelector": labels}
        params = {name: selector for name, selector in selectors.items() if selector}
        found = self._decoded(await self._client.call("GET", collection(ref), params=params))
        items: list[dict[str, Any]] = found.get("items") or []
        return items

    async def patch(
        self,
        ref: ObjectRef,
        body: dict[str, JsonValue],
        *,
        subresource: str = "",
        version: str = "",
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Merge-patch the object. With a resourceVersion, raises 409 if the object has another version by now."""
        if version:
            body = {**body, "metadata": {**body.get("metadata", {}), "resourceVersion": version}}
        path = address(ref, subresource)
        return await self._write("PATCH", path, body, dry_run=dry_run, content_type=MERGE_PATCH)

    async def scale(self, ref: ObjectRef, replicas: int, *, dry_run: bool = False) -> dict[str, Any]:
        return await self.patch(ref, {"spec": {"replicas": replicas}}, subresource="scale", dry_run=dry_run)

    async def create(self, manifest: dict[str, Any], *, dry_run: bool = False) -> dict[str, Any]:
        return await self._write("POST", collection(ref_of(manifest)), manifest, dry_run=dry_run)

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
        self._decoded(await self._client.call("POST", address(ref, "eviction"), body=body))

    async def delete(self, ref: ObjectRef, *, dry_run: bool = False) -> None:
        """Delete exactly that object; its dependants are deleted in the background."""
        options: dict[str, Any] = {"propagationPolicy": "Background"}
        if ref.uid:
            options["preconditions"] = {"uid": ref.uid}
        if dry_run:
            options["dryRun"] = ["All"]
        self._decoded(await self._client.call("DELETE", address(ref), body=options))

    async def _write(
        self, method: str, path: str, body: JsonValue, *, dry_run: bool, content_type: str = ""
    ) -> dict[str, Any]:
        params = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}
        if dry_run:
            params["dryRun"] = "All"
        return self._decoded(
            await self._client.call(method, path, params=params, body=body, content_type=content_type)
        )

    def _decoded(self, body: bytes) -> dict[str, Any]:
        try:
            found = msgspec.json.decode(body, type=dict[str, Any])
            if not isinstance(found.get("metadata"), dict) or not isinstance(found.get("kind"), str):
                raise msgspec.ValidationError("no kind or no metadata")
            return found
        except msgspec.DecodeError as error:  # a proxy's error page, or a truncated response
            raise SourceError(
                f"{self._client.where} did not answer with a Kubernetes object: is there a proxy in between?"
            ) from error
