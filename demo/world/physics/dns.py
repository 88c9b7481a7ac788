"""DNS as a queue: replicas answer up to their capacity, and queries above it are late or lost."""

from __future__ import annotations

import math

from demo.world.physics.trainings import LOOKUPS, START_WINDOW, wanted_lookups
from demo.world.shared_services import BUCKETS, DnsReplica
from demo.world.state import State, WorldEvent

SERVICE_TIME = 0.0004  # s per query without a queue
TIMEOUT = 2.0  # s a resolver waits before it retries
PER_NODE = 30.0  # queries/s of a server's daemons
PER_POD = 2.0
NXDOMAIN_SHARE = 0.36  # share of queries that try a search suffix; normal
FORWARDED_SHARE = 0.12  # share that is forwarded upstream
COMPLAINS_ABOVE = 0.02  # share of lost queries above which the replicas log errors


def offered(state: State) -> float:
    """Queries/s of the whole cluster: daemons, pods, and starting trainings."""
    steady = PER_NODE * len(state.hosts) + PER_POD * len(state.bodies)
    bursts = sum(wanted_lookups(training) for training in state.trainings.values())
    wide = state.extra_tasks**2 * LOOKUPS / START_WINDOW
    return steady + bursts + wide


def answer(state: State, seconds: float) -> list[WorldEvent]:
    """Advance DNS by `seconds`."""
    cluster_dns = state.dns
    cluster_dns.offered = offered(state) * (1 + state.rng.gauss(0, 0.01))
    load = cluster_dns.load
    if not cluster_dns.servers:
        cluster_dns.lost, cluster_dns.latency = 1.0, TIMEOUT
        return []
    if load < 0.98:
        cluster_dns.lost, cluster_dns.latency = 0.0, SERVICE_TIME / (1 - load)
    else:
        cluster_dns.lost, cluster_dns.latency = (
            max(0.0, 1 - 1 / max(load, 1e-9)),
            min(TIMEOUT, SERVICE_TIME / 0.02 + (load - 0.98) * 4),
        )
    share = cluster_dns.offered / len(cluster_dns.servers)
    for server in cluster_dns.servers.values():
        _count(state, server, share * (1 + state.rng.gauss(0, 0.02)) * seconds)
    broken = cluster_dns.lost + FORWARDED_SHARE * cluster_dns.upstream_broken
    if broken > COMPLAINS_ABOVE:
        count = max(1, min(6, int(broken * 10)))
        servers = list(cluster_dns.servers)
        return [
            WorldEvent(at=state.now, what="dns-timeout", pod=servers[state.rng.randrange(len(servers))])
            for _ in range(count)
        ]
    return []


def _count(state: State, server: DnsReplica, queries: float) -> None:
    cluster_dns = state.dns
    queries = max(0.0, queries)
    refused = cluster_dns.lost * 0.6 + FORWARDED_SHARE * cluster_dns.upstream_broken
    dropped = cluster_dns.lost * 0.4  # never answered: requests_total runs ahead of responses_total
    good = max(0.0, 1 - refused - dropped)
    for key, part in (
        (("NOERROR", "kubernetes"), good * (1 - NXDOMAIN_SHARE - FORWARDED_SHARE)),
        (("NXDOMAIN", "kubernetes"), good * NXDOMAIN_SHARE),
        (("NOERROR", "forward"), good * FORWARDED_SHARE),
        (("SERVFAIL", "forward"), refused),
    ):
        server.answered[key] = server.answered.get(key, 0.0) + part * queries
    server.requests += queries
    server.hits += queries * good * 0.55
    server.misses += queries * good * 0.45
    server.forwarded += queries * FORWARDED_SHARE
    slow = refused + dropped
    for number, bound in enumerate(BUCKETS):
        under = good * (1 - math.exp(-bound / cluster_dns.latency)) + slow * (1 - math.exp(-bound / TIMEOUT))
        server.buckets[number] += under * queries
    server.buckets[-1] += queries
    server.seconds += queries * (good * cluster_dns.latency + slow * TIMEOUT)
