"""Labels from log lines by a regular expression: one sample for each GPU and XID number."""

import pytest

from collectors.facts.results import Seen
from tests.contract.elasticsearch.own_logs import Logs

XID = r"NVRM: Xid \((?:PCI:)?(?P<pci>[0-9A-Fa-f:.]+)(?: GPU-I:(?P<gi>[0-9]+))?\): (?P<xid>[0-9]+),"
MATCH = 'message:"NVRM Xid"'


@pytest.mark.parametrize(
    ("line", "labels"),
    [
        pytest.param(
            "NVRM: Xid (PCI:0000:b3:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            {"pci": "0000:b3:00", "xid": "79"},
            id="the usual form",
        ),
        pytest.param(
            "NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained: SM (0x1). RST: No, D-RST: No",
            {"pci": "0000:01:00", "gi": "05", "xid": "94"},
            id="with a MIG instance after the address",
        ),
        pytest.param(
            "NVRM: Xid (0000:03:00): 14, Channel 00000001",
            {"pci": "0000:03:00", "xid": "14"},
            id="the old form",
        ),
        pytest.param(
            "NVRM: Xid (PCI:0000:b3:00.0): 62, pid=1",
            {"pci": "0000:b3:00.0", "xid": "62"},
            id="with a function",
        ),
    ],
)
async def test_an_xid_line_has_labels(logs: Logs, line: str, labels: dict[str, str]) -> None:
    await logs.index(logs.host(line))
    seen = await logs.query(MATCH, extract=XID)
    assert isinstance(seen, Seen)
    assert [(dict(sample.labels), sample.value, sample.texts) for sample in seen.samples] == [
        ({"node": "gpu-a01", **labels}, 1.0, (line,))
    ]


async def test_lines_are_counted_by_the_extracted_labels(logs: Logs) -> None:
    def xid(number: int, pci: str, node: str) -> dict[str, object]:
        return logs.host(f"NVRM: Xid (PCI:{pci}): {number}, pid=1, text", node=node)

    await logs.index(
        *(xid(79, "0000:b3:00", "a") for _ in range(3)),
        xid(79, "0000:b4:00", "a"),
        xid(94, "0000:b3:00", "a"),
        xid(79, "0000:b3:00", "b"),
        logs.host("NVRM: Xid lines of another form", node="a"),
    )
    counts = await logs.counts(MATCH, extract=XID)
    assert counts == {"a 0000:b3:00 79": 3, "a 0000:b4:00 79": 1, "a 0000:b3:00 94": 1, "b 0000:b3:00 79": 1}
    assert await logs.counts(MATCH, extract=XID, above=2) == {"a 0000:b3:00 79": 3}


async def test_all_lines_up_to_the_cap_are_read(logs: Logs) -> None:
    await logs.index_many(
        logs.host(f"NVRM: Xid (PCI:0000:b{number % 2}:00): 79, pid={number}", ago=1 + number / 10)
        for number in range(1_200)
    )
    assert await logs.counts(MATCH, extract=XID) == {
        "gpu-a01 0000:b0:00 79": 600,
        "gpu-a01 0000:b1:00 79": 600,
    }


async def test_a_flood_on_one_node_does_not_hide_another_and_has_a_note(logs: Logs) -> None:
    await logs.index(logs.host("NVRM: Xid (PCI:0000:c0:00): 48, pid=1", node="quiet", ago=299))
    await logs.index_many(
        logs.host(f"NVRM: Xid (PCI:0000:b0:00): 79, pid={number}", node="loud", ago=1)
        for number in range(300)
    )
    seen = await logs.query(MATCH, extract=XID, settings={"lines_cap": 200})
    assert isinstance(seen, Seen)
    found = {sample.labels["node"]: sample for sample in seen.samples}
    assert found["quiet"].value == 1
    assert found["loud"].value == 100
    assert found["loud"].texts[-1] == "(301 lines match, only 101 were read: the actual count is higher)"


async def test_a_flood_without_a_match_is_blind(logs: Logs) -> None:
    await logs.index_many(logs.host("NVRM: Xid without a form", ago=1) for _ in range(150))
    assert "too many to read" in await logs.blind_reason(MATCH, extract=XID, settings={"lines_cap": 100})


async def test_pages_shrink_when_lines_are_large(logs: Logs) -> None:
    await logs.index_many(
        logs.host(f"NVRM: Xid (PCI:0000:b0:00): 79, pid={number} " + "x " * 4_000, ago=1 + number)
        for number in range(60)
    )
    counts = await logs.counts(MATCH, extract=XID, settings={"bytes_cap": 150_000})
    assert counts == {"gpu-a01 0000:b0:00 79": 60}


@pytest.mark.parametrize(
    ("extract", "reason"),
    [("(", "not a regular expression"), ("Xid [0-9]+", "has no named group")],
)
async def test_an_invalid_expression_is_blind(logs: Logs, extract: str, reason: str) -> None:
    await logs.index(logs.host("x"))
    assert reason in await logs.blind_reason(extract=extract)
