"""Clients that ask the cluster's DNS: from the log of CoreDNS, or else from the caches on the nodes."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta

from alerts.cards.text import Text, code, joined, text
from collectors.cluster.indexes import by_address
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import PODS
from collectors.facts.log_match import AllOf, AnyOf, FieldPhrase
from collectors.facts.queries import LogQuery, PromQLQuery
from collectors.facts.results import Sample, Seen
from collectors.facts.topology import Topology
from commands.core.context import CommandContext

_SHOWN = 3
_OVER = timedelta(minutes=5)
# [INFO] 10.244.1.7:40000 - 7 "A IN kubernetes.default.svc.cluster.local. udp 61 false 512" NOERROR qr,aa,rd 106 0.0001s
_CLIENT = r'(?P<client>[0-9A-Fa-f.:]+)\]?:\d+ - \d+ "\S+ \S+ '
_CACHES = 'topk(3, sum by (instance) (rate(coredns_dns_requests_total{server=~"[a-z]+://[^:].*"}[5m])))'


async def askers(context: CommandContext) -> Text:
    """Return the namespaces that ask most, each with the pod that asks most; or the nodes; or why neither is known."""
    query = LogQuery(
        match=AllOf(
            parts=(
                FieldPhrase(field="namespace", text=context.defaults.dns_namespace),
                _any_word("NOERROR", "NXDOMAIN", "SERVFAIL"),
                _any_word("udp", "tcp"),
            )
        ),
        by=("pod",),  # so that with many lines some of each replica are read
        over=_OVER,
        extract=_CLIENT,
    )
    logged = await context.cluster.query(query, at=context.now)
    if isinstance(logged, Seen) and logged.samples:
        clients = _by_client(logged.samples)
        return _by_namespace(clients, context.cluster.inventory(), context.cluster.topology())
    cached = await context.cluster.query(PromQLQuery(expr=_CACHES), at=context.now)
    if isinstance(cached, Seen) and cached.samples:
        return _by_node(cached.samples, context.cluster.topology())
    return text("not known: CoreDNS logs no queries (its plugin `log`), and no cache on a node is scraped")


def _any_word(*words: str) -> AnyOf:
    return AnyOf(parts=tuple(FieldPhrase(field="message", text=word) for word in words))


def _by_client(samples: tuple[Sample, ...]) -> Mapping[str, int]:
    found: Counter[str] = Counter()
    for sample in samples:
        found[sample.labels.get("client", "")] += int(sample.value)
    return found


def _by_namespace(clients: Mapping[str, int], inventory: Inventory, topology: Topology) -> Text:
    """Return the shares of the queries that were read. A host network's pods ask with the address of their node."""
    total = sum(clients.values())
    shares: Counter[str] = Counter()
    most: dict[str, tuple[int, str]] = {}
    for client, count in clients.items():
        pod = next(iter(inventory.select(PODS, by_address, client)), None)
        who = pod.metadata.namespace if pod is not None else topology.node_named(client)
        shares[who] += count
        if pod is not None:
            most[who] = max(most.get(who, (0, "")), (count, pod.metadata.name))
    parts = []
    for who, count in shares.most_common(_SHOWN):
        first = text(" (", code(most[who][1]), ")") if who in most else ()
        parts.append(text(code(who), f" {count / total:.0%}", first))
    return joined("; ", parts)


def _by_node(samples: tuple[Sample, ...], topology: Topology) -> Text:
    parts = []
    for sample in sorted(samples, key=lambda one: -one.value):
        instance = sample.labels.get("instance", "")
        node = topology.node_named(instance)
        parts.append(text(code(node), f" {sample.value:.0f}/s"))
    return joined("; ", parts)
