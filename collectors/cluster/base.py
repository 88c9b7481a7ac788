"""Base types of the cached objects.

Objects are typed, frozen and decoded directly from the API's JSON. Field names are the API's in snake_case; a missing
field has the empty value; quantities stay text until `resources.parse_quantity` parses them. Source: the Kubernetes
API reference 1.36.

A large cluster has half a million conditions, mounts and requests, and few that differ: what recurs is kept once, and
what nobody reads is not kept.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from sys import intern
from typing import ClassVar, Final

import msgspec
from msgspec.structs import force_setattr

from collectors.facts.one_line import MESSAGE, NAME, one_line

Quantity = str | int | float
Quantities = dict[str, Quantity]
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"  # the whole object again


class ApiStruct(msgspec.Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """The base of all of them. They have no reference cycles, so the garbage collector can skip them."""


def share_texts(struct: ApiStruct, names: Iterable[str]) -> None:
    """Keep each text in these fields of a freshly decoded struct once, however many objects have it."""
    for name in names:
        text = getattr(struct, name)
        if text and type(text) is str:
            force_setattr(struct, name, intern(text))


class OwnerReference(ApiStruct, frozen=True):
    kind: str
    name: str
    api_version: str = ""
    uid: str = ""
    controller: bool = False

    def __post_init__(self) -> None:
        share_texts(self, ("kind", "name", "api_version", "uid"))


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

    def __post_init__(self) -> None:
        share_texts(self, ("namespace",))
        if self.labels:
            force_setattr(
                self, "labels", {intern(name): intern(value) for name, value in self.labels.items()}
            )
        if self.annotations and _LAST_APPLIED in self.annotations:
            kept = {name: value for name, value in self.annotations.items() if name != _LAST_APPLIED}
            force_setattr(self, "annotations", kept)


def make_one_line(explained: ApiStruct) -> None:
    """Make the reason and the message of a freshly decoded struct one line each."""
    for name, limit in (("reason", NAME), ("message", MESSAGE)):
        if text := getattr(explained, name):
            force_setattr(explained, name, one_line(text, limit))


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

    def __post_init__(self) -> None:
        make_one_line(self)
        share_texts(self, ("type", "status", "reason"))


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


def shared_requirements(of: ResourceRequirements) -> ResourceRequirements:
    """Return requirements that are equal, and kept once."""
    return _requirements(*(None if one is None else tuple(one.items()) for one in (of.requests, of.limits)))


@lru_cache(maxsize=4096)
def _requirements(
    requests: tuple[tuple[str, Quantity], ...] | None, limits: tuple[tuple[str, Quantity], ...] | None
) -> ResourceRequirements:
    return ResourceRequirements(
        requests=None if requests is None else dict(requests), limits=None if limits is None else dict(limits)
    )
