"""Sentences are found again by their fixed words, whatever stands in their holes."""

import re
from itertools import count

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
        "{} of {}": "{}/{}",
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
        ("gpu-a01 is already cordoned by someone else", "其他人已隔离 gpu-a01"),
        ("1 node", "1 个节点"),
        ("12 nodes", "12 个节点"),
        ("gpu-a01 is hot (+3 more)", "gpu-a01 过热（另有 3 条）"),
        ("Resolved: gpu-a01 is hot (+3 more)", "已恢复：gpu-a01 过热（另有 3 条）"),
        ("gpu-a01 is hot; gpu-a02 is hot", "gpu-a01 过热；gpu-a02 过热"),
        ("gpu-a01, gpu-a02", "gpu-a01, gpu-a02"),
        ("✅ gpu-a01 is not ready", "✅ gpu-a01 未就绪"),
        ("2. gpu-a01 is hot", "2. gpu-a01 过热"),
        ("gpu-a01 is hot (gpu-a02 is not ready.)", "gpu-a01 过热（gpu-a02 未就绪。）"),
        ("gpu-a01 is not ready. gpu-a02 is not ready.", "gpu-a01 未就绪。gpu-a02 未就绪。"),
        ("tts: Someone else", "tts：其他人"),
        ("Someone else", "其他人"),
    ],
)
def test_a_sentence_is_translated(english: str, said: str) -> None:
    assert BOOK.say(english) == said


@pytest.mark.parametrize(
    "unknown",
    [
        "The disk of our own rule is full, by now",
        "12 nodes burn down",
        "A quarter of an hour is over",
        "gpu-a01",
        "",
        " ",
        "91 °C",
        "⚪",
        "x" * 10_000 + " is hot",
    ],
)
def test_what_no_phrase_fits_stays_as_it_is(unknown: str) -> None:
    assert BOOK.say(unknown) == unknown


def test_of_two_phrases_that_fit_the_one_with_more_words_is_said() -> None:
    book = Phrasebook([Phrase("{} is {}", "{} 是 {}"), Phrase("{} is hot", "{} 过热")])
    assert book.say("gpu-a01 is hot") == "gpu-a01 过热"


def test_english_stays_as_it_is() -> None:
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


def test_the_same_code_twice_keeps_its_order() -> None:
    book = Phrasebook([Phrase("Plan `{}` was undone by plan `{}`.", "计划 `{}` 已由计划 `{}` 撤销。")])
    assert book.say("Plan `p1` was undone by plan `p2`.") == "计划 `p1` 已由计划 `p2` 撤销。"


_HOLES = re.compile(r"`[^`]*`|\{\}")


def test_each_phrase_of_the_table_is_found_by_its_own_words() -> None:
    """A phrase that another one hides would never be said."""
    book, hidden = phrasebook("zh"), []
    for english, other in phrases_of("zh").items():
        sentence, holes = _filled(english, other)
        if (said := book.say(sentence).strip()) != (expected := Phrase(english, other).filled(holes).strip()):
            hidden.append(f"{english!r} is {said!r}, not {expected!r}")
    assert not hidden, "\n".join(hidden)


def _filled(english: str, other: str) -> tuple[str, list[str]]:
    """Return the sentence with names in its holes, and what is in them. A hole that follows another is empty."""
    pieces, plain, holes = re.split(r"(`[^`]*`|\{\})", english), count(), list[str]()
    used = re.findall(r"\{(\d*)\}", re.sub(r"`[^`]*`", "", other))
    kept = {number if one == "" else int(one) for number, one in enumerate(used)}
    for place in range(1, len(pieces), 2):
        if pieces[place] != "{}":
            holes.append(pieces[place].replace("{}", f"x{place}"))
        elif next(plain) not in kept:
            holes.append("s" if pieces[place - 1][-1:].isalpha() else "is")
        else:
            holes.append("" if place > 1 and not pieces[place - 1] else f"x{place}")
        pieces[place] = holes[-1]
    return "".join(pieces), holes
