"""This file has the one writer to Kubernetes. Every write carries our field manager, and may be a dry run."""

from typing import Any

import msgspec

from collectors.facts.results import SourceError
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesError
from commands.plans.steps import Create, Delete, Json, ObjectRef, Patch, Scale

# (apiVersion, kind) -> (plural, whether it lives in a namespace)
_KINDS: dict[tuple[str, str], tuple[str, bool]] = {
    ("v1", "Namespace"): ("namespaces", False),
    ("v1", "Node"): ("nodes", False),
    ("v1", "Pod"): ("pods", True),
    ("v1", "Service"): ("services", True),
    ("v1", "ConfigMap"): ("configmaps", True),
    ("v1", "Secret"): ("secrets", True),
    ("apps/v1", "Deployment"): ("deployments", True),
    ("apps/v1", "StatefulSet"): ("statefulsets", True),
    ("apps/v1", "ReplicaSet"): ("replicasets", True),
    ("batch/v1", "Job"): ("jobs", True),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): ("horizontalpodautoscalers", True),
}


def collection(ref: ObjectRef) -> str:
    """The path of the collection that the object lives in. Raises KeyError for a kind that has no row here."""
    plural, is_namespaced = _KINDS[(ref.api, ref.kind)]
    root = "/api/v1" if ref.api == "v1" else f"/apis/{ref.api}"
    return f"{root}/namespaces/{ref.namespace}/{plural}" if is_namespaced else f"{root}/{plural}"


def address(ref: ObjectRef, subresource: str = "") -> str:
    """The path of the object, or of its subresource."""
    return f"{collection(ref)}/{ref.name}" + (f"/{subresource}" if subresource else "")


FIELD_MANAGER = "yardmaster"
MERGE_PATCH = "application/merge-patch+json"


class ClusterWriter:
    """Reads single objects as they are now, and writes them. Raises KubernetesError, with the server's words."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client

    async def read(self, ref: ObjectRef, subresource: str = "") -> dict[str, Any] | None:
        """The object, or None when it is not there or is another one of the same name."""
        try:
            found = self._decoded(await self._client.call("GET", address(ref, subresource)))
        except KubernetesError as error:
            if error.status == 404:
                return None
            raise
        return None if ref.uid and found["metadata"].get("uid") != ref.uid else found

    async def listing(self, ref: ObjectRef) -> list[dict[str, Any]]:
        """All objects of the reference's kind in its namespace. Meant for kinds of which there are few."""
        found = self._decoded(await self._client.call("GET", collection(ref)))
        items: list[dict[str, Any]] = found.get("items") or []
        return items

    async def patch(self, step: Patch, *, version: str = "", dry_run: bool = False) -> dict[str, Any]:
        """Merge-patch the object. With a resourceVersion it must still be that version, or 409 is raised."""
        body: dict[str, Json] = step.body
        if version:
            body = {**body, "metadata": {**body.get("metadata", {}), "resourceVersion": version}}
        path = address(step.ref, step.subresource)
        return await self._write("PATCH", path, body, dry_run=dry_run, content_type=MERGE_PATCH)

    async def create(self, step: Create, *, dry_run: bool = False, namespace: str = "") -> dict[str, Any]:
        """Create the object; a rehearsal may take another namespace, where its own is not there yet."""
        manifest, ref = step.manifest, step.ref
        if step.copies is not None:
            manifest = {**manifest, **await self._content(step.copies)}
        if namespace:
            manifest = {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}
            ref = ObjectRef(api=ref.api, kind=ref.kind, name=ref.name, namespace=namespace)
        return await self._write("POST", collection(ref), manifest, dry_run=dry_run)

    async def _content(self, source: ObjectRef) -> dict[str, Any]:
        found = await self.read(source)
        if found is None:
            raise SourceError(f"{source}, which was to be copied, is not there", temporary=False)
        return {key: found[key] for key in ("type", "data", "binaryData") if key in found}

    async def delete(self, step: Delete, *, dry_run: bool = False) -> None:
        """Delete that very object; its dependants go after it."""
        options: dict[str, Any] = {"propagationPolicy": "Background"}
        if step.ref.uid:
            options["preconditions"] = {"uid": step.ref.uid}
        if dry_run:
            options["dryRun"] = ["All"]
        await self._client.call("DELETE", address(step.ref), body=options)

    async def scale(self, step: Scale, *, dry_run: bool = False) -> dict[str, Any]:
        body = {"spec": {"replicas": step.replicas}}
        return await self._write(
            "PATCH", address(step.ref, "scale"), body, dry_run=dry_run, content_type=MERGE_PATCH
        )

    async def _write(
        self, method: str, path: str, body: Json, *, dry_run: bool, content_type: str = ""
    ) -> dict[str, Any]:
        params = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}
        if dry_run:
            params["dryRun"] = "All"
        return self._decoded(
            await self._client.call(method, path, params=params, body=body, content_type=content_type)
        )

    def _decoded(self, body: bytes) -> dict[str, Any]:
        try:
            return msgspec.json.decode(body, type=dict[str, Any])
        except msgspec.DecodeError as error:  # a proxy's own page, or half an answer
            raise SourceError(
                f"{self._client.where} answered with something that is no object of Kubernetes: is a proxy between us?"
            ) from error
