"""Slack reads its marks only beside a space, punctuation of its own, or the end of a line."""

from alerts.cards.text import bold, code, text
from bot.channels.slack.markup import cut_spans, mrkdwn


def test_marks_beside_letters_written_without_spaces_get_a_space() -> None:
    assert (
        mrkdwn(text("计划", code("p1"), "已过期：", bold("原因"), "未知")) == "计划 `p1` 已过期： *原因* 未知"
    )


def test_bold_words_beside_bold_words_get_a_space() -> None:
    assert mrkdwn(text(bold("下一步："), bold("停止调度"))) == "*下一步：* *停止调度*"


def test_english_text_stays_as_it_is() -> None:
    assert mrkdwn(text("plan ", code("p1"), ": ", bold("done"), ".")) == "plan `p1`: *done*."


def test_a_text_that_is_cut_counts_its_spaces() -> None:
    spans = text(*(part for _ in range(40) for part in ("计划", code("p1"))))
    assert len(mrkdwn(cut_spans(spans, 100))) <= 100
