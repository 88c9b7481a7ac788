"""A link of the settings may have the alert's query: a card then leads to its graph."""

from dataclasses import replace

from alerts.cards.query_links import with_query
from alerts.incidents.incident import Incident
from alerts.rules import Rule
from collectors.facts.queries import LogQuery
from tests.support.alerting import a_rule, an_alert, minutes
from tests.support.incidents import an_open_incident
from tests.support.log_matches import message

LINKS = {"graph": "https://prom/graph?g0.expr={query}", "node": "https://grafana/d/n?var-node={node}"}


def linked(rule: Rule) -> dict[str, str]:
    incident = an_open_incident(an_alert())
    led: Incident = replace(incident, members=(replace(incident.members[0], rule=rule.id),))
    return dict(with_query(LINKS, led, {rule.id: rule}))


def test_the_query_of_what_leads_is_in_the_link_as_an_address_has_it() -> None:
    assert linked(a_rule(expr='temp{node="a"}\n  > 83'))["graph"] == (
        "https://prom/graph?g0.expr=temp%7Bnode%3D%22a%22%7D%20%3E%2083"
    )


def test_without_such_a_query_there_is_no_such_link() -> None:
    logged = replace(a_rule(), query=LogQuery(match=message("x"), by=("node",), over=minutes(5)))

    assert linked(logged) == {"node": LINKS["node"]}
    assert linked(a_rule(expr=" or ".join(["temperature > 83"] * 300))) == {"node": LINKS["node"]}
