"""Links of the settings with `{query}`: an incident's graph in Prometheus or Grafana. Pure."""

from collections.abc import Mapping
from urllib.parse import quote

from alerts.incidents.incident import Incident
from alerts.rules import Rule
from collectors.facts.queries import PromQLQuery

QUERY_PLACEHOLDER = "{query}"
LONGEST = 2_900  # characters: Slack refuses a button with more than 3,000


def with_query(links: Mapping[str, str], incident: Incident, rules: Mapping[str, Rule]) -> Mapping[str, str]:
    """Return the links with the lead alert's query in them; without those that have no query to show, or a long one."""
    rule = rules.get(incident.lead.rule)
    query = rule.query if rule else None
    expr = quote(" ".join(query.expr.split()), safe="") if isinstance(query, PromQLQuery) else ""
    found = {
        name: link.replace(QUERY_PLACEHOLDER, expr)
        for name, link in links.items()
        if expr or QUERY_PLACEHOLDER not in link
    }
    return {name: link for name, link in found.items() if len(link) <= LONGEST}
