"""The step that runs a script of the fixed list on a node, as a Job. No text from outside is in its command line.

What a script must know of this run comes as environment variables, from fixed words and numbers and from Kubernetes'
Downward API.
"""

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from collectors.cluster.objects import Node
from collectors.facts.sentences import sentence
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.core.device_claims import CLAIM, claim_manifest, claim_name
from commands.core.node_script import NodeScript
from commands.execution.job_runs import JobRun, JobRunState
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Plan
from commands.execution.steps import NodeJob

KEPT_FOR = 3600  # seconds after its end, if nobody removes a Job: then Kubernetes does
GRACE = 10  # seconds that a script gets to end
NODE_LABEL = "yardmaster.io/node"
_KEY = re.compile(r"[A-Z][A-Z0-9_]{0,40}")
_VALUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,62}|")
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_ON_HOST = ("nsenter", "-t", "1", "-m", "-u", "-i", "-n", "-p", "--")


def job_step(
    script: NodeScript,
    node: Node,
    context: CommandContext,
    *,
    description: str,
    env: Mapping[str, str] | None = None,
    turn: int = 0,
) -> NodeJob:
    """Return the step that runs the script on the node. Raises UnusableError where the settings name no image.

    Raises ValueError for a variable that is not one of fixed words, names and numbers.
    """
    settings = context.defaults.node_jobs
    image = script.image or settings.images.get(script.name) or settings.image
    if not image:
        raise UnusableError(
            sentence(
                "The settings name no image for `{script}`: add `node_jobs.image`, or one for `{script}` to "
                "`node_jobs.images`. docs/a-node-is-broken.md says what it must have.",
                script=script.name,
            )
        )
    for key, value in (env or {}).items():
        if not _KEY.fullmatch(key) or not _VALUE.fullmatch(value):
            raise ValueError(f"{key}={value!r} is not a variable of a script")
    claim = claim_manifest(script, job_name(node.metadata.name), settings.namespace)
    return NodeJob(
        needs=(claim,) if claim is not None else (),
        node=ObjectRef(api="v1", kind="Node", name=node.metadata.name, uid=node.metadata.uid),
        manifest=_manifest(script, node.metadata.name, image, env or {}, context),
        script=script.name,
        turn=turn,
        description=description,
        start_within=settings.start_within.total_seconds(),
        run_within=script.within.total_seconds(),
        log_bytes=script.log_bytes,
        is_read=script.is_read,
    )


async def refuse_second(node: Node, context: CommandContext) -> None:
    """Refuse a node on which a plan runs a Job now: one at a time. Raises UnusableError."""
    async with context.store.read() as snapshot:
        runs = await snapshot.rows(JobRun).find(cluster=context.cluster.name, node=node.metadata.name)
        live = [one for one in runs if one.state is JobRunState.RUNNING]
        plans = await snapshot.rows(Plan).get_all([one.plan for one in live])
    for run in live:
        plan = plans.get(run.plan)
        if plan is not None and not plan.has_ended:
            raise UnusableError(
                sentence(
                    "Plan `{plan}` of {who} runs `{script}` on {node} now. One at a time: wait for its end.",
                    plan=plan.id,
                    who=plan.actor_name,
                    script=run.script,
                    node=node.metadata.name,
                )
            )


def job_name(node: str) -> str:
    """Return the name of the Job on a node: the same for every script, so that there is one at a time."""
    shown = _NOT_IN_NAMES.sub("-", node.lower()).strip("-")[:36].strip("-")
    return f"yardmaster-{shown}-{blake2b(node.encode(), digest_size=4).hexdigest()}"


def _manifest(
    script: NodeScript, node: str, image: str, env: Mapping[str, str], context: CommandContext
) -> dict[str, Any]:
    settings = context.defaults.node_jobs
    labels = {
        "app.kubernetes.io/managed-by": "yardmaster",
        "app.kubernetes.io/component": _NOT_IN_NAMES.sub("-", script.name)[:60].strip("-"),
        NODE_LABEL: job_name(node),
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": job_name(node),
            "namespace": settings.namespace,
            "labels": labels,
            "annotations": {"yardmaster.io/script": script.name},
        },
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": int((script.within + settings.start_within).total_seconds()),
            "ttlSecondsAfterFinished": KEPT_FOR,
            "template": {"metadata": {"labels": labels}, "spec": _pod(script, node, image, env, context)},
        },
    }


def _pod(
    script: NodeScript, node: str, image: str, env: Mapping[str, str], context: CommandContext
) -> dict[str, Any]:
    settings = context.defaults.node_jobs
    enters = _ON_HOST if script.on_host else ()
    by_name = {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    container: dict[str, Any] = {
        "name": "script",
        "image": image,
        "command": [*enters, script.shell, "-c", script.text],
        "env": [by_name, *({"name": key, "value": value} for key, value in sorted(env.items()))],
    }
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": GRACE,
        "tolerations": [{"operator": "Exists"}],  # also that of a cordon
        "containers": [container],
    }
    if script.by_scheduler:
        terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        spec["affinity"] = {"nodeAffinity": required}
    else:
        spec["nodeName"] = node
    if settings.pull_secrets:
        spec["imagePullSecrets"] = [{"name": name} for name in settings.pull_secrets]
    if script.on_host or script.privileged:
        container["securityContext"] = {"privileged": True}
    if script.on_host:
        spec |= {"hostPID": True, "hostNetwork": True}  # it starts also where the node's network does not
    elif script.host_network:
        spec |= {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
    if script.resources:
        container["resources"] = {"limits": dict(script.resources)}
    if script.claim is not None:
        container["resources"] = {"claims": [{"name": CLAIM}]}
        name = claim_name(script.claim, job_name(node))
        spec["resourceClaims"] = [{"name": CLAIM, "resourceClaimName": name}]
    if script.memory:
        container["volumeMounts"] = [{"name": "shm", "mountPath": "/dev/shm"}]
        spec["volumes"] = [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": script.memory}}]
    return spec
