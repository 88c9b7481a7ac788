"""The rules in a cluster's PrometheusRule objects, read again and again.

Whoever may create such objects decides how much there is to parse. So it is done in a thread, each object once as long
as it stays the same, and no round takes long.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import msgspec

from alerts.loading import Loaded, load, merge
from alerts.rules import Diagnostic, FileLocation, Symbols
from bot.evaluation.rulebook import symbols
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from collectors.sources.kubernetes.source import KubernetesSource

PATH = "/apis/monitoring.coreos.com/v1/prometheusrules"
LARGEST = 512 << 10  # bytes of an object; etcd takes up to 1.5 MiB
ROUND = 10.0  # seconds after which no further object is begun: the next round goes on


@dataclass(slots=True)
class RuleObjects:
    """What was parsed of a cluster's objects."""

    cluster: str
    _parsed: dict[bytes, Loaded] = field(default_factory=dict)  # by the digest of an object

    async def read(self, source: KubernetesSource) -> Loaded:
        """Read and parse them. A broken one gives a diagnostic, and the others load.

        When there are more than one round can parse, the answer is a diagnostic without any rule.
        """
        found: dict[bytes, Loaded] = {}
        left = ROUND
        try:
            async for page in source.pages(PATH):
                parsed, is_whole, took = await asyncio.to_thread(
                    _parse, page, self.cluster, self._parsed, left
                )
                found |= parsed
                self._parsed |= parsed
                left -= took
                if not is_whole:
                    return _failed(
                        sentence(
                            "there is too much to parse in {seconds:.0f} s: the next read goes on",
                            seconds=ROUND,
                        )
                    )
        except SourceError as error:
            if error.status == 404:
                self._parsed = {}
                return Loaded()  # the cluster does not serve the kind
            return _failed(said_by(error))
        self._parsed = found
        return _of_cluster(merge(list(found.values())), self.cluster)


def _parse(
    page: bytes, cluster: str, known: Mapping[bytes, Loaded], within: float
) -> tuple[dict[bytes, Loaded], bool, float]:
    """Return the objects of a page that could be parsed in time, whether that is all, and the seconds that it took."""
    began, words = time.perf_counter(), symbols()
    found: dict[bytes, Loaded] = {}
    for item in msgspec.json.decode(page).get("items") or []:
        text, name = _text_of(item, cluster)
        key = blake2b(text, digest_size=16, person=b"rule object").digest()
        if key not in known and time.perf_counter() - began > within:
            return found, False, within
        found[key] = known[key] if key in known else _loaded(text, name, words)
    return found, True, time.perf_counter() - began


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


def _of_cluster(loaded: Loaded, cluster: str) -> Loaded:
    groups = (
        replace(group, rules=tuple(replace(rule, cluster=cluster) for rule in group.rules))
        for group in loaded.groups
    )
    return replace(loaded, groups=tuple(groups))
