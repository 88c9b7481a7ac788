"""References to single objects of the cluster, and what reads them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from collectors.cluster.indexes import kind_in_api
from collectors.facts.workload_keys import shown_kind

JsonValue = Any  # any JSON value


class ObjectRef(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A reference to an object. With a `uid` it is exactly that object, not another one of the same name."""

    api: str  # v1, apps/v1, batch/v1, ...
    kind: str
    name: str
    namespace: str = ""
    uid: str = ""

    def __str__(self) -> str:
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind_typed} {where}{self.name}"

    @property
    def kind_typed(self) -> str:
        """The kind as kubectl takes it: with its group beside a built-in kind of its name, `job.batch.volcano.sh`."""
        return shown_kind(kind_in_api(self.kind, self.api)).lower()


def ref_of(manifest: Mapping[str, Any]) -> ObjectRef:
    """Return the reference to the object that a manifest describes, without a uid."""
    meta = manifest["metadata"]
    return ObjectRef(
        api=manifest["apiVersion"],
        kind=manifest["kind"],
        name=meta["name"],
        namespace=meta.get("namespace", ""),
    )


class ObjectReader(Protocol):
    async def read(self, ref: ObjectRef, subresource: str = "") -> dict[str, Any] | None:
        """Return the object's current state, or None if it is gone or has another uid. Raises SourceError."""
        ...

    async def listing(
        self, ref: ObjectRef, *, fields: str = "", labels: str = ""
    ) -> Sequence[dict[str, Any]]:
        """Return the objects of that kind in that namespace, or in all; the name is ignored. Raises SourceError.

        `fields` and `labels` are selectors. Meant for few objects.
        """
        ...
