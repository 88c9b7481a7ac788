"""Sentences are found again by their fixed words, whatever stands in their holes."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from bot.language.phrase import Phrase
from bot.language.phrasebook import ENGLISH, Phrasebook, phrasebook, phrases_of

BOOK = Phrasebook(
    Phrase(english, other)
    for english, other in {
        "{} is hot": "{} 过热",
        "{} is not ready.": "{} 未就绪。",
        "{} is already cordoned by {}": "{1} 已隔离 {0}",
        "{} node{}": "{0} 个节点",
        "someone else": "其他人",
        " (+{} more)": "（另有 {} 条）",
        "Resolved: ": "已恢复：",
        ", by ": "，操作者：",
    }.items()
)


@pytest.mark.parametrize(
    ("english", "said"),
    [
        ("gpu-a01 is hot", "gpu-a01 过热"),
        ("✅ gpu-a01 is hot", "✅ gpu-a01 过热"),
        (" gpu-a01 is not ready. ", " gpu-a01 未就绪。 "),
        ("gpu-a01 is already cordoned by dana", "dana 已隔离 gpu-a01"),
        ("gpu-a01 is already cordoned by someone else", "其他人 已隔离 gpu-a01"),
        ("1 node", "1 个节点"),
        ("12 nodes", "12 个节点"),
        ("gpu-a01 is hot (+3 more)", "gpu-a01 过热（另有 3 条）"),
        ("Resolved: gpu-a01 is hot (+3 more)", "已恢复：gpu-a01 过热（另有 3 条）"),
        ("gpu-a01 is hot; gpu-a02 is hot", "gpu-a01 过热；gpu-a02 过热"),
        ("gpu-a01, gpu-a02", "gpu-a01, gpu-a02"),
    ],
)
def test_a_sentence_is_said_in_the_other_language(english: str, said: str) -> None:
    assert BOOK.say(english) == said


@pytest.mark.parametrize(
    "unknown",
    ["The disk of our own rule is full, by now", "gpu-a01", "", " ", "91 °C", "⚪", "x" * 10_000 + " is hot"],
)
def test_what_no_phrase_fits_stays_as_it_is(unknown: str) -> None:
    assert BOOK.say(unknown) == unknown


def test_of_two_phrases_that_fit_the_one_with_more_words_is_said() -> None:
    book = Phrasebook([Phrase("{} is {}", "{} 是 {}"), Phrase("{} is hot", "{} 过热")])
    assert book.say("gpu-a01 is hot") == "gpu-a01 过热"


def test_english_is_said_as_it_is() -> None:
    assert not ENGLISH
    assert ENGLISH.say("gpu-a01 is hot") == "gpu-a01 is hot"
    assert not phrasebook("en")


def test_code_in_backticks_is_kept_wherever_the_other_sentence_has_it() -> None:
    book = Phrasebook([Phrase("`--gpus {}` of {} would fit", "{} 的 `--gpus {}` 可以放下")])
    assert book.say("`--gpus 4` of tts would fit") == "tts 的 `--gpus 4` 可以放下"
    with pytest.raises(ValueError, match="has `--cpus`, and"):
        Phrase("`--gpus {}` would fit", "`--cpus`")


def test_a_translation_with_a_hole_too_many_is_refused() -> None:
    with pytest.raises(ValueError, match=r"has \{1\}, and"):
        Phrase("{} is hot", "{0} {1}")


@given(some.text(max_size=300))
def test_any_text_is_said_and_keeps_its_lines(sentence: str) -> None:
    assert BOOK.say(sentence).count("\n") == sentence.count("\n")


@given(some.text(some.sampled_from("ab{}.-/:_过"), max_size=60))
def test_what_stands_in_a_hole_is_never_lost(name: str) -> None:
    assert name.strip() in BOOK.say(f"{name} is not ready.")


@pytest.mark.parametrize("english", phrases_of("zh"))
def test_each_phrase_of_the_table_is_found_by_its_own_words(english: str) -> None:
    """A phrase that another one hides would never be said."""
    holes = [f"x{number}" for number in range(english.count("{}"))]
    expected = Phrase(english, phrases_of("zh")[english]).filled(holes)
    assert phrasebook("zh").say(english.replace("{}", "%s") % tuple(holes)).strip() == expected.strip()
