"""The redactor beside detect-secrets, a maintained scanner for source code: it finds no secret in what is redacted."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from detect_secrets.core.scan import scan_file
from detect_secrets.settings import default_settings

from collectors.facts.redaction import Redactor
from tests.support.secret_lines import harmless_lines, secret_forms

CLEAN = Redactor().clean


@pytest.fixture
def found(tmp_path: Path) -> "Found":
    return Found(tmp_path / "lines.txt")


class Found:
    """Which lines have a secret, in the opinion of the scanner."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def in_(self, lines: Sequence[str]) -> set[int]:
        self._file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        with default_settings():
            return {one.line_number - 1 for one in scan_file(str(self._file))}


def test_the_scanner_finds_no_secret_in_what_is_redacted(found: Found) -> None:
    """What it still takes for one is public: the nonce of Digest, and the name of an account."""
    redacted = [CLEAN(form.line) for form in secret_forms()]
    assert len(found.in_([form.line for form in secret_forms()])) > 90
    left = [redacted[number] for number in found.in_(redacted)]
    assert [line for line in left if "nonce=" not in line and "_ACCOUNT_SID=" not in line] == []


def test_the_redactor_knows_more_forms_and_touches_fewer_other_lines(found: Found) -> None:
    forms, lines = secret_forms(), harmless_lines()
    ours = sum(not any(secret in CLEAN(form.line) for secret in form.secrets) for form in forms)
    theirs = len(found.in_([form.line for form in forms]))
    assert (ours, len([line for line in lines if CLEAN(line) != line])) == (len(forms), 0)
    assert theirs < ours
    assert found.in_(lines)  # a digest in quotes, for example: source code is judged otherwise than a log
