"""Clients that ask the cluster's DNS, as `dns show` lists them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from alerts.cards.text import plain
from collectors.cluster.inventory import Inventory
from collectors.facts.labels import Labels
from collectors.facts.patterns import compile_pattern
from collectors.facts.queries import LogQuery, Query
from collectors.facts.results import Blind, QueryResult, Sample, Seen
from collectors.facts.topology import Topology
from commands.core.context import CommandContext
from commands.dns.askers import askers
from demo.world.logs.background import POD_LINES
from tests.support.objects import NOW, inventory, pod


@dataclass
class Clients:
    """A cluster whose log has these queries by client, and whose caches these rates by instance."""

    logged: dict[str, int] = field(default_factory=dict)
    cached: dict[str, float] = field(default_factory=dict)
    has_logs: bool = True
    asked: list[Query] = field(default_factory=list)

    async def query(self, query: Query, *, at: datetime) -> QueryResult:
        self.asked.append(query)
        if not isinstance(query, LogQuery):
            return _seen("instance", self.cached)
        if not self.has_logs:
            return Blind(source="logs", at=at, reason="the settings have no source of logs")
        return _seen("client", self.logged)

    def inventory(self) -> Inventory:
        one = pod("detr-0", "vision", status={"podIP": "10.244.1.7"})
        two = pod("detr-1", "vision", status={"podIP": "10.244.1.8"})
        return inventory(one, two, pod("web", "shop", status={"podIP": "10.244.2.2"}))

    def topology(self) -> Topology:
        return Topology(cluster="prod-a", node_of_address={"10.0.0.11": "gpu-a01", "10.0.0.12": "gpu-a02"})


def _seen(label: str, values: Any) -> Seen:
    found: Sequence[tuple[str, float]] = tuple(values.items())
    samples = tuple(Sample(labels=Labels({label: name}), value=value) for name, value in found)
    return Seen(source="x", at=NOW, samples=samples)


async def said(cluster: Clients) -> str:
    context: Any = CommandContext(
        actor=None,  # type: ignore[arg-type]
        now=NOW,
        cluster=cluster,  # type: ignore[arg-type]
        store=None,  # type: ignore[arg-type]
    )
    return plain(await askers(context))


async def test_the_clients_in_the_log_are_added_up_by_namespace() -> None:
    logged = {"10.244.1.7": 50, "10.244.1.8": 10, "10.244.2.2": 30, "10.0.0.11": 9, "10.9.9.9": 1}
    found = await said(Clients(logged=logged, cached={"10.0.0.11:9253": 7}))
    assert found == "vision 60% (detr-0); shop 30% (web); gpu-a01 9%"


async def test_without_logged_queries_the_caches_tell_the_nodes() -> None:
    cached = {"10.0.0.11:9253": 7.4, "10.0.0.12:9253": 90.2}
    assert await said(Clients(cached=cached)) == "gpu-a02 90/s; gpu-a01 7/s"
    assert await said(Clients(cached=cached, has_logs=False)) == "gpu-a02 90/s; gpu-a01 7/s"


async def test_the_answer_says_what_would_name_the_clients_if_nothing_does() -> None:
    assert "its plugin `log`" in await said(Clients())


async def test_the_client_is_read_from_a_line_of_coredns() -> None:
    cluster = Clients()
    await said(cluster)
    query = cluster.asked[0]
    assert isinstance(query, LogQuery)
    pattern = compile_pattern(query.extract or "")
    lines = {
        '[INFO] 10.244.1.7:40000 - 7 "A IN s3.example. udp 61 false 512" NXDOMAIN qr,rd 154 0.1s': "10.244.1.7",
        '[INFO] [fd00:10:244::7]:40000 - 34012 "AAAA IN a.b. tcp 41 true 512" NOERROR qr 11 0.01s': "fd00:10:244::7",
        '[INFO] 127.0.0.1:55178 - 1 "HINFO IN 1.2. udp 56 false 512" NXDOMAIN qr,rd,ra 131 0.03s': "127.0.0.1",
    }
    for line, client in lines.items():
        found = pattern.search(line)
        assert found is not None, line
        assert found["client"] == client
    other = [text for _, level, text in POD_LINES["coredns"] if level != "info"]
    assert other
    assert not any(pattern.search(text) for text in other)
