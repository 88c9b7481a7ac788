"""Discovery: whether the API server serves a kind. Source: Kubernetes' API concepts, `/apis`."""

from typing import TypeVar

import msgspec

from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from collectors.readable_json import json_decoded
from collectors.sources.kubernetes.source import KubernetesSource

T = TypeVar("T")


class _Version(msgspec.Struct, rename="camel"):
    group_version: str


class _Group(msgspec.Struct):
    versions: list[_Version]


class _Groups(msgspec.Struct):
    groups: list[_Group]


class _Resource(msgspec.Struct):
    name: str


class _Resources(msgspec.Struct):
    resources: list[_Resource]


async def is_served(source: KubernetesSource, path: str) -> bool:
    """Whether the API server has the resource of this path. Raises SourceError when that cannot be known.

    A 404 for the path is not enough: a proxy with a wrong prefix answers it for every path.
    """
    _, api, group, version, *rest = path.split("/")
    if api != "apis":
        return True  # every API server has the core group
    found = await _read(source, "/apis", _Groups)
    if not any(one.group_version == f"{group}/{version}" for of in found.groups for one in of.versions):
        return False
    try:
        served = await _read(source, f"/apis/{group}/{version}", _Resources)
    except SourceError as failure:
        if failure.status != 404:
            raise
        return False  # the list of the groups is ahead of it while a group is installed, and behind while it is removed
    return rest[-1] in {one.name for one in served.resources}


async def _read(source: KubernetesSource, path: str, type_: type[T]) -> T:
    try:
        return json_decoded(msgspec.json.Decoder(type_).decode, await source.get(path))
    except msgspec.DecodeError as failure:
        raise SourceError(
            sentence(
                "{where} answered GET {path} without a discovery document", where=source.where, path=path
            )
        ) from failure
