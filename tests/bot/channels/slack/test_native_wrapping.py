"""Columns of Slack's own table that are wrapped."""

from alerts.cards.message import Table
from bot.channels.slack.native_tables import native_table


def test_sentences_are_wrapped_wherever_they_stand_and_names_and_numbers_are_not() -> None:
    row = ("CoreDNSErrorsHigh: Cluster DNS returns SERVFAIL for 10 % of requests.", "2 min", "warning")
    found = native_table(Table(heading=("alert", "for", "severity"), rows=(row,)))
    assert found is not None
    assert [column["is_wrapped"] for column in found[0]["column_settings"]] == [True, False, False]
