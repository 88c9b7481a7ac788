"""Lines that are delivered twice, and lines of another day that a shipper sends again."""

from datetime import timedelta

from collectors.facts.results import Seen
from tests.contract.elasticsearch.own_logs import Logs

XID = "NVRM: Xid (PCI:0000:b3:00): 79, pid=4711, GPU has fallen off the bus."
EXTRACT = r"Xid \((?:PCI:)?(?P<pci>[0-9a-f:.]+)\): (?P<xid>\d+)"


async def deliver(
    logs: Logs, header: str, *, of_file: str = "Jan 10 11:59:00 gpu-a01 kernel: [12.345678] "
) -> None:
    """Index one line of the kernel from the journal, and again from /var/log/messages."""
    line = logs.host(header + XID)
    of_the_file = {"@timestamp": line["@timestamp"], "message": of_file + XID, "host": {"name": "gpu-a01"}}
    await logs.index(line, {**of_the_file, "log": {"file": {"path": "/var/log/messages"}, "offset": 4}})


async def test_a_line_of_the_journal_and_of_a_file_is_one_fact(logs: Logs) -> None:
    await deliver(logs, "")
    assert await logs.counts('message:"fallen off the bus"') == {"gpu-a01": 1}
    assert await logs.counts('message:"NVRM: Xid"', extract=EXTRACT) == {"gpu-a01 0000:b3:00 79": 1}
    await deliver(logs, "")
    assert await logs.counts('message:"NVRM: Xid"', extract=EXTRACT) == {"gpu-a01 0000:b3:00 79": 2}
    assert await logs.counts('message:"NVRM: Xid"', extract=EXTRACT, above=2) == {}


async def test_lines_of_another_day_are_not_counted(logs: Logs) -> None:
    await logs.index(
        logs.host(f"Jun 20 12:00:00 gpu-a02 kernel: {XID}", node="gpu-a02"),
        logs.host(f"2025-01-10T11:59:00Z gpu-a02 kernel: {XID}", node="gpu-a02"),
        logs.host(f"Jan 10 19:59:00 gpu-a03 kernel: {XID}", node="gpu-a03"),
    )
    assert await logs.counts('message:"fallen off the bus"') == {"gpu-a03": 1}
    assert await logs.counts('message:"NVRM: Xid"', extract=EXTRACT) == {"gpu-a03 0000:b3:00 79": 1}
    seen = await logs.query('message:"fallen off the bus"', novel=timedelta(days=7), above=0)
    assert isinstance(seen, Seen)
    assert {sample.labels["node"] for sample in seen.samples} == {"gpu-a03"}


async def test_a_flood_of_replayed_lines_is_not_a_result(logs: Logs) -> None:
    await logs.index(
        *(logs.host(f"Jun 20 12:00:00 gpu-a02 kernel: [{number}.000001] {XID}") for number in range(40))
    )
    assert await logs.counts('message:"fallen off the bus"') == {}


async def test_output_as_bytes_is_read(logs: Logs) -> None:
    said = "rbd: unmap failed: (16) Device or resource busy"
    output = " ".join(map(str, said.encode()))
    line = f"rbd: failed to unmap device /dev/rbd0, error exit status 16, rbd output: [{output}]"
    await logs.index(logs.host(line, unit="kubelet"))
    found = await logs.counts('message:"failed to unmap device"', extract=r"unmap failed: \((?P<code>\d+)\)")
    assert found == {"16 gpu-a01": 1}
