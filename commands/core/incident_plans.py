"""The plans for an incident: those started from its card, and others that changed what it is about."""

from collections.abc import Collection, Mapping

from alerts.incidents.incident import Incident
from alerts.store import StoreSnapshot
from commands.execution.plan import Plan


async def plans_of(incidents: Collection[Incident], snapshot: StoreSnapshot) -> Mapping[str, list[Plan]]:
    """Return the plans for each of the incidents, by its id."""
    found: dict[str, dict[str, Plan]] = {incident.id: {} for incident in incidents}
    for plan in await snapshot.rows(Plan).find(incident=list(found)) if found else ():
        found[plan.incident][plan.id] = plan
    others = {plan for one in incidents for plan in one.fixed_by if plan not in found[one.id]}
    typed = await snapshot.rows(Plan).get_all(sorted(others)) if others else {}
    for one in incidents:
        found[one.id] |= {plan: typed[plan] for plan in one.fixed_by if plan in typed}
    return {id: list(plans.values()) for id, plans in found.items()}
