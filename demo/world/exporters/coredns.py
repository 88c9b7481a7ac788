"""Metrics of one CoreDNS replica."""

from __future__ import annotations

from demo.world.exporters.text import Family, counter, gauge
from demo.world.shared_services import BUCKETS, ClusterDns, DnsReplica

SERVER = {"server": "dns://:53", "zone": ".", "view": ""}
UPSTREAM = "10.0.9.2:53"


def families(server: DnsReplica, dns: ClusterDns) -> list[Family]:
    """The metrics of this replica on port 9153."""
    requests = counter(
        "coredns_dns_requests_total", "Counter of DNS requests made per zone, protocol and family."
    )
    for kind, share in (("A", 0.5), ("AAAA", 0.5)):
        requests.put(SERVER | {"proto": "udp", "family": "1", "type": kind}, int(server.requests * share))
    responses = counter("coredns_dns_responses_total", "Counter of response status codes.")
    for (rcode, plugin), count in sorted(server.answered.items()):
        responses.put(SERVER | {"rcode": rcode, "plugin": plugin}, int(count))
    durations = Family(
        "coredns_dns_request_duration_seconds",
        "histogram",
        "Histogram of the time (in seconds) each request took per zone.",
    )
    for bound, count in zip((*BUCKETS, None), server.buckets, strict=True):
        durations.put(SERVER | {"le": "+Inf" if bound is None else f"{bound:g}"}, int(count), "_bucket")
    durations.put(SERVER, server.seconds, "_sum")
    durations.put(SERVER, int(server.buckets[-1]), "_count")
    hits = counter("coredns_cache_hits_total", "The count of cache hits.")
    hits.add(int(server.hits), server="dns://:53", type="success", zones=".", view="")
    misses = counter("coredns_cache_misses_total", "The count of cache misses.")
    misses.add(int(server.misses), server="dns://:53", zones=".", view="")
    forwarded = Family(
        "coredns_proxy_request_duration_seconds", "histogram", "Histogram of the time each request took."
    )
    upstream = {"proxy_name": "forward", "to": UPSTREAM, "rcode": "NOERROR"}
    forwarded.put(upstream | {"le": "+Inf"}, int(server.forwarded), "_bucket")
    forwarded.put(upstream, server.forwarded * 0.003, "_sum")
    forwarded.put(upstream, int(server.forwarded), "_count")
    failures = counter(
        "coredns_proxy_healthcheck_failures_total", "Counter of the number of failed healthchecks."
    )
    failed = server.answered.get(("SERVFAIL", "forward"), 0.0) / 200
    failures.add(int(failed), proxy_name="forward", to=UPSTREAM)
    broken = counter(
        "coredns_forward_healthcheck_broken_total",
        "Counter of the number of complete failures of the healthchecks.",
    )
    broken.add(int(failed / 3) if dns.upstream_broken > 0.9 else 0)
    rejects = counter(
        "coredns_forward_max_concurrent_rejects_total",
        "Counter of the number of queries rejected because the concurrent queries were at maximum.",
    )
    rejects.add(0)
    panics = counter("coredns_panics_total", "A metrics that counts the number of panics.")
    panics.add(int(server.panics))
    reloads = counter("coredns_reload_failed_total", "Counter of the number of failed reload attempts.")
    reloads.add(0)
    build = gauge(
        "coredns_build_info",
        "A metric with a constant '1' value labeled by version, revision, and goversion.",
    )
    build.add(1, version="1.12.3", revision="51e11f1", goversion="go1.24.4")
    return [
        requests,
        responses,
        durations,
        hits,
        misses,
        forwarded,
        failures,
        broken,
        rejects,
        panics,
        reloads,
        build,
    ]
