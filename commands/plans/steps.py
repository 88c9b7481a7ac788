"""This file has the kinds of step: the smallest things a plan does, each with its precondition and its inverse.

They are stored with their plan, so they are tagged msgspec structs. What a step does to the world is in
`performing.py` and `cluster.py`; here it is only said.
"""

from typing import Any

import msgspec

Json = Any  # what JSON can hold


class ObjectRef(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An object of the cluster. With a `uid` it is that very object, and not another of the same name."""

    api: str  # v1, apps/v1, batch/v1, ...
    kind: str
    name: str
    namespace: str = ""
    uid: str = ""

    def __str__(self) -> str:
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind.lower()} {where}{self.name}"


class Precondition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A precondition: the value at `path` of the object must be `equals` (None: not there)."""

    path: tuple[str, ...]
    equals: Json = None


class Patch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="patch"):
    """A merge patch of one object, or of a subresource. `inverse` is the merge patch that takes it back."""

    ref: ObjectRef
    description: str
    body: dict[str, Json]
    requires: tuple[Precondition, ...] = ()
    inverse: dict[str, Json] | None = None
    subresource: str = ""


class Create(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="create"):
    """Create an object. Its inverse deletes that very object, and only if we made it.

    Secrets we may make, and neither read nor delete: one that is there already and cannot be looked at will do,
    and none is taken back; it goes with its namespace.
    """

    manifest: dict[str, Json]
    description: str
    is_secret: bool = False  # never shown, never logged
    copies: ObjectRef | None = (
        None  # its type and data are read from there when it is made: no plan holds them
    )

    @property
    def ref(self) -> ObjectRef:
        meta = self.manifest["metadata"]
        return ObjectRef(
            api=self.manifest["apiVersion"],
            kind=self.manifest["kind"],
            name=meta["name"],
            namespace=meta.get("namespace", ""),
        )


class Delete(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="delete"):
    """Delete the object with this uid, its dependants after it. There is no inverse."""

    ref: ObjectRef
    description: str


class Scale(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="scale"):
    """Set the replica count through the scale subresource, if it is still what it was."""

    ref: ObjectRef
    description: str
    replicas: int
    expected: int


class Wait(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="wait"):
    """Wait until the value at `path` of the object is `equals` or, for a number, at least that; or until it is gone."""

    ref: ObjectRef
    description: str
    path: tuple[str, ...] = ()
    equals: Json = None
    at_least: float | None = None
    is_gone: bool = False
    seconds: float = 120


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="record"):
    """Put or delete a row of our own store. `table` names it; `row` is the row as JSON; `inverse` what was before."""

    table: str
    id: str
    description: str
    row: dict[str, Json] | None = None  # None: delete it
    inverse: dict[str, Json] | None = None
    has_inverse: bool = True


Step = Patch | Create | Delete | Scale | Wait | Record
