"""The verbs of the API: create, update, patch and delete, as in the real server.

HTTP requests and the controllers use the same functions. None of them awaits, so they cannot interleave.
"""

import uuid
from collections.abc import Callable
from typing import Any

from demo.lookalikes.kubernetes import defaults, validation
from demo.lookalikes.kubernetes.admission import admit
from demo.lookalikes.kubernetes.custom_kinds import establish, withdraw
from demo.lookalikes.kubernetes.deletion import DeleteOptions, delete_stored, finish_if_free
from demo.lookalikes.kubernetes.errors import (
    RefusedError,
    already_exists,
    bad_request,
    conflict,
    invalid,
    not_found,
    stale,
)
from demo.lookalikes.kubernetes.kinds import Kind, Kinds
from demo.lookalikes.kubernetes.objects import (
    Clock,
    Json,
    dig,
    metadata,
    stamp,
    suffix,
    with_condition,
    with_value,
)
from demo.lookalikes.kubernetes.store import Store, Stored

Edit = Callable[[Json], Json]

# The metadata that a client cannot set or change.
_OWNED = (
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)


class Cluster:
    """The objects of one cluster, and the operations on them."""

    def __init__(self, clock: Clock, *, history: int = 20_000) -> None:
        self.clock = clock
        self.kinds = Kinds()
        self.store = Store(history=history)

    def get(self, kind: Kind, namespace: str, name: str) -> Stored:
        """Return the object, or refuse with 404."""
        found = self.store.get(kind, namespace, name)
        if found is None:
            raise not_found(kind.plural, name, kind.group)
        return found

    def create(
        self, kind: Kind, namespace: str, tree: Json, *, dry_run: bool = False, keep_status: bool = False
    ) -> Stored:
        """Create an object, or refuse as the real server does: 400, 403, 404 (namespace), 409, 422."""
        meta = dict(validation.checked_metadata(tree))
        if not meta.get("name") and meta.get("generateName"):
            meta["name"] = f"{meta['generateName']}{suffix()}"
        self._set_namespace(kind, namespace, tree, meta)
        for field in (*_OWNED, "resourceVersion"):
            if field != "resourceVersion" or meta.get(field) in (None, ""):
                meta.pop(field, None)
        if "resourceVersion" in meta:
            raise bad_request("resourceVersion should not be set on objects to be created")
        meta |= {"uid": str(uuid.uuid4()), "creationTimestamp": stamp(self.clock())}
        if kind.counts or kind.custom:
            meta["generation"] = 1
        own = {"apiVersion": kind.api_version, "kind": kind.kind, **tree, "metadata": _without_empties(meta)}
        own["apiVersion"] = kind.api_version
        if kind.keeps_status and not keep_status and kind.listing != "nodes":
            own = with_value(own, ("status",), defaults.FIRST_STATUS.get(kind.listing))
        own = defaults.filled(kind.listing, _with_parts(kind, own))
        own = admit(self.store, self.kinds, kind, own)
        validation.check(kind, own)
        if kind.listing == "pods" and not keep_status:
            own["status"] = {"phase": "Pending", "qosClass": defaults.qos_class(own["spec"])}
        if self.store.get(kind, meta.get("namespace", ""), meta["name"]) is not None:
            raise already_exists(kind.plural, meta["name"], kind.group)
        if dry_run:
            return Store.stored(kind, own, 0)
        stored = self.store.put(kind, own)
        return self._served(kind, stored)

    def replace(
        self, kind: Kind, namespace: str, name: str, tree: Json, *, dry_run: bool = False, part: str = ""
    ) -> Stored:
        """Replace an object, or refuse with 404, 409 (stale) or 422."""
        meta = validation.checked_metadata(tree)
        if meta.get("name", name) != name:
            raise bad_request(
                f"the name of the object ({meta.get('name')}) does not match the name on the URL ({name})"
            )
        old = self.get(kind, namespace, name)
        if kind.listing == "leases.coordination.k8s.io" and not meta.get("resourceVersion"):
            error = ("metadata.resourceVersion", "FieldValueInvalid",
                     "Invalid value: 0: must be specified for an update")  # fmt: skip
            raise invalid(kind.kind, name, kind.group, [error])
        return self.update(old, tree, dry_run=dry_run, part=part)

    def patch(
        self, kind: Kind, namespace: str, name: str, change: Edit, *, dry_run: bool = False, part: str = ""
    ) -> Stored:
        """Write what `change` returns for the old object; `part` is "" or "status"."""
        old = self.get(kind, namespace, name)
        tree = change(old.tree)
        if dig(tree, "metadata", "name") != name:
            error = ("metadata.name", "FieldValueInvalid",
                     f'Invalid value: "{dig(tree, "metadata", "name")}": field is immutable')  # fmt: skip
            raise invalid(kind.kind, name, kind.group, [error])
        return self.update(old, tree, dry_run=dry_run, part=part)

    def update(self, old: Stored, tree: Json, *, dry_run: bool = False, part: str = "") -> Stored:
        """Write a new state over a known old one, with the checks of an update."""
        kind, old_meta = old.kind, metadata(old.tree)
        meta = dict(validation.checked_metadata(tree))
        version = meta.get("resourceVersion")
        if version not in (None, "", "0", str(old.version)):
            raise stale(kind.plural, old_meta["name"], kind.group)
        if meta.get("uid") not in (None, old_meta["uid"]):
            raise stale(kind.plural, old_meta["name"], kind.group)
        meta |= {field: old_meta[field] for field in ("name", "namespace", *_OWNED) if field in old_meta}
        for field in _OWNED:
            if field not in old_meta:
                meta.pop(field, None)
        meta["resourceVersion"] = old_meta["resourceVersion"]
        new = {**tree, "apiVersion": kind.api_version, "kind": kind.kind, "metadata": _without_empties(meta)}
        if part == "status":
            new = self._status_only(kind, old.tree, new)
        else:
            if kind.keeps_status:
                new = with_value(new, ("status",), old.tree.get("status"))
            new = defaults.filled(kind.listing, _with_parts(kind, new))
            validation.check(kind, new, old.tree)
            if (kind.counts or kind.custom) and _generation_content(new) != _generation_content(old.tree):
                new["metadata"] = {**new["metadata"], "generation": old_meta.get("generation", 1) + 1}
        if new == old.tree:
            return old  # as in the real server: no event and no new version without a change
        if dry_run:
            return Store.stored(kind, new, old.version)
        stored = self.store.put(kind, new)
        finish_if_free(self.store, stored)
        return self._served(kind, stored)

    def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        options: DeleteOptions | None = None,
        *,
        dry_run: bool = False,
    ) -> tuple[Stored, bool]:
        """Start or finish a deletion, and return the object's last state and whether it is gone."""
        stored = self.get(kind, namespace, name)
        last, gone = delete_stored(
            self.store, stored, options or DeleteOptions(), now=self.clock(), dry_run=dry_run
        )
        if gone and not dry_run and kind.plural == "customresourcedefinitions":
            withdraw(self.store, self.kinds, stored.tree)
        return last, gone

    def set_status(self, kind: Kind, namespace: str, name: str, status: Json) -> Stored:
        """Replace the status, as a controller or a kubelet does."""
        return self.patch(kind, namespace, name, lambda old: {**old, "status": status}, part="status")

    def resize(self, old: Stored, tree: Json, *, dry_run: bool = False) -> Stored:
        """Write a pod whose resources have passed the resize checks."""
        if tree == old.tree:
            return old
        meta = metadata(old.tree)
        new = {**tree, "metadata": {**meta, "generation": meta.get("generation", 1) + 1}}
        return Store.stored(old.kind, new, old.version) if dry_run else self.store.put(old.kind, new)

    def bind(self, namespace: str, name: str, node: str, *, dry_run: bool = False) -> None:
        """Bind a pod to a node, as a scheduler does, or refuse with 404, or with 409 when it is bound."""
        kind = self.kinds.named("pods")
        old = self.get(kind, namespace, name)
        if dig(old.tree, "spec", "nodeName"):
            reason = f'pod {name} is already assigned to node "{dig(old.tree, "spec", "nodeName")}"'
            raise conflict("pods/binding", name, reason)
        if dry_run:
            return
        status = old.tree.get("status") or {}
        scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None}
        conditions = with_condition(status.get("conditions") or [], scheduled, self.clock())
        tree = with_value(old.tree, ("spec", "nodeName"), node)
        self.store.put(kind, {**tree, "status": {**status, "conditions": conditions}})

    def _set_namespace(self, kind: Kind, namespace: str, tree: Json, meta: Json) -> None:
        if not kind.namespaced:
            meta.pop("namespace", None)
            return
        if meta.get("namespace") not in (None, "", namespace):
            raise bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        meta["namespace"] = namespace
        found = self.store.get(self.kinds.named("namespaces"), "", namespace)
        if found is None:
            raise not_found("namespaces", namespace)
        if "deletionTimestamp" in metadata(found.tree):
            reason = f"unable to create new content in namespace {namespace} because it is being terminated"
            cause = {"reason": "NamespaceTerminating", "message": f"namespace {namespace} is being terminated",
                     "field": "metadata.namespace"}  # fmt: skip
            message = f'{kind.plural} "{meta.get("name", "")}" is forbidden: {reason}'
            details = {"name": meta.get("name", ""), "kind": kind.plural, "causes": [cause]}
            raise RefusedError(403, "Forbidden", message, details=details)

    @staticmethod
    def _status_only(kind: Kind, old: Json, new: Json) -> Json:
        merged = with_value(old, ("status",), new.get("status"))
        if kind.custom:
            return merged
        for field in ("labels", "annotations"):  # built-in kinds let a status write change these
            merged = with_value(merged, ("metadata", field), metadata(new).get(field))
        return merged

    def _served(self, kind: Kind, stored: Stored) -> Stored:
        if kind.plural == "customresourcedefinitions":
            return establish(self.store, self.kinds, stored, now=self.clock())
        return stored


def _with_parts(kind: Kind, tree: Json) -> Json:
    """Return the object with spec and status, which built-in kinds always write because they are structs."""
    if kind.custom or not kind.keeps_status:
        return tree
    return {**tree, "spec": tree.get("spec") or {}, "status": tree.get("status") or {}}


def _without_empties(meta: Json) -> Json:
    """Return the metadata without the empty maps and lists that the real server omits."""
    omitted = ("labels", "annotations", "finalizers", "ownerReferences", "managedFields")
    return {key: value for key, value in meta.items() if value or key not in omitted}


def _generation_content(tree: Json) -> dict[str, Any]:
    """Return the part whose changes raise the generation: everything but metadata and status."""
    return {key: value for key, value in tree.items() if key not in ("metadata", "status")}
