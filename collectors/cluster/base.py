"""Base types of the cached objects.

Objects are typed, frozen and decoded directly from the API's JSON. Field names are the API's in snake_case; a missing
field has the empty value; quantities stay text until `resources.parse_quantity` parses them. Source: the Kubernetes
API reference 1.36.
"""

from datetime import datetime
from typing import ClassVar

import msgspec
from msgspec.structs import force_setattr

from collectors.facts.one_line import MESSAGE, NAME, one_line

Quantity = str | int | float
Quantities = dict[str, Quantity]


class ApiStruct(msgspec.Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """The base of all of them. They have no reference cycles, so the garbage collector can skip them."""


class OwnerReference(ApiStruct, frozen=True):
    kind: str
    name: str
    api_version: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(ApiStruct, frozen=True):
    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None


def make_one_line(explained: ApiStruct) -> None:
    """Make the reason and the message of a freshly decoded struct one line each."""
    for name, limit in (("reason", NAME), ("message", MESSAGE)):
        force_setattr(explained, name, one_line(getattr(explained, name), limit))


class Explained(ApiStruct, frozen=True, kw_only=True):
    """A part of an object with a reason and a message, which whoever writes it words freely: each is one line here."""

    reason: str = ""
    message: str = ""

    def __post_init__(self) -> None:
        make_one_line(self)


class Condition(Explained, frozen=True):
    type: str
    status: str = ""
    last_transition_time: datetime | None = None


class LabelSelector(ApiStruct, frozen=True):
    match_labels: dict[str, str] | None = None


class KubernetesObject(ApiStruct, frozen=True):
    """An object with metadata. `api_kind` is its kind as it stands in keys, where that is not the name of the type."""

    api_kind: ClassVar[str] = ""
    metadata: ObjectMeta

    @classmethod
    def kind_in_keys(cls) -> str:
        """`Job`, `JobSet.jobset.x-k8s.io`."""
        return cls.api_kind or cls.__name__

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone for a cluster-scoped object."""
        meta = self.metadata
        return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name


class ResourceRequirements(ApiStruct, frozen=True):
    requests: Quantities | None = None
    limits: Quantities | None = None
