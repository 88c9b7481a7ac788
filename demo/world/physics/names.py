"""This file is DNS as a queue: queries arrive, replicas answer what they can, and what is over is late or lost."""

from __future__ import annotations

import math

from demo.world.physics.trainings import LOOKUPS, START_WINDOW, wanted_lookups
from demo.world.shared_services import BUCKETS, NameServer
from demo.world.state import Happening, State

SERVICE = 0.0004  # s a query takes when nobody waits
PATIENCE = 2.0  # s a resolver waits before it asks again
PER_NODE = 30.0  # queries/s of a server's daemons
PER_POD = 2.0
MISSES = 0.36  # share of queries that only try a search suffix: NXDOMAIN, and normal
OUTSIDE = 0.12  # share that is forwarded upstream
GOES_QUIET = 0.02  # above this share lost the replicas themselves complain in their logs


def offered(state: State) -> float:
    """Queries/s of the whole cluster: daemons, pods, and trainings that are looking for their peers."""
    steady = PER_NODE * len(state.hosts) + PER_POD * len(state.bodies)
    bursts = sum(wanted_lookups(training) for training in state.trainings.values())
    wide = state.extra_tasks**2 * LOOKUPS / START_WINDOW
    return steady + bursts + wide


def answer(state: State, seconds: float) -> list[Happening]:
    """Move DNS on by `seconds`."""
    names = state.names
    names.offered = offered(state) * (1 + state.rng.gauss(0, 0.01))
    load = names.load
    if not names.servers:
        names.lost, names.latency = 1.0, PATIENCE
        return []
    if load < 0.98:
        names.lost, names.latency = 0.0, SERVICE / (1 - load)
    else:
        names.lost, names.latency = (
            max(0.0, 1 - 1 / max(load, 1e-9)),
            min(PATIENCE, SERVICE / 0.02 + (load - 0.98) * 4),
        )
    share = names.offered / len(names.servers)
    for server in names.servers.values():
        _count(state, server, share * (1 + state.rng.gauss(0, 0.02)) * seconds)
    broken = names.lost + OUTSIDE * names.upstream_broken
    if broken > GOES_QUIET:
        count = max(1, min(6, int(broken * 10)))
        servers = list(names.servers)
        return [
            Happening(at=state.now, what="dns-timeout", pod=servers[state.rng.randrange(len(servers))])
            for _ in range(count)
        ]
    return []


def _count(state: State, server: NameServer, queries: float) -> None:
    names = state.names
    queries = max(0.0, queries)
    refused = names.lost * 0.6 + OUTSIDE * names.upstream_broken
    dropped = names.lost * 0.4  # never answered: requests_total runs ahead of responses_total
    good = max(0.0, 1 - refused - dropped)
    for key, part in (
        (("NOERROR", "kubernetes"), good * (1 - MISSES - OUTSIDE)),
        (("NXDOMAIN", "kubernetes"), good * MISSES),
        (("NOERROR", "forward"), good * OUTSIDE),
        (("SERVFAIL", "forward"), refused),
    ):
        server.answered[key] = server.answered.get(key, 0.0) + part * queries
    server.requests += queries
    server.hits += queries * good * 0.55
    server.misses += queries * good * 0.45
    server.forwarded += queries * OUTSIDE
    slow = refused + dropped
    for number, bound in enumerate(BUCKETS):
        under = good * (1 - math.exp(-bound / names.latency)) + slow * (1 - math.exp(-bound / PATIENCE))
        server.buckets[number] += under * queries
    server.buckets[-1] += queries
    server.seconds += queries * (good * names.latency + slow * PATIENCE)
