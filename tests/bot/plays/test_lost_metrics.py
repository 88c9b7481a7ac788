"""The card of metrics that went away: it says what is unknown now, and what to do about it."""

import pytest

from bot.language.message_catalogue import ENGLISH
from bot.language.translation import translated
from tests.bot.plays.play import ExpectedCard, Play
from tests.bot.plays.stage import offered_lines, played
from tests.support.yard import text_of

NOTHING = ExpectedCard(about={}, says=())


@pytest.mark.parametrize(
    ("exporter", "metrics", "needed"),
    [
        ("dcgm-exporter", ("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_UTIL"), "14 rules need"),
        ("node_exporter", ("node_edac_uncorrectable_errors_total",), "1 rule needs"),
    ],
)
async def test_lost_metrics_are_one_card_that_says_what_is_unknown(
    exporter: str, metrics: tuple[str, ...], needed: str
) -> None:
    play = Play(report="", play="", minutes=16, every=2, lost={exporter: metrics}, fires={}, card=NOTHING)

    outcome = await played(play)

    assert outcome.fires == {"RuleMetricsLost": "critical"}
    (message,) = outcome.messages.values()
    card = text_of(translated(message, ENGLISH))
    assert f"{exporter} no longer gives metrics that {needed}" in card
    assert "Was the exporter, its target or a counter taken away?" in card
    assert "What these rules watch is unknown meanwhile, and not healthy." in card
    assert offered_lines(message)[0] == "rule doctor"
