"""A check of workloads whose pods are refused before there are any: by a quota, a policy or a webhook."""

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.cluster.indexes import by_involved_object, kind_of, owner_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DAEMONSETS, EVENTS, JOBS, REPLICASETS, STATEFULSETS, ResourceKind
from collectors.cluster.objects import Event
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample
from collectors.facts.workload_keys import parse_workload, shown_kind

_TEXTS = 3  # workloads of one sample
_LATELY = timedelta(minutes=20)  # controllers wait for up to a quarter of an hour before they try again
_TIMES = 2  # once may be a race with whoever makes the quota or the account
_KINDS: Mapping[str, ResourceKind[Any]] = {
    "ReplicaSet": REPLICASETS,
    "StatefulSet": STATEFULSETS,
    "DaemonSet": DAEMONSETS,
    "Job": JOBS,
}
_WEBHOOK = re.compile(r'failed calling (?:admission )?webhook "([^"]{1,200})"')


@partial(
    ClusterCheck,
    name="pods-not-created",
    summary="pods of a workload are refused: by a quota, a policy or a webhook",
    needs={"inventory", "trainings"},
    kinds={EVENTS.name, *(kind.name for kind in _KINDS.values())},
)
def not_created(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each training and workload whose pods were lately refused: how often, and why.

    What one webhook does not answer is one sample about it, and the value how many workloads it concerns.
    """
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.trainings, Blind)
    trainings = {name: one.typed for one in inputs.trainings for name in (*one.workloads, *one.owned)}
    webhooks: dict[str, list[str]] = defaultdict(list)
    refused: dict[str, Event] = {}
    for about, events in inputs.inventory.grouped(EVENTS, by_involved_object).items():
        yield None
        failed = _last_failure(events, inputs)
        if failed is None or not _is_there(about, inputs.inventory):
            continue
        refused[about] = failed
    for about, failed in sorted(refused.items(), key=lambda one: one[0]):
        of = parse_workload(about)
        text = f"{shown_kind(of.kind)}/{of.name}: {failed.message}"
        if webhook := _WEBHOOK.search(failed.message):
            webhooks[webhook[1]].append(text)
        else:
            labels = _labels(about, trainings, inputs.inventory)
            yield Sample(labels=labels, value=failed.times, texts=(text,))
    for name, texts in webhooks.items():
        labels = Labels({"component": "admission-webhook", "webhook": name})
        yield Sample(labels=labels, value=len(texts), texts=tuple(texts[:_TEXTS]))


def _last_failure(events: tuple[Event, ...], inputs: CheckInput) -> Event | None:
    """Return the last refusal, if it came more than once, lately, and no pod was created since."""
    seen = [(event.last_seen, event.metadata.name, event) for event in events if event.last_seen is not None]
    failed = [one for one in seen if one[2].reason == "FailedCreate"]
    if not failed or sum(event.times for _, _, event in failed) < _TIMES:
        return None
    at, _, last = max(failed, key=lambda one: one[:2])
    created = (moment for moment, _, event in seen if event.reason == "SuccessfulCreate")
    return last if at >= inputs.at - _LATELY and not any(moment >= at for moment in created) else None


def _is_there(about: str, inventory: Inventory) -> bool:
    """Whether the workload still exists. One of a kind that is not known is taken to."""
    key = parse_workload(about)
    return key.kind not in _KINDS or key.object_key in inventory.all(_KINDS[key.kind])


def _labels(about: str, trainings: Mapping[str, str], inventory: Inventory) -> Labels:
    namespace, kind, name = parse_workload(about)
    if training := trainings.get(about):
        return Labels({"namespace": namespace, "training": training})
    own = inventory.all(_KINDS[kind]).get(f"{namespace}/{name}") if kind in _KINDS else None
    if own is not None and (owner := owner_of(own)) is not None:
        kind, name = kind_of(owner), owner.name
    return Labels({"namespace": namespace, "workload": name, "workload_type": shown_kind(kind)})


CHECKS = (not_created,)
