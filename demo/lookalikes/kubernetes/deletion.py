"""Deletion of objects: preconditions, propagation, grace periods and finalizers."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from demo.lookalikes.kubernetes.errors import bad_request, conflict, invalid
from demo.lookalikes.kubernetes.objects import Json, deleting, dig, metadata, name_of, namespace_of, stamp
from demo.lookalikes.kubernetes.store import Store, Stored

_POLICIES = ("Background", "Foreground", "Orphan")
ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """How to delete an object. `grace` is in seconds; None leaves a choice to the kind."""

    grace: int | None = None
    propagation: str | None = None
    uid: str | None = None
    version: str | None = None


def delete_options_from(body: Any, query: dict[str, str]) -> DeleteOptions:
    """Read DeleteOptions from a body or a query, or refuse with 400 or 422 as the real server does."""
    options: Json = body if isinstance(body, dict) else {}
    grace = options.get("gracePeriodSeconds", query.get("gracePeriodSeconds"))
    if grace is not None and not str(grace).lstrip("-").isdigit():
        raise bad_request(f"gracePeriodSeconds must be a number of seconds, not {grace!r}")
    policy = options.get("propagationPolicy", query.get("propagationPolicy"))
    if options.get("orphanDependents") is True:
        policy = "Orphan"
    if policy is not None and policy not in _POLICIES:
        text = f'Invalid value: "{policy}": must be one of: "Foreground", "Background", "Orphan"'
        raise invalid("DeleteOptions", "", "meta.k8s.io", [("propagationPolicy", "FieldValueInvalid", text)])
    preconditions = options.get("preconditions") or {}
    return DeleteOptions(
        grace=None if grace is None else int(grace),
        propagation=policy,
        uid=preconditions.get("uid"),
        version=preconditions.get("resourceVersion"),
    )


def delete_stored(
    store: Store, stored: Stored, options: DeleteOptions, *, now: datetime, dry_run: bool
) -> tuple[Stored, bool]:
    """Start or finish a deletion, and return the object's last state and whether it is gone."""
    kind, tree = stored.kind, stored.tree
    meta = metadata(tree)
    _check_preconditions(stored, options)
    grace = _grace(stored, options)
    finalizers = _finalizers(stored, options)
    has_finalizers = bool(finalizers) or (
        kind.listing == "namespaces" and bool(dig(tree, "spec", "finalizers"))
    )
    if not has_finalizers and grace == 0:
        if dry_run:
            return stored, True
        return store.remove(kind, namespace_of(tree), name_of(tree)), True
    old = meta.get("deletionGracePeriodSeconds")
    if deleting(tree) and old is not None and (old <= grace) and finalizers == (meta.get("finalizers") or []):
        return stored, False
    ends = now + timedelta(seconds=grace)
    new_meta = {**meta, "deletionTimestamp": stamp(ends), "deletionGracePeriodSeconds": grace}
    if finalizers:
        new_meta["finalizers"] = finalizers
    if "generation" in meta and not deleting(tree):
        new_meta["generation"] = meta["generation"] + 1
    new = {**tree, "metadata": new_meta}
    if kind.listing == "namespaces":
        new["status"] = {**(tree.get("status") or {}), "phase": "Terminating"}
    if dry_run:
        return Store.stored(kind, new, stored.version), False
    return store.put(kind, new), False


def finish_if_free(store: Store, stored: Stored) -> None:
    """Remove an object that is being deleted once nothing blocks its removal."""
    tree, kind = stored.tree, stored.kind
    meta = metadata(tree)
    if not deleting(tree) or meta.get("finalizers"):
        return
    if kind.listing == "namespaces" and dig(tree, "spec", "finalizers"):
        return
    if meta.get("deletionGracePeriodSeconds"):
        return  # its kubelet has not confirmed yet
    if store.get(kind, namespace_of(tree), name_of(tree)) is stored:
        store.remove(kind, namespace_of(tree), name_of(tree), last=tree)


def _check_preconditions(stored: Stored, options: DeleteOptions) -> None:
    kind, meta = stored.kind, metadata(stored.tree)
    if options.uid is not None and options.uid != meta["uid"]:
        reason = f"Precondition failed: UID in precondition: {options.uid}, UID in object meta: {meta['uid']}"
        raise conflict(kind.plural, meta["name"], reason, kind.group)
    if options.version is not None and options.version != meta["resourceVersion"]:
        reason = (
            f"Precondition failed: ResourceVersion in precondition: {options.version}, "
            f"ResourceVersion in object meta: {meta['resourceVersion']}"
        )
        raise conflict(kind.plural, meta["name"], reason, kind.group)


def _grace(stored: Stored, options: DeleteOptions) -> int:
    if stored.kind.listing != "pods":
        return 0
    spec, phase = stored.tree.get("spec") or {}, dig(stored.tree, "status", "phase")
    if not spec.get("nodeName") or phase in ("Succeeded", "Failed"):
        return 0
    if options.grace is not None:
        return max(options.grace, 0)
    return int(spec.get("terminationGracePeriodSeconds", 30))


def _finalizers(stored: Stored, options: DeleteOptions) -> list[str]:
    """Return the finalizers of the object under the requested propagation."""
    policy = options.propagation
    kept = [
        f
        for f in metadata(stored.tree).get("finalizers") or ()
        if f not in (ORPHAN, FOREGROUND) or policy is None
    ]
    if policy is None and stored.kind.listing == "jobs.batch" and ORPHAN not in kept:
        policy = "Orphan"  # the old default of batch/v1, which the real server still has
    if policy == "Orphan":
        return [*kept, ORPHAN]
    return [*kept, FOREGROUND] if policy == "Foreground" else kept
