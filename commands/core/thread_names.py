"""Names for what the incident of a thread concerns: a line says `it` or `that node`."""

from collections.abc import Iterable, Mapping

from alerts.incidents.grouping import shared_subject
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.received import rule_of
from alerts.rules import Rule
from alerts.runbooks import runbook_names
from alerts.silences import Silence
from alerts.store import StoreSnapshot
from collectors.facts.subjects import Subject
from commands.core.incident_plans import plans_of
from commands.core.matching.references import NO_THREAD, ThreadNames
from commands.core.parameter_types import NameKind
from commands.execution.plan import OVER, Origin, PlanState


async def thread_names(origin: Origin, snapshot: StoreSnapshot, rules: Mapping[str, Rule]) -> ThreadNames:
    """Return what the incident of the thread concerns; of what it concerns several there is no name."""
    incident = await snapshot.rows(Incident).get(origin.incident) if origin.incident else None
    if incident is None:
        return await _of_parent(origin, snapshot)
    silences = await snapshot.rows(Silence).find(cluster=incident.cluster)
    shared = shared_subject(incident)
    names = {
        NameKind.INCIDENT: incident.id,
        NameKind.NODE: shared.node,
        NameKind.TRAINING: _training(shared, incident),
        NameKind.VOLUME: shared.volume,
        NameKind.POD: f"{shared.namespace}/{shared.pod}" if shared.namespace and shared.pod else "",
        NameKind.RUNBOOK: _runbook(incident, rules),
        NameKind.PLAN: await _plan(incident, snapshot),
        NameKind.SILENCE: _only(
            one.id for one in silences if one.incident == incident.id and not one.expired_at
        ),
    }
    return {kind: name for kind, name in names.items() if name}


async def _of_parent(origin: Origin, snapshot: StoreSnapshot) -> ThreadNames:
    """Return what a parent is about: itself, and the training that its nodes have in common."""
    parent = await snapshot.rows(ParentIncident).get(origin.incident) if origin.incident else None
    if parent is None:
        return NO_THREAD
    silences = await snapshot.rows(Silence).find(cluster=parent.cluster)
    names = {
        NameKind.INCIDENT: parent.id,
        NameKind.TRAINING: parent.name if parent.kind == "training" else "",
        NameKind.SILENCE: _only(
            one.id for one in silences if one.incident == parent.id and not one.expired_at
        ),
    }
    return {kind: name for kind, name in names.items() if name}


def _only(names: Iterable[str]) -> str:
    """Return the name if there is one only."""
    found = {name for name in names if name}
    return found.pop() if len(found) == 1 else ""


def _training(shared: Subject, incident: Incident) -> str:
    """Return the training as people type it: the incident's own, else the only one that it concerns."""
    return shared.words().get("training", "") or _only(one.shown for one in incident.impacts)


def _runbook(incident: Incident, rules: Mapping[str, Rule]) -> str:
    rule = rule_of(incident.lead.rule, rules) if incident.members else None
    page = rule.template.runbook if rule else ""
    return page if page in runbook_names() else ""


async def _plan(incident: Incident, snapshot: StoreSnapshot) -> str:
    """Return the plan that `undo` means: the last that was done and stands; else the last that is not over."""
    plans = (await plans_of([incident], snapshot))[incident.id]
    done = [one for one in plans if one.state is PlanState.DONE and not one.undone_by and not one.undo_of]
    latest = max(
        done or [one for one in plans if one.state not in OVER], key=lambda one: one.created_at, default=None
    )
    return latest.id if latest else ""
