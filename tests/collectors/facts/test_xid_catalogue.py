"""The catalogue of XID numbers: complete, and of one mind with itself."""

import pytest

from collectors.facts.xid_catalogue import XIDS, Recovery, xid_of


@pytest.mark.parametrize(
    ("number", "recovery", "severity"),
    [
        (13, Recovery.RESTART_APPLICATION, "info"),
        (43, Recovery.NOTHING, "info"),
        (45, Recovery.NOTHING, "info"),
        (48, Recovery.RESET_GPU, "critical"),
        (63, Recovery.NOTHING, "warning"),
        (79, Recovery.RESTART_NODE, "critical"),
        (94, Recovery.RESTART_APPLICATION, "warning"),
        (95, Recovery.RESET_GPU, "critical"),
        (109, Recovery.RESET_GPU, "critical"),
        (142, Recovery.CALL_VENDOR, "critical"),
    ],
)
def test_what_a_number_calls_for(number: int, recovery: Recovery, severity: str) -> None:
    assert (xid_of(number).recovery, xid_of(number).severity) == (recovery, severity)


def test_a_number_has_one_entry_and_a_known_severity() -> None:
    assert all(number == xid.number for number, xid in XIDS.items())
    assert {xid.severity for xid in XIDS.values()} == {"critical", "warning", "info"}


def test_a_number_that_is_not_described_is_critical_and_is_to_be_reported() -> None:
    unknown = xid_of(999)
    assert (unknown.severity, unknown.bucket) == ("critical", "UNEXPECTED_ERR_REPORT_ISSUE")


def test_what_nobody_must_do_anything_about_does_not_wake_anybody() -> None:
    quiet = {number for number, xid in XIDS.items() if xid.bucket == "IGNORE" and xid.severity == "critical"}
    assert quiet == set()


def test_what_empties_a_node_is_never_called_info() -> None:
    assert [n for n, xid in XIDS.items() if xid.recovery.empties_the_node and xid.severity == "info"] == []


def test_a_consequence_is_not_worse_than_what_it_follows() -> None:
    for xid in XIDS.values():
        for cause in xid.follows:
            assert xid.recovery.rank <= xid_of(cause).recovery.rank
