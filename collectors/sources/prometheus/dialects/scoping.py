"""The scope of a cluster in a shared store: which series are this cluster's, and which exist twice.

A store for many clusters, such as Thanos or Mimir, has a label for them. The nodes that series name show which of its
values are this cluster's. Where several Prometheus scrape the same targets, their copies differ by a label. Both are
looked up before the first query, and again each minute.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from collectors.facts.labels import Labels
from collectors.facts.promql.selectors import Selector, with_selectors
from collectors.facts.promql.tree import LabelMatcher
from collectors.facts.results import Sample
from collectors.facts.sentences import listed, sentence
from collectors.sources.prometheus.dialects.families import INSTANCE, KUBE_STATE_METRICS, NODE_LABELS
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.probing import any_of

CLUSTERS = (
    *("cluster", "cluster_name", "clusterName", "cluster_id", "clusterID", "clustername"),
    *("k8s_cluster", "k8s_cluster_name", "kube_cluster", "kube_cluster_name"),
    *("kubernetes_cluster", "kubernetes_cluster_name", "tenant", "tenant_id", "project_id"),
)
COPIES = ("prometheus_replica", "replica", "receive_replica", "replica_name", "ha_replica", "prometheus")
_ADDRESS = "internal_ip"  # of kube_node_info
_NAMES = ("exported_node", *(name for name in NODE_LABELS if name != "exported_node"))
_MOSTLY = 0.5
_HARDLY = 0.1

VALUES_QUERY = f"count by ({', '.join((*CLUSTERS, *COPIES))}) (up)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The part of a store's series that counts. `problem` says why it is not known; rules of packs are blind then."""

    matchers: tuple[LabelMatcher, ...] = ()
    copies: tuple[str, ...] = ()
    problem: str = ""

    def of(self, expr: str) -> str:
        """Return the expression for these series, each of them once."""
        if not self.matchers and not self.copies:
            return expr
        return with_selectors(expr, self._of_selector)

    def _of_selector(self, selector: Selector) -> str:
        text = selector.with_(selector.metric, (*selector.matchers, *self.matchers))
        return f"max without ({', '.join(self.copies)}) ({text})" if self.copies else text

    @property
    def inner(self) -> str:
        """Return the matchers as more of those of a selector."""
        return "".join(f", {one}" for one in self.matchers)

    def described(self) -> list[str]:
        """Return a line for each thing that is left out."""
        found = [
            sentence(
                "only series with {matcher} are asked for: the others are of other clusters", matcher=str(one)
            )
            for one in self.matchers
        ]
        return [
            *found,
            *(
                sentence("series that differ by `{name}` alone are counted once", name=name)
                for name in self.copies
            ),
        ]


def given_scope(matchers: Mapping[str, str]) -> Scope:
    """Return the scope that the settings give."""
    return Scope(
        matchers=tuple(LabelMatcher(name, "=", json.dumps(value)) for name, value in matchers.items())
    )


def several(found: Iterable[Sample], names: Collection[str]) -> Mapping[str, frozenset[str]]:
    """Return those of these labels that have several values, with these; empty is that of series without it."""
    values: dict[str, set[str]] = {}
    for sample in found:
        for name in names:
            values.setdefault(name, set()).add(sample.labels.get(name, ""))
    return {name: frozenset(some) for name, some in values.items() if len(some) > 1}


def evidence_query(label: str) -> str:
    """Return the query for which nodes the series of each value name."""
    names = ", ".join(dict.fromkeys((label, *_NAMES, INSTANCE, _ADDRESS, "__name__")))
    return f'count by ({names}) ({{__name__=~"kube_node_info|kubelet_node_name|DCGM_FI_DEV_GPU_TEMP"}})'


def copies_query(names: Sequence[str], scope: Scope) -> str:
    """Return the query for the share of targets that remains when these labels are left out."""
    up = any_of(("up",), scope.inner)
    return f"count(count without ({', '.join(names)}) ({up})) / count({up})"


@dataclass(slots=True)
class _Evidence:
    rows: int = 0
    named: int = 0
    sure: int = 0  # by their addresses, too
    nodes: frozenset[str] = frozenset()

    @property
    def is_ours(self) -> bool:
        return self.named > _MOSTLY * self.rows

    @property
    def is_sure(self) -> bool:
        return self.sure > _MOSTLY * self.rows

    @property
    def is_doubtful(self) -> bool:
        return self.sure <= _HARDLY * self.rows


def scope_from_evidence(label: str, found: Iterable[Sample], nodes: NodeNames) -> Scope:
    """Return which values of the label are other clusters'. `found` answers the evidence query."""
    evidence: dict[str, _Evidence] = {}
    for sample in found:
        _count(evidence.setdefault(sample.labels.get(label, ""), _Evidence()), sample.labels, nodes)
    ours = {value for value, one in evidence.items() if one.is_ours}
    if not ours:
        return Scope()
    for value in sorted(ours):
        rivals = {one for one in ours - {value} if evidence[one].nodes & evidence[value].nodes}
        if not rivals or evidence[value].is_sure:
            continue
        if (
            any(evidence[one].is_sure for one in rivals) and evidence[value].is_doubtful
        ) or nodes.cluster in rivals:
            ours.discard(value)
        elif nodes.cluster != value:
            shown = listed((f'{label}="{one}"' for one in sorted({value, *rivals})), "and")
            return Scope(
                problem=sentence(
                    "series with {shown} name the same nodes: set prometheus.matchers", shown=shown
                )
            )
    others = sorted(value for value in evidence.keys() - ours if value)
    if not others:
        return Scope()
    return Scope(matchers=(LabelMatcher(label, "!~", json.dumps("|".join(map(re.escape, others)))),))


def unclear(label: str) -> str:
    """Return the problem of a label that splits series of the same nodes, and of which nothing shows what it means."""
    return sentence("series of the same nodes differ by their {label}: set prometheus.matchers", label=label)


def _count(evidence: _Evidence, labels: Labels, nodes: NodeNames) -> None:
    evidence.rows += 1
    named = next((node for name in _NAMES if (node := nodes.of_host(labels.get(name, "")))), "")
    is_state = KUBE_STATE_METRICS.has(labels.get("__name__", ""))
    address = labels.get(_ADDRESS, "") if is_state else labels.get(INSTANCE, "")
    of_address = nodes.of_host(address)
    if is_state and named and address and of_address != named:
        return  # a node of the same name elsewhere
    node = named or ("" if is_state else of_address)
    if not node:
        return
    evidence.named += 1
    evidence.sure += of_address == node
    evidence.nodes |= {node}
