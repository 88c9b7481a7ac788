"""Alerts speak as people do: nodes have their names, and numbers are rounded."""

from dataclasses import replace

import pytest

from alerts.alert import Alert
from alerts.incidents import members
from alerts.incidents.members import member_of, summary_of
from alerts.incidents.wording import readable, rounded
from tests.support.alerting import a_rule, an_alert


@pytest.mark.parametrize(
    ("exact", "said"),
    [
        ("throttled 58.26% of the time", "throttled 58 % of the time"),
        ("throttled 5.768% of the time", "throttled 5.8 % of the time"),
        ("SERVFAIL for 0.3125%.", "SERVFAIL for 0.31 %."),
        ("SERVFAIL for 9.97%", "SERVFAIL for 10 %"),
        ("30% of the time", "30 % of the time"),
        ("a latency of 6.957s.", "a latency of 7.0 s."),
        ("a latency of 256ms.", "a latency of 256ms."),
        ("GPU 3 is hot: 91 °C", "GPU 3 is hot: 91 °C"),
        ("10.0.1.12:9100 runs v1.36.3 of 5.15.0-91", "10.0.1.12:9100 runs v1.36.3 of 5.15.0-91"),
        ("0000:5d:00.0 and /dev/rbd1.2%", "0000:5d:00.0 and /dev/rbd1.2%"),
        ("100% and 100.00%", "100 % and 100 %"),
    ],
)
def test_a_measured_value_is_rounded_and_nothing_else(exact: str, said: str) -> None:
    assert rounded(exact) == said


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        pytest.param({"instance": "10.0.0.11:9100"}, "gpu-a01 is full.", id="an address with a port"),
        pytest.param({"instance": "10.0.0.11"}, "gpu-a01 is full.", id="an address"),
        pytest.param({"instance": "gpu-a01:9100"}, "gpu-a01 is full.", id="its name with a port"),
        pytest.param({"instance": "192.0.2.7:9100"}, "192.0.2.7 is full.", id="a host that no node has"),
        pytest.param({"instance": "10.0.0.110:9100"}, "10.0.0.110 is full.", id="a longer address"),
    ],
)
def test_a_node_is_called_by_its_name(labels: dict[str, str], said: str) -> None:
    alert = an_alert("NodeFull", on=labels, summary=f"{labels['instance']} is full.")

    assert summary_of(alert) == said


def test_only_whole_addresses_are_replaced() -> None:
    alert = an_alert("NodeFull", on={"instance": "10.0.0.11:9100"})

    assert readable("110.0.0.11 and 10.0.0.11.5 are not 10.0.0.11.", alert) == (
        "110.0.0.11 and 10.0.0.11.5 are not gpu-a01."
    )


def test_only_what_a_member_shows_is_made_readable_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counting(words: str, alert: Alert) -> str:
        read.append(words)
        return readable(words, alert)

    monkeypatch.setattr(members, "readable", counting)
    shown = {"summary": "a", "description": "b", "headline": "c", "resolved_headline": "d"}
    alert = replace(an_alert("NodeFull"), annotations={**shown, "worse_summary": "e", "team": "f"})

    member_of(alert, a_rule("NodeFull"))

    assert sorted(read) == ["a", "b", "c", "d"]


def test_a_description_is_worded_like_a_summary() -> None:
    alert = replace(
        an_alert("NodeFull", on={"instance": "10.0.0.11:9100"}),
        annotations={"summary": "x", "description": "10.0.0.11:9100 has 95.41% in use."},
    )

    assert member_of(alert, None).description == "gpu-a01 has 95 % in use."
