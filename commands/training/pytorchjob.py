"""Trainings as PyTorchJobs of the Training Operator: the first worker is the master, whose end is the training's.

An elastic one has workers only, which find each other by `torchrun`: the end of one of them is the training's.
"""

from dataclasses import replace

from collectors.cluster.kinds import PYTORCHJOBS
from collectors.facts.sentences import sentence
from commands.training.manifests import Object
from commands.training.operator_job import OperatorForm, operator_writing
from commands.training.spec import TrainingRole, TrainingSpec


def _roles(spec: TrainingSpec) -> tuple[TrainingRole, ...]:
    """The API has exactly one master, which is the first of the workers; none if they may be fewer."""
    if spec.workers.least:
        return (spec.workers,)
    master = replace(spec.workers, name="master", replicas=1)
    others = replace(spec.workers, replicas=spec.workers.replicas - 1)
    return (master, others) if others.replicas else (master,)


def _more(spec: TrainingSpec) -> Object:
    """One process for each GPU, as `torchrun` takes it from PET_NPROC_PER_NODE; a range from PET_NNODES."""
    workers = spec.workers
    made: Object = {"nprocPerNode": str(max(1, round(workers.gpus)))}
    if workers.least:
        made["elasticPolicy"] = {
            "rdzvBackend": "c10d",
            "minReplicas": workers.least,
            "maxReplicas": workers.replicas,
            **({"maxRestarts": spec.backoff} if spec.backoff else {}),
        }
    return made


KIND = operator_writing(
    OperatorForm(
        objects=PYTORCHJOBS,
        summary="a PyTorchJob of a master and the other workers, with PET_* and MASTER_* set for `torchrun`",
        specs="pytorchReplicaSpecs",
        container="pytorch",
        roles=_roles,
        names={"master": "Master", "worker": "Worker"},
        more=_more,
        elastic=sentence(
            "All workers are created. `torchrun` starts once enough of them have joined, and starts again whenever one "
            "joins or leaves. If a worker fails, the training fails, unless `--backoff` allows retries."
        ),
    )
)
