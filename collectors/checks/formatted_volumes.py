"""The check of volumes that the kubelet formats although they are not new: what was on them is gone.

The kubelet announces a format as it does for a new claim, and names the device only. Which volume it was follows from
the pods that start on the node: a volume is formatted while a pod that writes to it is started.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from collectors.cluster.objects import Pod
from collectors.facts.label_mapping import subject_of
from collectors.facts.labels import Labels
from collectors.facts.log_match import FieldPhrase
from collectors.facts.queries import LogQuery, PromQLQuery
from collectors.facts.results import Blind, Sample
from collectors.facts.sentences import listed, sentence
from collectors.topology_builder import build_topology
from collectors.volume_use import VolumeUse, volume_uses

WINDOW = timedelta(minutes=5)
_NEW = timedelta(minutes=10)  # at the moment of the format
FORMATTED = LogQuery(
    match=FieldPhrase(field="message", text="appears to be unformatted, attempting to format"),
    by=("node",),
    over=WINDOW,
    extract=r'Disk \\?"(?P<device>[^"\\]+)\\?" appears to be|attempting to format',
)
MOUNTED = PromQLQuery(
    expr="""max by (namespace, persistentvolumeclaim) (
      max_over_time(kubelet_volume_stats_used_bytes[7d:1h] offset 15m)
    )""",
    of_pack=True,
)


@partial(
    ClusterCheck,
    name="volumes-formatted-again",
    summary="the kubelet formats a volume that is not new, and was mounted before or may have been",
    needs={"inventory", "logs"},
    kinds={PERSISTENT_VOLUME_CLAIMS.name, PERSISTENT_VOLUMES.name},
    metrics=MOUNTED,
    logs=(FORMATTED,),
)
def formatted_again(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each node on which a volume was formatted that is not new: how many it can have been.

    `history` is `mounted` if one of them was in use before, and `unknown` where nothing can say so: where the kubelets'
    metrics are there, a volume without them was never mounted. As many new volumes as formatted ones explain them.
    """
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.logs, Blind)
    formatted: dict[str, int] = {}
    lines = inputs.logs[0] if inputs.logs else ()
    if not lines:
        return
    topology = build_topology(inputs.inventory, (), cluster="")
    for line in lines:
        node = topology.complete(subject_of(line.labels)).node
        formatted[node] = formatted.get(node, 0) + 1
    measured = (
        frozenset[str]()
        if isinstance(inputs.metrics, Blind)
        else frozenset(
            f"{one.labels.get('namespace', '')}/{one.labels.get('persistentvolumeclaim', '')}"
            for one in inputs.metrics
        )
    )
    long_ago = inputs.at - WINDOW - _NEW
    for node, count in formatted.items():
        yield None
        starting = [
            use
            for use in volume_uses(inputs.inventory).values()
            if use.is_formatted
            and any(one.node == node and _is_starting(one.pod, long_ago) for one in use.writers)
        ]
        old = [use for use in starting if _is_older(use, long_ago, inputs.inventory)]
        used = [use for use in old if _was_mounted(use, measured, long_ago)]
        suspects = used if measured else old
        if suspects and len(starting) - len(suspects) < count:
            yield _sample(node, used or suspects, "mounted" if used else "unknown")


def _is_starting(pod: Pod, since: datetime) -> bool:
    started = [
        status.state.running.started_at
        for status in (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ()))
        if status.state.running is not None and status.restart_count == 0
    ]
    moments = [moment for moment in (pod.status.start_time, *started) if moment is not None]
    return pod.status.phase == "Pending" or any(moment > since for moment in moments)


def _is_older(use: VolumeUse, moment: datetime, inventory: Inventory) -> bool:
    """Whether each volume of the image is older, or, where none can be seen, each claim."""
    volumes, claims = inventory.all(PERSISTENT_VOLUMES), inventory.all(PERSISTENT_VOLUME_CLAIMS)
    created = [volumes[name].metadata.creation_timestamp for name in use.volumes if name in volumes]
    created = created or [claims[name].metadata.creation_timestamp for name in use.claims if name in claims]
    return bool(created) and all(one is not None and one <= moment for one in created)


def _was_mounted(use: VolumeUse, measured: frozenset[str], moment: datetime) -> bool:
    """Whether the kubelets measured it before, or a pod that uses it runs since before."""
    return any(claim in measured for claim in use.claims) or any(
        user.pod.status.phase == "Running" and not _is_starting(user.pod, moment) for user in use.users
    )


def _sample(node: str, suspects: list[VolumeUse], history: str) -> Sample:
    claims = sorted(claim for use in suspects for claim in use.claims)
    labels = {"node": node, "history": history}
    if len(claims) == 1:
        labels["namespace"], _, labels["persistentvolumeclaim"] = claims[0].partition("/")
    text = sentence("it is one of {claims}", claims=listed(claims[:6]))
    return Sample(labels=Labels(labels), value=len(suspects), texts=(text,) if len(claims) > 1 else ())


CHECKS = (formatted_again,)
