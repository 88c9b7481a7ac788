"""The pattern of a line has its constant part and not what varies."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from collectors.facts.redaction import Redactor
from collectors.logs.line_patterns import pattern_of


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("took 12ms to mount /a/b", "took … to mount …"),
        (
            "E0916 12:34:56.789012    1234 reflector.go:138] Failed to watch",
            "reflector.go:… Failed to watch",
        ),
        ("2026-01-10T12:00:00.123Z gpu-a01 kernel: BUG: bad page", "kernel: BUG: bad page"),
        ("NVRM: Xid (PCI:0000:b3:00): 79, pid=1234, GPU has fallen", "NVRM: Xid … pid=… GPU has fallen"),
        ("pod detr-worker-0-x7k2p of vision-detr-prod failed", "pod … of … failed"),
        ("lost peer 10.0.0.12:2379 and fe80::1", "lost peer … and …"),
        ("volume 3f2504e0-4f89-11d3-9a0c-0305e82c3301 is gone", "volume … is gone"),
        ("commit deadbeefcafe was reverted", "commit … was reverted"),
        ("error code=5 msg=broken", "error code=… msg=broken"),
        ("login with password=[redacted] failed", "login with password=… failed"),
        ("fetch token: [redacted] deadline exceeded", "fetch token: … deadline exceeded"),
        ("\x1b[31merror\x1b[0m: no such file", "no such file"),
        ("a 1 2 3 b", "a … b"),
        ("训练任务 失败 rank 3", "训练任务 失败 rank …"),
        ("", ""),
        ("12 34", ""),
    ],
)
def test_patterns_of_lines(line: str, label: str) -> None:
    assert pattern_of(line).label == label


def test_a_pattern_is_searched_by_its_phrases_of_constant_words() -> None:
    pattern = pattern_of("failed to mount volume=pvc-1 for pod a-1: rpc error, code 5 while talking to it")
    assert set(pattern.runs) == {"failed to mount", "for pod", "rpc error, code", "while talking to it"}
    assert pattern.words == 12


def test_long_patterns_have_short_and_different_labels() -> None:
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


WORDS = st.sampled_from(
    [
        *(
            "failed",
            "to",
            "fetch",
            "token:",
            "context",
            "deadline",
            "exceeded",
            "gpu-a01",
            "x12",
            "password=hunter2",
        ),
        *(
            "Authorization:",
            "Bearer",
            "eyJhbGciOi.abc",
            '"secret":',
            '"a',
            'b"',
            "\x1b[31merror\x1b[0m:",
            "a\u200bb",
        ),
        *("[redacted]", "(done)", "AKIAABCDEFGHIJKLMNOP,", "训练任务", "a\x00b", "--token", "end."),
    ]
)


@given(st.lists(WORDS, max_size=400) | st.text(alphabet="ab1- =:/.()", max_size=60).map(str.split))
@example(["failed", "to", "fetch", "token:", "context", "deadline", "exceeded"])
def test_the_phrases_are_in_the_line_as_it_was_written(words: list[str]) -> None:
    """Otherwise no search of the past would find them, and every pattern would be new."""
    line = " ".join(words)
    raw = f" {' '.join(word for word in line.split() if any(map(str.isalnum, word)))} "
    for run in pattern_of(Redactor().clean(line)).runs:
        assert f" {run} " in raw
