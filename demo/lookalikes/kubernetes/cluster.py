"""This file does the verbs: create, update, patch and delete as the real server does them, each in one step.

HTTP requests and the controllers use the same functions. Nothing here waits, so nothing here can interleave.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from demo.lookalikes.kubernetes import defaults, validation
from demo.lookalikes.kubernetes.admission import admit
from demo.lookalikes.kubernetes.custom_kinds import abandon, adopt
from demo.lookalikes.kubernetes.deletion import Deletion, delete_stored, finish_if_free
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

Change = Callable[[Json], Json]

# What a client cannot set or change.
_OWNED = (
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)


class Cluster:
    """The state of one cluster and what may be done to it."""

    def __init__(self, clock: Clock, *, history: int = 20_000) -> None:
        self.clock = clock
        self.kinds = Kinds()
        self.store = Store(history=history)

    def get(self, kind: Kind, namespace: str, name: str) -> Stored:
        """Return the object; refuses with 404."""
        found = self.store.get(kind, namespace, name)
        if found is None:
            raise not_found(kind.plural, name, kind.group)
        return found

    def create(
        self, kind: Kind, namespace: str, tree: Json, *, dry_run: bool = False, keep_status: bool = False
    ) -> Stored:
        """Create an object; refuses as the real server: 400, 403, 404 (namespace), 409, 422."""
        meta = dict(validation.checked_metadata(tree))
        if not meta.get("name") and meta.get("generateName"):
            meta["name"] = f"{meta['generateName']}{suffix()}"
        self._place(kind, namespace, tree, meta)
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
        return self._noticed(kind, stored)

    def replace(
        self, kind: Kind, namespace: str, name: str, tree: Json, *, dry_run: bool = False, part: str = ""
    ) -> Stored:
        """Put a whole object in the place of the old one; refuses 404, 409 (stale), 422."""
        meta = validation.checked_metadata(tree)
        if meta.get("name", name) != name:
            raise bad_request(
                f"the name of the object ({meta.get('name')}) does not match the name on the URL ({name})"
            )
        old = self.get(kind, namespace, name)
        if kind.listing == "leases.coordination.k8s.io" and not meta.get("resourceVersion"):
            fault = ("metadata.resourceVersion", "FieldValueInvalid",
                     "Invalid value: 0: must be specified for an update")  # fmt: skip
            raise invalid(kind.kind, name, kind.group, [fault])
        return self.update(old, tree, dry_run=dry_run, part=part)

    def patch(
        self, kind: Kind, namespace: str, name: str, change: Change, *, dry_run: bool = False, part: str = ""
    ) -> Stored:
        """Write the object that `change` makes of the old one; `part` is "" or "status"."""
        old = self.get(kind, namespace, name)
        tree = change(old.tree)
        if dig(tree, "metadata", "name") != name:
            fault = ("metadata.name", "FieldValueInvalid",
                     f'Invalid value: "{dig(tree, "metadata", "name")}": field is immutable')  # fmt: skip
            raise invalid(kind.kind, name, kind.group, [fault])
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
            if (kind.counts or kind.custom) and _meant(new) != _meant(old.tree):
                new["metadata"] = {**new["metadata"], "generation": old_meta.get("generation", 1) + 1}
        if new == old.tree:
            return old  # as the real server: a write that changes nothing is no event and no new version
        if dry_run:
            return Store.stored(kind, new, old.version)
        stored = self.store.put(kind, new)
        finish_if_free(self.store, stored)
        return self._noticed(kind, stored)

    def delete(
        self, kind: Kind, namespace: str, name: str, how: Deletion | None = None, *, dry_run: bool = False
    ) -> tuple[Stored, bool]:
        """Begin or finish the end of an object; returns its last state and whether it is gone."""
        stored = self.get(kind, namespace, name)
        last, gone = delete_stored(self.store, stored, how or Deletion(), now=self.clock(), dry_run=dry_run)
        if gone and not dry_run and kind.plural == "customresourcedefinitions":
            abandon(self.store, self.kinds, stored.tree)
        return last, gone

    def set_status(self, kind: Kind, namespace: str, name: str, status: Json) -> Stored:
        """Replace the whole status, as a controller or a kubelet does."""
        return self.patch(kind, namespace, name, lambda old: {**old, "status": status}, part="status")

    def resize(self, old: Stored, tree: Json, *, dry_run: bool = False) -> Stored:
        """Write a pod whose resources were checked by the resize rules."""
        if tree == old.tree:
            return old
        meta = metadata(old.tree)
        new = {**tree, "metadata": {**meta, "generation": meta.get("generation", 1) + 1}}
        return Store.stored(old.kind, new, old.version) if dry_run else self.store.put(old.kind, new)

    def bind(self, namespace: str, name: str, node: str, *, dry_run: bool = False) -> None:
        """Give a pod to a node, as a scheduler does; refuses 404, and 409 when it has one."""
        kind = self.kinds.named("pods")
        old = self.get(kind, namespace, name)
        if dig(old.tree, "spec", "nodeName"):
            why = f'pod {name} is already assigned to node "{dig(old.tree, "spec", "nodeName")}"'
            raise conflict("pods/binding", name, why)
        if dry_run:
            return
        status = old.tree.get("status") or {}
        scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None}
        conditions = with_condition(status.get("conditions") or [], scheduled, self.clock())
        tree = with_value(old.tree, ("spec", "nodeName"), node)
        self.store.put(kind, {**tree, "status": {**status, "conditions": conditions}})

    def _place(self, kind: Kind, namespace: str, tree: Json, meta: Json) -> None:
        if not kind.namespaced:
            meta.pop("namespace", None)
            return
        if meta.get("namespace") not in (None, "", namespace):
            raise bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        meta["namespace"] = namespace
        home = self.store.get(self.kinds.named("namespaces"), "", namespace)
        if home is None:
            raise not_found("namespaces", namespace)
        if "deletionTimestamp" in metadata(home.tree):
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            cause = {"reason": "NamespaceTerminating", "message": f"namespace {namespace} is being terminated",
                     "field": "metadata.namespace"}  # fmt: skip
            message = f'{kind.plural} "{meta.get("name", "")}" is forbidden: {why}'
            details = {"name": meta.get("name", ""), "kind": kind.plural, "causes": [cause]}
            raise RefusedError(403, "Forbidden", message, details=details)

    @staticmethod
    def _status_only(kind: Kind, old: Json, new: Json) -> Json:
        kept = with_value(old, ("status",), new.get("status"))
        if kind.custom:
            return kept
        for field in ("labels", "annotations"):  # the built-in kinds let a status write change these
            kept = with_value(kept, ("metadata", field), metadata(new).get(field))
        return kept

    def _noticed(self, kind: Kind, stored: Stored) -> Stored:
        if kind.plural == "customresourcedefinitions":
            return adopt(self.store, self.kinds, stored, now=self.clock())
        return stored


def _with_parts(kind: Kind, tree: Json) -> Json:
    """Return the object with spec and status: those of built-in kinds are structs, which are always written."""
    if kind.custom or not kind.keeps_status:
        return tree
    return {**tree, "spec": tree.get("spec") or {}, "status": tree.get("status") or {}}


def _without_empties(meta: Json) -> Json:
    """Return metadata without empty maps and lists, which the real server does not write."""
    left_out = ("labels", "annotations", "finalizers", "ownerReferences", "managedFields")
    return {key: value for key, value in meta.items() if value or key not in left_out}


def _meant(tree: Json) -> dict[str, Any]:
    """Return what the generation follows: everything but metadata and status."""
    return {key: value for key, value in tree.items() if key not in ("metadata", "status")}
