"""A sentence is its finished English, and remembers of what it is made."""

import copy
import pickle

import pytest

from collectors.facts.one_line import printable
from collectors.facts.redaction import redacted
from collectors.facts.sentences import (
    Sentence,
    counted,
    english,
    headline_of,
    listed,
    said_by,
    sentence,
    unmarked,
    word,
)

HOT = sentence("{gpu} on {node} is hot: {heat:.0f} °C.", gpu="GPU 3", node="gpu-a01", heat=91.4)


def test_a_sentence_is_a_string() -> None:
    assert HOT == "GPU 3 on gpu-a01 is hot: 91 °C."
    assert hash(HOT) == hash("GPU 3 on gpu-a01 is hot: 91 °C.")
    assert type(f"{HOT}") is str
    assert HOT.template == "{gpu} on {node} is hot: {heat:.0f} °C."


@pytest.mark.parametrize("again", [copy.deepcopy(HOT), copy.copy(HOT), pickle.loads(pickle.dumps(HOT))])
def test_a_copy_is_a_sentence(again: Sentence) -> None:
    assert (again, again.template, again.arguments) == (HOT, HOT.template, HOT.arguments)


def test_an_argument_too_many_or_too_few_is_refused() -> None:
    with pytest.raises(ValueError, match="differ in: node"):
        sentence("{node} is hot")
    with pytest.raises(ValueError, match="differ in: rack"):
        sentence("{node} is hot", node="a", rack="b")
    with pytest.raises(ValueError, match="differ in: node"):
        counted("one is hot", "{count} of {node} are hot", count=2)


def test_the_singular_need_not_say_the_count() -> None:
    assert counted("the pod waits", "{count} pods wait", count=1) == "the pod waits"


def test_braces_of_arguments_are_not_holes() -> None:
    assert sentence("{a} {{b}} {c}", a="{c}", c="{a}") == "{c} {b} {a}"
    assert word("{x}") == "{x}"


def test_a_headline_has_no_full_stop_and_stays_a_sentence() -> None:
    assert headline_of(HOT) == "GPU 3 on gpu-a01 is hot: 91 °C"
    assert isinstance(headline_of(HOT), Sentence)
    assert headline_of("It burns.") == "It burns"


def test_an_error_keeps_its_sentence() -> None:
    assert said_by(ValueError(HOT)) is HOT
    assert said_by(ValueError("plain", 1)) == str(ValueError("plain", 1))


def test_without_marks_only_those_of_the_template_go() -> None:
    assert unmarked(sentence("run `x {a}`", a="`")) == "run x `"
    assert unmarked(listed([sentence("`a`"), "`b`"])) == "a, `b`"
    assert unmarked("`a`") == "`a`"


def test_what_is_safe_stays_a_sentence() -> None:
    assert printable(HOT, 100) is HOT
    assert redacted(HOT) is HOT


def test_what_comes_from_outside_is_made_safe_within_the_sentence() -> None:
    bad = sentence("{node} is hot", node="a\u202eb")
    safe = printable(bad, 100)
    assert safe == "a\ufffdb is hot"
    assert isinstance(safe, Sentence)
    assert safe.arguments == {"node": "a\ufffdb"}


def test_a_secret_that_only_the_whole_shows_leaves_plain_text() -> None:
    value = "hunter2hunter2A1"
    said = sentence("password={value}", value=value)
    assert value not in redacted(said)
    assert not isinstance(redacted(said), Sentence)


def test_a_plain_text_is_never_taken_for_an_equal_sentence() -> None:
    assert isinstance(redacted(sentence("a harmless line")), Sentence)
    assert type(redacted("a harmless line")) is str


def test_encoders_get_plain_strings() -> None:
    assert type(english(HOT)) is str
    with pytest.raises(NotImplementedError):
        english(object())
