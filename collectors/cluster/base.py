"""This file has what all cached objects are made of.

Objects are typed, frozen, and decoded straight from the API's JSON. Field names are the API's in snake_case; what
an object lacks has the empty value; quantities stay text until `resources.quantity` reads them. Source: the
Kubernetes API reference 1.36.
"""

from datetime import datetime

import msgspec

Quantity = str | int | float
Quantities = dict[str, Quantity]


class ApiStruct(msgspec.Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """What all of them are made as: no cycles, so the collector need not look at them."""


class OwnerReference(ApiStruct, frozen=True):
    kind: str
    name: str
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


class Condition(ApiStruct, frozen=True):
    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None


class LabelSelector(ApiStruct, frozen=True):
    match_labels: dict[str, str] | None = None


class KubernetesObject(ApiStruct, frozen=True):
    """Anything with a name of its own."""

    metadata: ObjectMeta

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone for what has no namespace."""
        of = self.metadata
        return f"{of.namespace}/{of.name}" if of.namespace else of.name


class ResourceRequirements(ApiStruct, frozen=True):
    requests: Quantities | None = None
    limits: Quantities | None = None
