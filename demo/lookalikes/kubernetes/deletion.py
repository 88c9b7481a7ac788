"""This file ends objects: preconditions, propagation, grace periods and finalizers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from demo.lookalikes.kubernetes.errors import bad_request, conflict, invalid
from demo.lookalikes.kubernetes.objects import Json, deleting, dig, metadata, name_of, namespace_of, stamp
from demo.lookalikes.kubernetes.store import Store, Stored

_POLICIES = ("Background", "Foreground", "Orphan")
ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """How an object shall end. `grace` is in seconds; None leaves a choice to the kind."""

    grace: int | None = None
    propagation: str | None = None
    uid: str | None = None
    version: str | None = None


def deletion_from(body: Any, query: dict[str, str]) -> Deletion:
    """Read DeleteOptions from a body or a query; refuses with 400 or 422 what the real server refuses."""
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
    wanted = options.get("preconditions") or {}
    return Deletion(
        grace=None if grace is None else int(grace),
        propagation=policy,
        uid=wanted.get("uid"),
        version=wanted.get("resourceVersion"),
    )


def delete_stored(
    store: Store, stored: Stored, how: Deletion, *, now: datetime, dry_run: bool
) -> tuple[Stored, bool]:
    """Begin or finish the end of an object; returns its last state and whether it is gone."""
    kind, tree = stored.kind, stored.tree
    meta = metadata(tree)
    _check_preconditions(stored, how)
    grace = _grace(stored, how)
    finalizers = _finalizers(stored, how)
    held = bool(finalizers) or (kind.listing == "namespaces" and bool(dig(tree, "spec", "finalizers")))
    if not held and grace == 0:
        if dry_run:
            return stored, True
        return store.remove(kind, namespace_of(tree), name_of(tree)), True
    was = meta.get("deletionGracePeriodSeconds")
    if deleting(tree) and was is not None and (was <= grace) and finalizers == (meta.get("finalizers") or []):
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
    """Remove an object that waits for its end when nothing holds it any more."""
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


def _check_preconditions(stored: Stored, how: Deletion) -> None:
    kind, meta = stored.kind, metadata(stored.tree)
    if how.uid is not None and how.uid != meta["uid"]:
        why = f"Precondition failed: UID in precondition: {how.uid}, UID in object meta: {meta['uid']}"
        raise conflict(kind.plural, meta["name"], why, kind.group)
    if how.version is not None and how.version != meta["resourceVersion"]:
        why = (
            f"Precondition failed: ResourceVersion in precondition: {how.version}, "
            f"ResourceVersion in object meta: {meta['resourceVersion']}"
        )
        raise conflict(kind.plural, meta["name"], why, kind.group)


def _grace(stored: Stored, how: Deletion) -> int:
    if stored.kind.listing != "pods":
        return 0
    spec, phase = stored.tree.get("spec") or {}, dig(stored.tree, "status", "phase")
    if not spec.get("nodeName") or phase in ("Succeeded", "Failed"):
        return 0
    if how.grace is not None:
        return max(how.grace, 0)
    return int(spec.get("terminationGracePeriodSeconds", 30))


def _finalizers(stored: Stored, how: Deletion) -> list[str]:
    """Return the finalizers that the wanted propagation leaves on the object."""
    policy = how.propagation
    kept = [
        f
        for f in metadata(stored.tree).get("finalizers") or ()
        if f not in (ORPHAN, FOREGROUND) or policy is None
    ]
    if policy is None and stored.kind.listing == "jobs.batch" and ORPHAN not in kept:
        policy = "Orphan"  # the old default of batch/v1, kept by the real server to this day
    if policy == "Orphan":
        return [*kept, ORPHAN]
    return [*kept, FOREGROUND] if policy == "Foreground" else kept
