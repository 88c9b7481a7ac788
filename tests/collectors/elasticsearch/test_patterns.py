"""A line's pattern keeps what is constant and drops what varies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.sources.elasticsearch.line_patterns import pattern_of


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("took 12ms to mount /a/b", "took <*> to mount <*>"),
        (
            "E0916 12:34:56.789012    1234 reflector.go:138] Failed to watch",
            "reflector.go:<*> Failed to watch",
        ),
        ("2026-01-10T12:00:00.123Z gpu-a01 kernel: BUG: bad page", "kernel: BUG: bad page"),
        ("NVRM: Xid (PCI:0000:b3:00): 79, pid=1234, GPU has fallen", "NVRM: Xid <*> pid=<*> GPU has fallen"),
        ("pod detr-worker-0-x7k2p of vision-detr-prod failed", "pod <*> of <*> failed"),
        ("lost peer 10.0.0.12:2379 and fe80::1", "lost peer <*> and <*>"),
        ("volume 3f2504e0-4f89-11d3-9a0c-0305e82c3301 is gone", "volume <*> is gone"),
        ("commit deadbeefcafe was reverted", "commit <*> was reverted"),
        ("error code=5 msg=broken", "error code=<*> msg=broken"),
        ("login with password=[redacted] failed", "login with password=<*> failed"),
        ("\x1b[31merror\x1b[0m: no such file", "error: no such file"),
        ("a 1 2 3 b", "a <*> b"),
        ("训练任务 失败 rank 3", "训练任务 失败 rank <*>"),
        ("", ""),
        ("12 34", ""),
    ],
)
def test_patterns_of_lines(line: str, label: str) -> None:
    assert pattern_of(line).label == label


def test_a_pattern_is_searched_by_its_stretches_of_whole_constant_words() -> None:
    pattern = pattern_of("failed to mount volume=pvc-1 for pod a-1: rpc error, code 5 while talking to it")
    assert set(pattern.runs) == {"failed to mount", "for pod", "rpc error, code", "while talking to it"}
    assert pattern.words == 12


def test_long_patterns_are_short_labels_that_differ() -> None:
    one, other = pattern_of("word " * 100 + "one"), pattern_of("word " * 100 + "other")
    assert one.label != other.label
    assert len(one.label) < 140


@given(st.text(max_size=300))
def test_any_text_has_a_pattern_of_bounded_size(text: str) -> None:
    pattern = pattern_of(text)
    assert len(pattern.label) <= 131
    assert len(pattern.runs) <= 4


@given(st.lists(st.integers(min_value=0, max_value=10**12), min_size=2, max_size=2))
def test_lines_that_differ_in_numbers_share_a_pattern(numbers: list[int]) -> None:
    one, other = (pattern_of(f"object {number} took {number} ms of /proc/{number}/fd") for number in numbers)
    assert one == other


@given(st.text(alphabet="ab1- =:/.()", max_size=60))
def test_the_runs_stand_in_the_line(line: str) -> None:
    """Otherwise they would never be found in the past, and everything would be new."""
    plain = " ".join(line.split())
    for run in pattern_of(line).runs:
        words = run.split()
        assert all(word in plain.split() for word in words)
