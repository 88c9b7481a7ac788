"""XID lines of the kernel in the forms of many drivers, and lines that are not such lines."""

import json

import pytest

from benchmarks.quality.measure import DATA
from collectors.facts.topology import pci_address
from collectors.facts.xid_catalogue import Recovery, recovery_of
from tests.support.xid_lines import XidLine, xid_line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "NVRM: Xid (PCI:0000:b3:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            XidLine(number=79, pci="0000:b3:00"),
            id="the usual form",
        ),
        pytest.param(
            "NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9).",
            XidLine(number=94, pci="0000:01:00", instance="05"),
            id="of a MIG instance",
        ),
        pytest.param(
            "[...] NVRM: Xid (0000:03:00): 14, Channel 00000001",
            XidLine(number=14, pci="0000:03:00"),
            id="of an old driver, without PCI:",
        ),
        pytest.param(
            "NVRM: Xid (PCI:0000:B3:00.0): 31, pid=1, Ch 00000010",
            XidLine(number=31, pci="0000:b3:00"),
            id="in capitals, with the function of the device",
        ),
        pytest.param(
            '{"MESSAGE":"NVRM: Xid (PCI:0009:f1:00): 95, pid=\\"7\\", x"}',
            XidLine(number=95, pci="0009:f1:00"),
            id="inside JSON",
        ),
        pytest.param(
            "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x0)",
            XidLine(number=149, pci="0009:01:00", class_="Fatal"),
            id="an NVLink error with its class",
        ),
        pytest.param(
            "NVRM: Xid (PCI:0000:1a:00): 158, GPU Fatal Timeout",
            XidLine(number=158, pci="0000:1a:00"),
            id="a word of the text that is no class",
        ),
        pytest.param(
            "NVRM: Xid (PCI:0019:01:00): 154, GPU recovery action changed from 0x4 (Drain and Reset) "
            "to 0x1 (GPU Reset Required)",
            XidLine(number=154, pci="0019:01:00", action="GPU Reset Required"),
            id="the driver's recovery action",
        ),
        pytest.param("NVRM: Xid error: xyz, invalid data", None, id="a line without a number"),
        pytest.param("user wrote: seen Xid 85 before?", None, id="somebody speaks of one"),
        pytest.param("NVRM: GPU at PCI:0000:00:08: GPU-1234", None, id="an address alone"),
        pytest.param(
            "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32", None, id="of an NVSwitch"
        ),
        pytest.param("XidCriticalError: Xid=79 on Device=GPU-1", None, id="of the device plugin"),
    ],
)
def test_a_line_names_its_xid_in_every_form(text: str, expected: XidLine | None) -> None:
    assert xid_line(text) == expected


@pytest.mark.parametrize(
    ("number", "class_", "action", "expected"),
    [
        (79, "", "", Recovery.RESTART_NODE),
        (149, "Fatal", "", Recovery.RESET_GPU),
        (149, "Nonfatal", "", Recovery.NOTHING),
        (154, "", "None", Recovery.NOTHING),
        (154, "", "Node Reboot Required", Recovery.RESTART_NODE),
        (154, "", "Drain and Reset", Recovery.RESET_GPU),
        (154, "", "a word of a later driver", Recovery.RESET_GPU),
    ],
)
def test_the_line_decides_where_it_says_more_than_its_number(
    number: int, class_: str, action: str, expected: Recovery
) -> None:
    assert recovery_of(number, class_=class_, action=action) is expected


def test_lines_of_other_tools_tests_are_read_as_they_read_them() -> None:
    file = DATA / "gpu_kmsg/cases.jsonl"
    if not file.exists():
        pytest.skip("the shared data set is not next to the checkout")
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    asked = [
        case for case in cases if case["component"].endswith("/xid") and case["matcher"] != "NormalizePCIBDF"
    ]
    wrong = []
    for case in asked:
        expected = case["expect"]
        wanted = expected.get("expectedXid", expected.get("expected", 0)) or 0
        found = xid_line(case["line"])
        got: int | str = found.number if found else 0
        if isinstance(wanted, str):  # an address
            got, wanted = pci_address(found.pci) if found else "", pci_address(wanted.removeprefix("PCI:"))
        if got != wanted:
            wrong.append((case, got))
    assert len(asked) > 5
    assert wrong == []
