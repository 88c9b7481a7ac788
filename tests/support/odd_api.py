"""An API server in memory for what plans read and write: its answers may be lost, or of another object.

Nothing of it waits: a request gives the loop back a few times, so that two people's requests interleave.
"""

import asyncio
import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from collectors.facts.results import SourceError
from collectors.sources.kubernetes.api_status import error_of
from collectors.sources.kubernetes.client import KubernetesClient
from demo.lookalikes.kubernetes.patches import merge_patch

Tree = dict[str, Any]
Key = tuple[str, str, str]  # plural, namespace, name

# What may happen to a write, and whether it takes effect.
LOST = ("lost", "lost after it took effect")
OTHER = (
    "unchanged",
    "unchanged though it took effect",
    "another object",
    "another object though it took effect",
)
TAKEN_BACK = ("taken back", "taken back in the dry run too")
ODD = (*LOST, *OTHER, *TAKEN_BACK, "conflict", "forbidden")


class Killed(BaseException):
    """The process was killed at this request."""


@dataclass
class OddApi(KubernetesClient):
    """`oddity` is what happens to the next `odd_writes` writes; the next `dark` requests get no answer."""

    random: Random
    where: str = "kube"
    oddity: str = ""
    odd_writes: int = 0
    dark: int = 0
    dies_in: int = 0  # requests; 0: never
    objects: dict[Key, Tree] = field(default_factory=dict)
    changed: Callable[[], None] = lambda: None
    _version: int = 1

    # What happens by other hands.

    def put(self, plural: str, tree: Tree) -> None:
        meta = tree["metadata"]
        self._version += 1
        meta = {"uid": f"uid-{self._version}", **meta, "resourceVersion": str(self._version)}
        self.objects = {
            **self.objects,
            (plural, meta.get("namespace", ""), meta["name"]): {**tree, "metadata": meta},
        }
        self.changed()

    def patch(self, key: Key, body: Tree) -> Tree:
        new = merge_patch(copy.deepcopy(self.objects[key]), copy.deepcopy(body))
        if key[0] in ("deployments", "statefulsets"):
            new["status"] = {"readyReplicas": new["spec"]["replicas"]}
        self.put(key[0], new)
        return self.objects[key]

    def drop(self, key: Key) -> None:
        self.objects = {one: tree for one, tree in self.objects.items() if one != key}
        self.changed()

    # What it answers.

    async def call(self, method: str, path: str, **named: Any) -> bytes:
        for _ in range(self.random.randint(0, 4)):
            await asyncio.sleep(0)
        if self.dies_in:
            self.dies_in -= 1
            if self.dies_in == 0:
                raise Killed
        if self.dark:
            self.dark -= 1
            raise SourceError("kube did not answer completely within 10 s")
        plural, namespace, name, part = _parsed(path)
        params, body = named.get("params") or {}, named.get("body") or {}
        key, is_dry = (plural, namespace, name), "dryRun" in params or "dryRun" in body
        if not name and method == "GET":
            return json.dumps(self._listed(plural, namespace, params)).encode()
        if key not in self.objects:
            raise self._refused(404, "NotFound", f'{plural} "{name}" not found', method, path)
        before = _shown(self.objects[key], part)
        if method == "GET":
            return json.dumps(before).encode()
        oddity = self._oddity(is_dry)
        self._refuse(oddity, key, body, method, path)
        lands = not is_dry and oddity not in ("lost", "unchanged", "another object")
        after = _shown(self._written(method, key, part, body, oddity, lands=lands), part)
        if oddity in LOST:
            raise SourceError("kube did not answer completely within 10 s")
        if oddity.startswith("unchanged"):
            after = before
        if oddity.startswith("another object"):
            after = {**after, "metadata": {**after.get("metadata", {}), "name": "gpu-z99", "uid": "uid-0"}}
        return json.dumps(after).encode()

    def _oddity(self, is_dry: bool) -> str:
        if not self.odd_writes or (is_dry and self.oddity != "taken back in the dry run too"):
            return ""
        self.odd_writes -= not is_dry
        return self.oddity

    def _refuse(self, oddity: str, key: Key, body: Tree, method: str, path: str) -> None:
        meta = self.objects[key]["metadata"]
        version = (body.get("metadata") or {}).get("resourceVersion")
        uid = ((body.get("deleteOptions") or {}).get("preconditions") or {}).get("uid")
        if (
            oddity == "conflict"
            or (version and version != meta["resourceVersion"])
            or (uid and uid != meta["uid"])
        ):
            raise self._refused(409, "Conflict", "the object has been modified", method, path)
        if oddity == "forbidden":
            raise self._refused(403, "Forbidden", "no", method, path)

    def _written(self, method: str, key: Key, part: str, body: Tree, oddity: str, *, lands: bool) -> Tree:
        if part == "eviction":
            if lands:
                self.drop(key)
            return {"kind": "Status", "metadata": {}, "status": "Success"}
        assert method == "PATCH"
        kept = copy.deepcopy(body)
        (kept.get("metadata") or {}).pop("resourceVersion", None)
        if oddity in TAKEN_BACK:
            kept.pop("spec", None)
        if lands:
            return self.patch(key, kept)
        found: Tree = merge_patch(copy.deepcopy(self.objects[key]), kept)
        return found

    def _listed(self, plural: str, namespace: str, params: dict[str, str]) -> Tree:
        wanted = params.get("fieldSelector", "").partition("spec.nodeName=")[2]
        items = [
            tree
            for (kind, space, _), tree in self.objects.items()
            if kind == plural and namespace in ("", space) and wanted in ("", tree["spec"].get("nodeName"))
        ]
        return {"kind": "List", "metadata": {"resourceVersion": "1"}, "items": items}

    def _refused(self, status: int, reason: str, message: str, method: str, path: str) -> SourceError:
        body = json.dumps({"kind": "Status", "reason": reason, "message": message, "code": status}).encode()
        return error_of(status, body, {}, self.where, f"{method} {path}")


def _parsed(path: str) -> tuple[str, str, str, str]:
    """Return plural, namespace, name and subresource; the last two may be empty."""
    parts = path.strip("/").split("/")
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 2:
        namespace, parts = parts[1], parts[2:]
    plural, name, part = (*parts, "", "")[:3]
    return plural, namespace, name, part


def _shown(tree: Tree, part: str) -> Tree:
    if part != "scale":
        return tree
    replicas = tree["spec"]["replicas"]
    spec = {"replicas": replicas} if replicas else {}  # as the server omits 0
    return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": tree["metadata"], "spec": spec}
