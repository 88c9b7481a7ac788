"""Explanations of why a container ended."""

import pytest

from collectors.trainings.exit_codes import explain_exit


@pytest.mark.parametrize(
    ("code", "reason", "text"),
    [
        (137, "OOMKilled", "more memory than its limit"),
        (137, "Error", "SIGKILL"),
        (134, "", "NCCL"),
        (143, "Error", "SIGTERM"),
        (139, "", "SIGSEGV"),
        (127, "", "not found"),
        (128 + 34, "", "signal 34"),
        (77, "Error", "exited with an error"),
        (0, "Completed", "finished"),
        (None, "Evicted", "its node evicted it"),
        (None, "", ""),
        (None, "Mystery", ""),
    ],
)
def test_a_code_and_a_reason_are_explained(code: int | None, reason: str, text: str) -> None:
    explanation = explain_exit(code, reason)
    assert text in explanation
    assert bool(explanation) is bool(text)
