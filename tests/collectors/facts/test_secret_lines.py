"""Each documented form of a secret is redacted, the rest of its line stays, and no other line is touched."""

import json
from collections import Counter
from pathlib import Path

import pytest

from bot.language.message_catalogue import entries
from collectors.facts.one_line import one_line, printable
from collectors.facts.redaction import MARK, Redactor, redacted
from tests.support.quick_yaml import from_yaml
from tests.support.secret_lines import SecretForm, harmless_lines, secret_forms

ZH = Path(__file__).parents[3] / "bot" / "language" / "zh"
CLEAN = Redactor().clean
HEADERS = ("2026-11-21T12:00:00.123456789Z stdout F ", "Nov 21 12:00:00 gpu-a01 trainer[4711]: ", "[rank3]: ")


def pieces(secret: str) -> set[str]:
    """Return what must not be left of a secret: any eight characters of it in a row."""
    return {secret[start : start + 8] for start in range(max(1, len(secret) - 7))}


def leaked(form: SecretForm, text: str) -> set[str]:
    """Return the pieces of the form's secrets in the text, other than those that its own words have too."""
    return {
        piece
        for secret in form.secrets
        for piece in pieces(secret)
        if piece in text and piece not in form.redacted
    }


def test_there_are_forms_of_all_families_and_harmless_lines_enough() -> None:
    families = Counter(form.family for form in secret_forms())
    assert sum(families.values()) >= 200
    assert min(families.values()) >= 8
    assert len(harmless_lines()) >= 500
    assert len({form.line for form in secret_forms()}) == len(secret_forms())


@pytest.mark.parametrize("form", secret_forms(), ids=lambda form: form.redacted[:60])
def test_a_secret_goes_and_the_rest_of_its_line_stays(form: SecretForm) -> None:
    assert CLEAN(form.line) == form.redacted


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_before_the_line_changes_nothing(header: str) -> None:
    assert not [form.redacted for form in secret_forms() if leaked(form, CLEAN(header + form.line))]


def test_no_harmless_line_is_touched() -> None:
    assert [line for line in harmless_lines() if CLEAN(line) != line] == []


@pytest.mark.parametrize("header", HEADERS)
def test_no_harmless_line_with_a_header_is_touched(header: str) -> None:
    assert [line for line in harmless_lines() if CLEAN(header + line) != header + line] == []


def test_harmless_lines_stay_in_one_text() -> None:
    text = "\n".join(harmless_lines())
    assert CLEAN(text, limit=1_000_000) == text


def test_a_form_between_other_lines_is_found() -> None:
    for form in secret_forms():
        assert not leaked(form, CLEAN(f"step 1\n{form.line}\nstep 2"))


def test_what_is_redacted_stays_as_it_is() -> None:
    """A text passes several times: where it comes in, where it is stored, where it is shown."""
    for form in secret_forms():
        once = CLEAN(form.line)
        assert CLEAN(once) == once


@pytest.mark.parametrize("depth", [1, 2])
def test_a_line_inside_json_is_found(depth: int) -> None:
    """A container runtime writes each line as JSON, and a shipper the JSON as JSON again."""
    left = {}
    for form in secret_forms():
        text = form.line
        for _ in range(depth):
            text = json.dumps({"log": text, "stream": "stdout"}, ensure_ascii=False)
        if found := leaked(form, CLEAN(text)):
            left[form.line] = found
    assert left == {}


def test_no_cut_leaves_a_piece_of_a_secret() -> None:
    """A text is redacted before it is cut, wherever that is."""
    for form in secret_forms():
        for limit in range(10, len(form.line) + 10, 9):
            assert not leaked(form, CLEAN(form.line, limit=limit))
            assert not leaked(form, one_line(form.line, limit))
            assert not leaked(form, printable(form.line, limit))


def test_a_secret_at_the_end_of_what_is_read_is_not_shown_in_part() -> None:
    for form in secret_forms():
        for before in (600, 620, 630):
            assert not leaked(form, one_line("x " * (before // 2) + form.line * 3, 80))


def test_what_is_invisible_hides_no_secret() -> None:
    assert one_line("pass\u200bword=hunter2", 80) == "pass\ufffdword=hunter2"  # no name that anybody reads
    assert one_line("\x1b[31mpass\x1b[0mword=hunter2", 80) == f"password={MARK}"


def test_no_sentence_of_our_own_is_touched() -> None:
    """What the program says about passwords and tokens is not taken for one."""
    said = [from_yaml(file.read_text("utf-8")) for file in sorted(ZH.glob("*.yaml"))]
    sentences = [sentence for phrases in said for pair in phrases.items() for sentence in pair]
    sentences += [text for one in entries("zh").values() for text in (one.id, one.plural, *one.said) if text]
    assert len(sentences) > 1_000
    assert [sentence for sentence in sentences if redacted(sentence) != sentence] == []
