"""Trainings as TrainJobs of Kubeflow Trainer: nodes of one kind, by a runtime that the cluster has.

What a TrainJob cannot say itself is said by a patch of its runtime, for this job alone. Nearly all of it is fixed once
it is created. Source: `trainer.kubeflow.org/v1alpha1`, Trainer 2.3.
"""

from dataclasses import replace
from functools import partial

from collectors.cluster.kinds import CLUSTER_TRAINING_RUNTIMES, TRAINJOBS
from collectors.cluster.objects import TrainJob
from collectors.facts.sentences import sentence
from collectors.trainings.trainjob import TRAINER_ROLE, trainjob_end
from commands.execution.object_refs import ObjectRef
from commands.execution.rights import Right
from commands.execution.steps import Create, Patch, Running, Step
from commands.training import manifests
from commands.training.manifests import Object
from commands.training.spec import TrainingRole, TrainingSpec
from commands.training.suspend_field import launched, suspending
from commands.training.writing_kind import Launching, WritingKind

_GROUP, _PLURAL = TRAINJOBS.group, TRAINJOBS.path.rpartition("/")[2]
_CONTROLLER = "trainer.kubeflow.org/trainjob-controller"
_RUNTIME = "torch-distributed"  # that Trainer brings
_MANAGER = "yardmaster.io/launch"  # who patches the runtime
_PATCHED = ("volumes", "nodeSelector", "affinity", "tolerations", "imagePullSecrets")  # fields of a pod


def _roles(spec: TrainingSpec) -> tuple[TrainingRole, ...]:
    return (replace(spec.workers, name=TRAINER_ROLE),)


def _launch(spec: TrainingSpec) -> tuple[Step, ...]:
    (node,) = roles = _roles(spec)
    index: Object = {
        "name": "TASK_INDEX",
        "valueFrom": {
            "fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}
        },
    }
    pod = manifests.pod_spec(replace(spec, roles=roles), node, index, partial(_host, spec.name))
    (container,) = pod["containers"]
    trainer: Object = {
        "numNodes": node.replicas,
        "numProcPerNode": max(1, round(node.gpus)),
        **{key: container[key] for key in ("image", "command", "args", "env") if container.get(key)},
    }
    if resources := container.get("resources"):
        trainer["resourcesPerNode"] = resources
    made = manifests.top_object(spec, TRAINJOBS.api, TRAINJOBS.kind, spec.name)
    made["spec"] = {
        "suspend": True,
        "runtimeRef": {
            "name": spec.runtime or _RUNTIME,
            "kind": CLUSTER_TRAINING_RUNTIMES.kind,
            "apiGroup": _GROUP,
        },
        "trainer": trainer,
        "runtimePatches": [_patch(spec, node, pod, container)],
    }
    if spec.max_duration is not None:
        made["spec"]["activeDeadlineSeconds"] = round(spec.max_duration.total_seconds())
    return launched(spec, made, node.text())


def _patch(spec: TrainingSpec, node: TrainingRole, pod: Object, container: Object) -> Object:
    patched: Object = {key: pod[key] for key in _PATCHED if pod.get(key)}
    if mounts := container.get("volumeMounts"):
        patched["containers"] = [{"name": TRAINER_ROLE, "volumeMounts": mounts}]
    template = {**manifests.pod_metadata(spec, node), **({"spec": patched} if patched else {})}
    job = {"name": TRAINER_ROLE, "template": {"spec": {"template": template}}}
    return {
        "manager": _MANAGER,
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [job]}}},
    }


def _host(name: str, role: TrainingRole, index: int) -> str:
    return f"{name}-{role.name}-0-{index}.{name}"  # its JobSet has its name


def _refusal(spec: TrainingSpec) -> str:
    if any(role.is_server for role in spec.roles):
        return sentence("`--ps` is not for TrainJobs, whose nodes are all equal: launch with `--kind tfjob`.")
    if spec.service_per_task:
        return sentence(
            "`--service-per-task` is not for TrainJobs: their nodes have host names of their own."
        )
    if spec.backoff:
        return sentence("`--backoff` is not for TrainJobs: how often one is tried again is in its runtime.")
    if spec.priority_class:
        return sentence(
            "`--priority-class` is not for TrainJobs: that of the pods is in the runtime. Choose one by `--runtime`."
        )
    return ""


def _needs(spec: TrainingSpec) -> tuple[ObjectRef, ...]:
    kind = CLUSTER_TRAINING_RUNTIMES
    return (ObjectRef(api=kind.api, kind=kind.kind, name=spec.runtime or _RUNTIME),)


def _has_ended(one: TrainJob) -> bool:
    return trainjob_end(one) is not None


KIND = WritingKind(
    objects=TRAINJOBS,
    has_ended=_has_ended,
    launching=Launching(
        summary="a TrainJob of equal nodes, by a ClusterTrainingRuntime (`--runtime`), with PET_* set for `torchrun`",
        steps=_launch,
        rights=(
            *Create.rights(_GROUP, _PLURAL),
            *Patch.rights(_GROUP, _PLURAL),
            Right(group=_GROUP, resources=("clustertrainingruntimes",), verbs=("get",)),
        ),
        refusal=_refusal,
        roles=_roles,
        needs=_needs,
        has_runtimes=True,
    ),
    suspending=suspending(
        pod_label="jobset.sigs.k8s.io/jobset-name",
        controller=_CONTROLLER,
        rights=(*Patch.rights(_GROUP, _PLURAL), *Running.rights(_GROUP, _PLURAL)),
    ),
    notes={"resume": sentence("Its maximum duration, if it has one, starts again.")},
)
