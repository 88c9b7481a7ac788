"""This file says what is known and what is really so, for whoever has to find out why a scenario failed."""

from demo.stage import CLUSTER, Stage


async def what_is_so(stage: Stage) -> str:
    """What the bot knows at this moment, beside the truth of the world."""
    async with stage.yard.store.unit() as unit:
        alerts = [alert for state in ("pending", "firing") for alert in await unit.alerts.find(state=state)]
        incidents = await unit.incidents.find(state="open")
    known = [f"{alert.name} {alert.life.state.value} of {alert.subject}" for alert in alerts]
    told = [f"{one.group_key} ({', '.join(member.name for member in one.members)})" for one in incidents]
    blind = dict(stage.yard.evaluators[CLUSTER].blind)
    return f"incidents: {told}; alerts: {known}; blind: {blind}; the world: {stage.world.truth()}"
