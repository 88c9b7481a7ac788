"""StatefulSets: numbered pods, created in order, updated and deleted from the highest ordinal."""

from demo.lookalikes.kubernetes.controllers.podmaking import template_hash
from demo.lookalikes.kubernetes.controllers.workloads import WorkloadController
from demo.lookalikes.kubernetes.eviction import ready
from demo.lookalikes.kubernetes.objects import Json, deleting, dig, labels_of, metadata, name_of, namespace_of

_REVISION = "controller-revision-hash"


class StatefulSets(WorkloadController):
    """The StatefulSet controller."""

    plural = "statefulsets"

    def _bring_about(self, tree: Json) -> None:
        revision = f"{name_of(tree)}-{template_hash(tree['spec']['template'])}"
        self._sync_pods(tree, revision)
        self._report(tree, revision)

    def _pods(self, tree: Json) -> dict[int, Json]:
        pods = self._tools.indexes.owned(tree, "pods")
        return {int(name_of(pod).rpartition("-")[2]): pod for pod in pods}

    def _sync_pods(self, tree: Json, revision: str) -> None:
        spec, pods = tree["spec"], self._pods(tree)
        desired, parallel = spec.get("replicas", 1), spec.get("podManagementPolicy") == "Parallel"
        for pod in pods.values():
            if dig(pod, "status", "phase") in ("Failed", "Succeeded"):
                self._tools.delete_pod(self._kind, tree, pod)
                return
        for ordinal in range(desired):
            found = pods.get(ordinal)
            if found is None:
                self._create_pod(tree, ordinal, revision)
            if not parallel and (found is None or deleting(found) or not ready(found)):
                return
        surplus = [pods[ordinal] for ordinal in sorted(pods, reverse=True) if ordinal >= desired]
        for pod in surplus if parallel else surplus[:1]:
            self._tools.delete_pod(self._kind, tree, pod)
        if surplus or dig(spec, "updateStrategy", "type") == "OnDelete":
            return
        partition = dig(spec, "updateStrategy", "rollingUpdate", "partition") or 0
        for ordinal in sorted(pods, reverse=True):
            pod = pods[ordinal]
            if ordinal >= partition and labels_of(pod).get(_REVISION) != revision:
                self._tools.delete_pod(self._kind, tree, pod)
                return
            if not ready(pod) or deleting(pod):
                return

    def _create_pod(self, tree: Json, ordinal: int, revision: str) -> None:
        spec, name = tree["spec"], f"{name_of(tree)}-{ordinal}"
        labels = {
            _REVISION: revision,
            "statefulset.kubernetes.io/pod-name": name,
            "apps.kubernetes.io/pod-index": str(ordinal),
        }
        volumes = list(dig(spec, "template", "spec", "volumes") or ())
        for claim in spec.get("volumeClaimTemplates") or ():
            claim_name = f"{name_of(claim)}-{name}"
            self._claim(tree, claim, claim_name)
            volumes.append({"name": name_of(claim), "persistentVolumeClaim": {"claimName": claim_name}})
        own = {"hostname": name, "subdomain": spec.get("serviceName", ""), "volumes": volumes}
        meta = {"name": name, "generateName": f"{name_of(tree)}-", "labels": labels}
        self._tools.create_pod(
            self._kind, tree, spec["template"], meta, {key: value for key, value in own.items() if value}
        )

    def _claim(self, tree: Json, claim: Json, name: str) -> None:
        kind = self._tools.cluster.kinds.named("persistentvolumeclaims")
        if self._tools.cluster.store.get(kind, namespace_of(tree), name) is None:
            labels = {**labels_of(claim), **(dig(tree, "spec", "selector", "matchLabels") or {})}
            body = {"metadata": {"name": name, "labels": labels}, "spec": claim.get("spec") or {}}
            self._tools.cluster.create(kind, namespace_of(tree), body)

    def _report(self, tree: Json, revision: str) -> None:
        pods = [pod for pod in self._pods(tree).values() if not deleting(pod)]
        updated = sum(labels_of(pod).get(_REVISION) == revision for pod in pods)
        old = tree.get("status") or {}
        is_updated = updated == len(pods) == tree["spec"].get("replicas", 1)
        counts = {"readyReplicas": sum(map(ready, pods)), "updatedReplicas": updated,
                  "currentReplicas": updated if is_updated else len(pods) - updated}  # fmt: skip
        status = {
            "observedGeneration": metadata(tree).get("generation", 1),
            "replicas": len(pods),
            "availableReplicas": counts["readyReplicas"],
            **{name: count for name, count in counts.items() if count},
            "currentRevision": revision if is_updated else old.get("currentRevision", revision),
            "updateRevision": revision,
            "collisionCount": 0,
        }
        self._tools.write_status(self._kind, tree, status)
