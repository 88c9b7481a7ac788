"""Messages in another language: the fixed words are translated, names and command lines are not."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as some

from alerts.cards.message import (
    Button,
    Buttons,
    Context,
    Fields,
    Menu,
    Message,
    Paragraph,
    Preformatted,
    Table,
)
from alerts.cards.text import Span, Style, bold, code, link, person, plain, text
from bot.channels.plain_text import plain_text
from bot.channels.slack.blocks import render, render_line
from bot.language.message_catalogue import ENGLISH, Catalogue
from bot.language.po import Translation, translations_of
from bot.language.translation import translated, translated_text
from collectors.facts.sentences import sentence

WORDS = {
    "Acknowledge": "确认",
    "state": "状态",
    "Ready": "就绪",
    "Where:": "位置：",
    "runbook": "处理手册",
    "{node} is hot": "{node} 过热",
    "{person} ran `{line}`": "`{line}` 由 {person} 执行",
    "… {more} more": "……另有 {more} 行",
}
CHINESE = Catalogue(
    "zh",
    translations_of(
        [
            Translation(
                id="",
                said=("Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=1; plural=0;\n",),
            ),
            Translation(id="… {count} more row", plural="… {count} more rows", said=("……另有 {count} 行",)),
            *(Translation(id=english, said=(other,)) for english, other in WORDS.items()),
        ]
    ),
)
HOT = sentence("{node} is hot", node="gpu-a01")
CARD = Message(
    title=text("🔴 ", bold(HOT)),
    blocks=(
        Paragraph(text=text(bold("Where: "), code("Ready"), " ", person("U1", "Ready"))),
        Fields(rows=(("state", text("Ready")),)),
        Preformatted(lines=("gpu-a01 is hot",)),
        Table(heading=("state",), rows=(("Ready",),), more=3),
        Context(text=text(link("https://example.org/Ready", "runbook"))),
        Buttons(
            buttons=(Button(label="Acknowledge", line="alert ack i1"),),
            menus=(Menu(label="state", options=(Button(label="Acknowledge", line="alert ack i2"),)),),
        ),
    ),
    summary=HOT,
)


def test_the_words_of_a_message_are_translated_and_its_names_quotes_and_lines_are_not() -> None:
    assert plain_text(CARD, CHINESE).split("\n") == [
        "🔴 gpu-a01 过热",
        "位置： Ready Ready",
        "  状态  就绪",
        "  gpu-a01 is hot",
        "状态",
        "就绪",
        "……另有 3 行",
        "处理手册",
        "  [确认] alert ack i1",
        "  [状态: 确认] alert ack i2",
    ]
    assert translated(CARD, CHINESE).summary == "gpu-a01 过热"


def test_of_a_document_only_the_buttons_are_translated() -> None:
    page = translated(replace(CARD, is_document=True), CHINESE)
    assert (page.title, page.blocks[:-1]) == (CARD.title, CARD.blocks[:-1])
    assert page.blocks[-1] == translated(CARD, CHINESE).blocks[-1]


def test_slack_shows_the_message_in_the_language_with_its_own_notes() -> None:
    shown = str(render(CARD, CHINESE).arguments())
    assert "过热" in shown
    assert "……另有 3 行" in shown
    assert "确认" in shown
    assert render_line(text(HOT), CHINESE).text == "gpu-a01 过热"


def test_in_english_the_message_is_the_same() -> None:
    assert translated(CARD, ENGLISH) == CARD


def test_a_menu_and_its_options_are_translated_and_the_line_of_each_is_not() -> None:
    menu = Menu(label="Where:", options=(Button(label="Acknowledge", line="alert ack i1"),))
    (block,) = translated(Message(title=(), blocks=(Buttons(menus=(menu,)),)), CHINESE).blocks

    assert isinstance(block, Buttons)
    assert block.menus == (Menu(label="位置：", options=(Button(label="确认", line="alert ack i1"),)),)


def test_a_sentence_with_code_and_people_in_it_is_translated_as_one() -> None:
    ran = sentence("{person} ran `{line}`", person=person("U1", "dana"), line="node list")
    assert translated_text(text(ran), CHINESE) == text(
        code("node list"), " 由 ", person("U1", "dana"), " 执行"
    )
    assert plain(translated_text(text("✅ ", ran), ENGLISH)) == "✅ dana ran node list"


def test_words_that_nobody_translates_stay_as_they_are() -> None:
    """Also where they have the words of ours in them: no finished sentence is searched."""
    said = text("gpu-a07 is hot", " Ready", "Acknowledge it")
    assert translated_text(said, CHINESE) == said


@given(some.lists(some.builds(Span, some.text(max_size=20), some.sampled_from(Style)), max_size=8))
def test_any_text_keeps_its_names_and_code(spans: list[Span]) -> None:
    kept = [span for span in spans if span.style in (Style.CODE, Style.PERSON, Style.CHANNEL, Style.MOMENT)]
    shown = translated_text(tuple(spans), CHINESE)
    assert [span for span in shown if span.style in {one.style for one in kept}] == kept
