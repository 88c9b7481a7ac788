"""The state of an object that a row speaks of: the row is true while the API server shows this state. Pure."""

from collections.abc import Mapping
from typing import Any

import msgspec

from collectors.facts.sentences import sentence
from commands.execution.object_refs import ObjectRef
from commands.execution.preconditions import Precondition, difference


class ObjectState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An object that exists and has the required values; with `is_gone` one that is gone or being deleted.

    With `if_exists` a missing object is as good.
    """

    ref: ObjectRef
    requires: tuple[Precondition, ...] = ()
    subresource: str = ""
    if_exists: bool = False
    is_gone: bool = False

    def difference(self, found: Mapping[str, Any] | None) -> str:
        """Return how the object that was found differs; empty if it does not. None: there is none."""
        if self.is_gone:
            is_there = found is not None and not found["metadata"].get("deletionTimestamp")
            return sentence("{ref} still exists", ref=str(self.ref)) if is_there else ""
        if found is None:
            return "" if self.if_exists else sentence("{ref} no longer exists", ref=str(self.ref))
        return difference(found, self.requires, self.ref)


def name_of(ref: ObjectRef) -> ObjectRef:
    """Return the reference without its uid: what has the same name is the same place."""
    return msgspec.structs.replace(ref, uid="") if ref.uid else ref
