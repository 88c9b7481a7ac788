"""The object that an alert is about: alerts about the same one become one incident. Pure."""

from alerts.alert import Alert
from collectors.facts.workload_keys import parse_workload

# Components of the whole cluster: a problem that one replica on some node reports is the component's problem.
CLUSTER_WIDE = frozenset(
    {
        "alertmanager",
        "apiserver",
        "ceph",
        "controller-manager",
        "dns",
        "elasticsearch",
        "etcd",
        "hdfs",
        "kube-state-metrics",
        "kueue",
        "metallb",
        "nfs",
        "prometheus",
        "scheduler",
        "volcano",
    }
)


def group_key_of(alert: Alert) -> str:
    """Return the object that the alert is about, as `kind/name`: the first of these that its own labels name."""
    own = alert.own_subject
    if own.component in CLUSTER_WIDE:
        return f"component/{own.component}"
    for kind in ("volume", "training", "workload"):
        if name := getattr(own, kind):  # a label has the name of a training: its subject has the key
            return f"{kind}/{name if kind == 'volume' else getattr(alert.subject, kind) or name}"
    if own.pod:
        return _group_of_pod(alert)
    for kind in ("node", "rack", "service", "component", "namespace"):
        if name := getattr(own, kind):
            return f"{kind}/{getattr(alert.subject, kind) or name}"
    return f"rule/{alert.name}"


def group_keys_of(alert: Alert) -> tuple[str, ...]:
    """Return the group key of the alert, and the one that it had while rows had the names of trainings and workloads.

    An incident that the store's migration could not give a key, as its row has a name only, is found by that.
    """
    key = group_key_of(alert)
    word, _, thing = key.partition("/")
    if word not in ("training", "workload") or thing != getattr(alert.subject, word):
        return (key,)
    former = f"{word}/{alert.subject.words()[word]}"
    return (key, former) if former != key else (key,)


def _group_of_pod(alert: Alert) -> str:
    """Return what the pod is a part of: its training, or its workload, unless that has a pod on each node."""
    of = alert.subject
    if of.training:
        return f"training/{of.training}"
    if of.workload and parse_workload(of.workload).kind not in ("DaemonSet", "Pod"):
        return f"workload/{of.workload}"
    return f"pod/{alert.own_subject.namespace}/{alert.own_subject.pod}"
