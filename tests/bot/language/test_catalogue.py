"""Sentences are found by their template, and their arguments are put into the translation."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from alerts.cards.message import Message, Paragraph, Table
from alerts.cards.sentence_spans import expanded, spans_of
from alerts.cards.text import Span, Style, bold, code, person, plain, text
from bot.channels.slack.markup import mrkdwn
from bot.language.message_catalogue import Catalogue, catalogue, entries
from bot.language.po import Translation, entries_of, translations_of
from bot.language.translation import translated
from collectors.facts.sentences import Sentence, counted, holes, listed, sentence, word
from tests.bot.language.untranslated import untranslated
from tests.support.said_phrases import said_phrases, shown_words

ZH = r"""
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=1; plural=0;\n"

#: a comment
msgid "{count} pod of {training} waits."
msgid_plural "{count} pods of {training} wait."
msgstr[0] "{training} 的 {count} 个 Pod 在等待。"

msgid "{what} ended {at}, "
"after {lasting}."
msgstr "{what} 于 {at} 结束，历时 {lasting}。"

msgid "run `node cordon {node}` first"
msgstr "先运行 `node cordon {node}`"

msgid "{a} was asked: {b}"
msgstr "已询问 {a} ：{b}"

msgid "nobody"
msgstr "没有人"

msgid "by"
msgstr "由"

msgctxt "heading"
msgid "by"
msgstr "操作人"

msgid "not yet said in Chinese"
msgstr ""
"""
CHINESE = Catalogue("zh", translations_of(entries_of(ZH)))
NEW = '''
from collectors.facts.sentences import sentence
def said(n, log, known):
    """Not this."""
    log.info("nor this one")
    heading = ("color", "node")
    return sentence("{count} of them burn", count=n), known.get("a key", "no idea"), "a_name", heading
'''


@pytest.mark.parametrize(
    ("count", "english", "chinese"),
    [
        (0, "0 pods of tts wait.", "tts 的 0 个 Pod 在等待。"),
        (1, "1 pod of tts waits.", "tts 的 1 个 Pod 在等待。"),
        (2, "2 pods of tts wait.", "tts 的 2 个 Pod 在等待。"),
        (5, "5 pods of tts wait.", "tts 的 5 个 Pod 在等待。"),
        (0.5, "0.5 pods of tts wait.", "tts 的 0.5 个 Pod 在等待。"),
    ],
)
def test_a_count_has_the_right_plural(count: float, english: str, chinese: str) -> None:
    said = counted(
        "{count} pod of {training} waits.",
        "{count} pods of {training} wait.",
        count=count,
        training="tts",
    )
    assert (said, CHINESE.say(said)) == (english, chinese)


def test_a_sentence_within_another_is_translated_too_and_names_are_not() -> None:
    said = sentence("{a} was asked: {b}", a=sentence("nobody"), b="nobody")
    assert said == "nobody was asked: nobody"
    assert CHINESE.say(said) == "已询问没有人：nobody"  # no space between wide characters


def test_moments_and_durations_are_arguments() -> None:
    said = sentence(
        "{what} ended {at}, after {lasting}.",
        what="tts",
        at=datetime(2026, 3, 1, 12, tzinfo=UTC),
        lasting=timedelta(hours=2, minutes=5),
    )
    assert said == "tts ended 2026-03-01 12:00 UTC, after 2 h 5 min."
    assert CHINESE.say(said) == "tts 于 2026-03-01 12:00 UTC 结束，历时 2 h 5 min。"
    assert [span.style for span in spans_of(said, CHINESE)] == [Style.PLAIN, Style.MOMENT, Style.PLAIN]


@pytest.mark.parametrize(
    ("items", "english", "chinese"),
    [
        (["a"], "a", "a"),
        (["a", "b"], "a and b", "a 和 b"),
        (["a", "b", word("nobody")], "a, b and nobody", "a、b 和没有人"),
        ([], "", ""),
    ],
)
def test_a_list_is_joined_as_the_language_does(items: list[str], english: str, chinese: str) -> None:
    said = listed(items, "and")
    assert (said, CHINESE.say(said)) == (english, chinese)


def test_a_list_says_how_many_it_leaves_out() -> None:
    said = listed(["a", "b", "c", "d"], most=2)
    assert (said, CHINESE.say(said)) == ("a, b and 2 more", "a、b 等，另有 2 个")


@pytest.mark.parametrize(
    "name", ["{node}", "{", "`x`", "{{0}}", "%s", "<!channel>", "*b*", "nobody", "a\u202eb"]
)
def test_a_hostile_argument_is_only_a_name(name: str) -> None:
    said = sentence("{a} was asked: {b}", a=name, b="x")
    shown = name.replace("\u202e", "\ufffd")
    (span,) = expanded(text(said), CHINESE)
    assert span == Span(f"已询问 {shown} ：x")
    assert "<!channel>" not in mrkdwn((span,))
    assert "`x`" not in mrkdwn((span,))


def test_code_is_what_the_template_marks() -> None:
    said = sentence("run `node cordon {node}` first", node="a` b")
    assert spans_of(said, CHINESE) == (Span("先运行 "), Span("node cordon a` b", Style.CODE))


def test_people_and_bold_words_keep_their_style() -> None:
    said = sentence("{a} was asked: {b}", a=person("U1", "dana"), b=bold(sentence("nobody")))
    assert spans_of(said, CHINESE) == (
        Span("已询问 "),
        Span("dana", Style.PERSON, "U1"),
        Span(" ："),
        Span("没有人", Style.BOLD),
    )
    assert plain(text(said)) == "dana was asked: nobody"


def test_what_is_not_translated_is_shown_in_english() -> None:
    said = sentence("{pods} of {nodes} burn", pods=3, nodes=4)
    assert CHINESE.say(said) == "3 of 4 burn"
    assert CHINESE.say(sentence("not yet said in Chinese")) == "not yet said in Chinese"
    message = Message(title=text(said), blocks=(Paragraph(text=text(code("x"), " ", said)),))
    assert plain(translated(message, catalogue("zh")).title) == "3 of 4 burn"


def test_one_english_word_can_mean_two_things() -> None:
    assert (CHINESE.say("by"), CHINESE.say("by", "heading"), CHINESE.say("by ", "field")) == (
        "由",
        "操作人",
        "由 ",
    )
    assert CHINESE.say("unknown to us") == "unknown to us"
    assert (CHINESE.say(""), CHINESE.say(" ")) == ("", " ")
    table = Table(heading=("id", "silence"), rows=((sentence("nobody"), "x"),))
    (shown,) = translated(Message(title=(), blocks=(table,)), catalogue("zh")).blocks
    assert isinstance(shown, Table)
    assert type(shown.rows[0][0]) is str


def test_a_new_sentence_needs_no_translation(tmp_path: Path) -> None:
    """It is a line in the report, and nothing else."""
    for package in ("collectors", "alerts/packs", "commands", "bot"):
        (tmp_path / package).mkdir(parents=True)
    (tmp_path / "bot/new.py").write_text(NEW, encoding="utf-8")

    assert list(untranslated(tmp_path)) == [
        ("{count} of them burn", ""),
        ("no idea", ""),
        ("color", ""),
    ]
    assert list(said_phrases(tmp_path)) == ["{} of them burn", "no idea"]
    assert list(shown_words(tmp_path)) == ["color", "node"]
    assert catalogue("zh").say(sentence("{count} of them burn", count=3)) == "3 of them burn"


def test_each_translation_has_the_holes_of_its_template() -> None:
    whole = [one for one in entries("zh").values() if one.id]
    assert len(whole) > 1_000
    assert [one.id for one in whole if not all(is_filled_like(one, said) for said in one.said)] == []


def is_filled_like(entry: Translation, said: str) -> bool:
    return holes(said) == holes(entry.plural or entry.id) and said.count("`") == entry.id.count("`")


@pytest.mark.parametrize(
    ("said", "is_so"), [("排空 `{a}`", True), ("排空 {a}", False), ("排空 `{b}`", False)]
)
def test_a_translation_without_a_hole_or_its_mark_is_found(said: str, is_so: bool) -> None:
    (entry,) = entries_of(f'msgid "drain `{{a}}`"\nmsgstr "{said}"\n')
    assert is_filled_like(entry, entry.said[0]) is is_so


def test_every_plural_of_the_catalogue_has_one_form() -> None:
    translations = translations_of(entries("zh").values())
    for entry in entries("zh").values():
        if entry.plural:
            assert {translations.ngettext(entry.id, entry.plural, n) for n in (0, 1, 2, 5)} == set(entry.said)


@pytest.mark.parametrize(
    "broken",
    ['msgid "a"', 'msgstr "a"', 'msgid "a"\nmsgstr "b', "nothing", 'msgid "a"\nmsgstr[0] "b"', '"a"'],
)
def test_a_broken_catalogue_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match=r"line of a catalogue|needs msgid|go together|quoted"):
        entries_of(broken)


def test_the_catalogue_of_english_is_empty() -> None:
    said = sentence("{a} was asked: {b}", a="x", b="y")
    assert catalogue("en").say(said) == said
    assert type(catalogue("en").say(said)) is str
    assert not isinstance(catalogue("zh").say(said), Sentence)
