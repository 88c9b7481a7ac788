"""Why a container ended, in words."""

import pytest

from collectors.trainings.exit_codes import explain_exit


@pytest.mark.parametrize(
    ("code", "reason", "words"),
    [
        (137, "OOMKilled", "more memory than its limit"),
        (137, "Error", "SIGKILL"),
        (134, "", "NCCL"),
        (143, "Error", "SIGTERM"),
        (139, "", "SIGSEGV"),
        (127, "", "not found"),
        (128 + 34, "", "signal 34"),
        (77, "Error", "error of its own"),
        (0, "Completed", "finished"),
        (None, "Evicted", "threw it out"),
        (None, "", ""),
        (None, "Mystery", ""),
    ],
)
def test_a_code_and_a_reason_mean(code: int | None, reason: str, words: str) -> None:
    meaning = explain_exit(code, reason)
    assert words in meaning
    assert bool(meaning) is bool(words)
