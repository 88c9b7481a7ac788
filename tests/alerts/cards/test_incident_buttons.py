"""Buttons of an incident's card: actions, who has it, silences, and behind a menu the rest."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from alerts.cards.incident_buttons import MAX_MORE, card_buttons
from alerts.cards.incident_context import IncidentContext
from alerts.cards.message import Button, Buttons, Menu
from alerts.incidents.grouping import acknowledge
from alerts.incidents.incident import Incident
from tests.support.alerting import NOON, a_rule, an_alert, minutes
from tests.support.incidents import an_open_incident

LINKS = {"grafana": "https://grafana/d/node?var-node={node}", "logs": "https://logs/?q={node}"}


def offered(incident: Incident, **more: object) -> Buttons:
    rule = a_rule(runbook=str(more.pop("runbook", "gpu-idle")))
    member = replace(incident.members[0], rule=rule.id)
    context = IncidentContext(rules={rule.id: rule}, **more)  # type: ignore[arg-type]
    return card_buttons(replace(incident, members=(member,)), context)


def menu(found: Buttons, label: str) -> Menu:
    return next(one for one in found.menus if one.label == label)


def lines(one: Menu) -> Mapping[str, str]:
    return {option.label: option.line or option.address for option in one.options}


@pytest.fixture
def incident() -> Incident:
    return replace(an_open_incident(an_alert(on={"node": "gpu-a01"})), id="i7")


def test_an_incident_can_be_silenced_for_a_while_or_until_it_is_over(incident: Incident) -> None:
    assert lines(menu(offered(incident), "Silence")) == {
        "for 1 h": "silence incident i7 --for 1h",
        "for 4 h": "silence incident i7 --for 4h",
        "until it is over": "silence incident i7",
    }


def test_a_silenced_incident_offers_no_second_silence(incident: Incident) -> None:
    found = offered(incident, silenced_until=NOON + minutes(60))

    assert [one.label for one in found.menus] == ["More"]


def test_whoever_sees_a_silenced_card_can_end_the_silence(incident: Incident) -> None:
    found = offered(incident, silenced_until=NOON + minutes(60), silence="s3")

    assert found.buttons[-1] == Button(label="End the silence", line="silence expire s3")
    assert "End the silence" not in [one.label for one in offered(incident).buttons]


def test_the_owner_hands_the_incident_over_or_takes_the_acknowledgement_back(incident: Incident) -> None:
    found = offered(acknowledge(incident, who="U1", now=NOON))

    assert [one.label for one in found.buttons if one.label == "Acknowledge"] == []
    assert menu(found, "Hand over to…").people_line == "alert hand-over i7"
    assert lines(menu(found, "More"))["Take back the acknowledgement"] == "alert unack i7"


def test_nobody_hands_over_what_nobody_has(incident: Incident) -> None:
    found = offered(incident)

    assert "Hand over to…" not in [one.label for one in found.menus]
    assert "Take back the acknowledgement" not in lines(menu(found, "More"))


def test_a_shipped_runbook_is_printed_where_no_setting_says_where_it_is_published(incident: Incident) -> None:
    assert lines(menu(offered(incident), "More"))["Runbook"] == "runbook gpu-idle"
    published = offered(incident, runbooks="https://books/")
    assert lines(menu(published, "More"))["Runbook"] == "https://books/gpu-idle.md"


def test_a_page_that_is_neither_shipped_nor_published_is_not_offered(incident: Incident) -> None:
    assert "Runbook" not in lines(menu(offered(incident, runbook="our-own"), "More"))


def test_the_links_of_the_settings_are_offered_filled_in(incident: Incident) -> None:
    more = lines(menu(offered(incident, links=LINKS), "More"))

    assert more["Grafana"] == "https://grafana/d/node?var-node=gpu-a01"
    assert more["Logs"] == "https://logs/?q=gpu-a01"


def test_the_menu_for_the_rest_stays_small(incident: Incident) -> None:
    many = {f"link{number}": "https://x/{node}" for number in range(9)}
    found = offered(acknowledge(incident, who="U1", now=NOON), links=many)

    assert len(menu(found, "More").options) == MAX_MORE
    assert "Take back the acknowledgement" in lines(menu(found, "More"))
