"""The rules in a cluster's PrometheusRule objects, read again and again.

Whoever may create such objects decides how much there is to parse. So it is done in a thread, each object once as long
as it stays the same, and no round takes long.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import msgspec

from alerts.loading import Loaded, load, merge
from alerts.rules import Diagnostic, FileLocation, Symbols
from bot.evaluation.rulebook import symbols
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from collectors.readable_json import json_decoded
from collectors.sources.kubernetes.source import KubernetesSource

PATH = "/apis/monitoring.coreos.com/v1/prometheusrules"
LARGEST = 512 << 10  # bytes of an object; etcd takes up to 1.5 MiB
ROUND = 10.0  # seconds after which no further object is begun: the next round goes on


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parsed:
    """An object as it was parsed, with the digest of what was parsed."""

    digest: bytes
    loaded: Loaded


@dataclass(slots=True)
class RuleObjects:
    """What was parsed of a cluster's objects, by name, and what all of them are together."""

    cluster: str
    _parsed: dict[str, _Parsed] = field(default_factory=dict)
    _merged_from: tuple[bytes, ...] = ()
    _merged: Loaded = field(default_factory=Loaded)

    async def read(self, source: KubernetesSource) -> Loaded:
        """Read and parse them. A broken one gives a diagnostic, and the others load.

        When there are more than one round can parse, the answer is a diagnostic without any rule.
        """
        found: dict[str, _Parsed] = {}
        left, is_whole = ROUND, True
        try:
            async for page in source.pages(PATH):
                parsed, is_all, took = await asyncio.to_thread(_parse, page, self.cluster, self._parsed, left)
                found |= parsed
                self._parsed |= parsed  # should a later page fail
                left, is_whole = left - took, is_whole and is_all
        except SourceError as error:
            if error.status == 404:
                self._parsed = {}
                return Loaded()  # the cluster does not serve the kind
            return _failed(said_by(error))
        self._parsed = found
        if not is_whole:
            return _failed(
                sentence(
                    "there is too much to parse in {seconds:.0f} s: the next read goes on", seconds=ROUND
                )
            )
        if (digests := tuple(one.digest for one in found.values())) != self._merged_from:
            files = [one.loaded for one in found.values()]
            self._merged = await asyncio.to_thread(_of_cluster, files, self.cluster)
            self._merged_from = digests
        return self._merged


def _parse(
    page: bytes, cluster: str, known: Mapping[str, _Parsed], within: float
) -> tuple[dict[str, _Parsed], bool, float]:
    """Return the objects of a page that are parsed, whether that is all, and the seconds that it took.

    After `within` seconds no further one is parsed.
    """
    began, words = time.perf_counter(), symbols()
    found: dict[str, _Parsed] = {}
    is_whole = True
    for item in json_decoded(msgspec.json.decode, page).get("items") or []:
        text, name = _text_of(item, cluster)
        digest = blake2b(text, digest_size=16, person=b"rule object").digest()
        if (before := known.get(name)) is not None and before.digest == digest:
            found[name] = before
        elif time.perf_counter() - began > within:
            is_whole = False
        else:
            found[name] = _Parsed(digest=digest, loaded=_loaded(text, name, words))
    return found, is_whole, time.perf_counter() - began


def _text_of(item: dict[str, Any], cluster: str) -> tuple[bytes, str]:
    """Return an object without what changes although its rules do not, and the name of its rules' file."""
    meta = item["metadata"]
    name = f"{cluster}:{meta['namespace']}:{meta['name']}"  # no `/`: rule ids begin with it
    whole = {"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule", **item}
    whole["metadata"] = {"namespace": meta["namespace"], "name": meta["name"]}
    return msgspec.json.encode(whole), name  # JSON is YAML


def _loaded(text: bytes, name: str, words: Symbols) -> Loaded:
    if len(text) > LARGEST:
        reason = sentence(
            "it has {size} KiB, more than the {most} KiB that are read",
            size=len(text) >> 10,
            most=LARGEST >> 10,
        )
        return Loaded(diagnostics=(Diagnostic(location=FileLocation(file=name), message=reason),))
    return load(text, file=name, symbols=words, own=False)


def _failed(reason: str) -> Loaded:
    return Loaded(diagnostics=(Diagnostic(location=FileLocation(file=PATH), message=reason),))


def _of_cluster(files: Iterable[Loaded], cluster: str) -> Loaded:
    loaded = merge(files)
    groups = (
        replace(group, rules=tuple(replace(rule, cluster=cluster) for rule in group.rules))
        for group in loaded.groups
    )
    return replace(loaded, groups=tuple(groups))
