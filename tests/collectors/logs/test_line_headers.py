"""Headers of lines: what is the same fact, and what is replayed."""

from datetime import UTC, datetime

import pytest

from collectors.logs.line_headers import with_decoded_bytes, without_header

FACT = "NVRM: Xid (PCI:0000:b3:00): 79, pid=4711, GPU has fallen off the bus."
NEW_YEAR = datetime(2027, 1, 1, 0, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    "line",
    [
        FACT,
        f"[12345.678901] {FACT}",
        f"Jan  1 00:05:00 gpu-a01 kernel: [12345.678901] {FACT}\n",
        f"<4>Jan  1 00:05:00 gpu-a01.example.com kernel: {FACT}",
        f"2027-01-01T00:05:00.123456+00:00 gpu-a01 kernel: {FACT}",
    ],
)
def test_one_line_of_the_kernel_in_each_form_is_one_fact(line: str) -> None:
    found = without_header(line, NEW_YEAR)
    assert (found.text, found.is_replayed) == (FACT, False)


@pytest.mark.parametrize(
    ("line", "is_replayed"),
    [
        ("E1231 23:59:59.000001   1 a.go:1] before midnight", False),
        ("E0101 08:05:00.000001   1 a.go:1] in Shanghai", False),
        ("E1230 12:00:00.000001   1 a.go:1] of the day before yesterday", False),  # in Honolulu's yesterday
        ("E1229 12:00:00.000001   1 a.go:1] older", True),
        ("E0620 12:00:00.000001   1 a.go:1] of half a year ago", True),
        ("Dec 31 23:59:59 gpu-a01 kernel: last year", False),
        ("Jun 20 12:00:00 gpu-a01 kernel: half a year ago", True),
        ("2026-01-01T00:05:00Z the same day of another year", True),
        ("2027-01-01 00:04:59,123 now", False),
        ("2026-02-30 00:04:59 no such day", False),
        ("E1399 12:00:00.000001   1 a.go:1] no such day either", False),
        ("no header of 2020-01-01 00:00:00 at all", False),
    ],
)
def test_a_header_of_another_day_is_replayed(line: str, is_replayed: bool) -> None:
    assert without_header(line, NEW_YEAR).is_replayed is is_replayed


def test_output_that_was_logged_as_bytes_is_written_out() -> None:
    said = "rbd: sysfs write failed\nrbd: unmap failed: (16) Device or resource busy"
    logged = (
        f"rbd: failed to unmap device /dev/rbd0, rbd output: [{' '.join(str(one) for one in said.encode())}]"
    )
    assert with_decoded_bytes(logged).endswith(f"rbd output: {said}")


@pytest.mark.parametrize(
    "line",
    ["[1 2 3]", "[300 98 100 114 98 100 114 98 100]", "[1 2 3 4 5 6 7 8 9 10]", "sizes [0 0 0 0 0 0 0 0 0]"],
)
def test_other_lists_of_numbers_stay(line: str) -> None:
    assert with_decoded_bytes(line) == line
