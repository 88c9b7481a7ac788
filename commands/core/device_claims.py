"""Claims of GPUs for the pods of scripts, where dynamic resource allocation gives them.

A claim tolerates every taint of its devices, also that of a cordon: the GPU to test is one that other pods do not get.
Sources: resource.k8s.io/v1, `DeviceRequest.exactly`; NVIDIA's driver names its class of devices like itself.
"""

import re
from hashlib import blake2b
from typing import Any

from collectors.facts.sentences import sentence
from commands.core.command import UnusableError
from commands.core.node_script import GpuClaim, NodeScript
from commands.execution.rights import Right

CLAIM = "gpu"  # the name of the request, and of the claim in the pod
CLAIM_GROUP, CLAIM_PLURAL = "resource.k8s.io", "resourceclaims"
_DRIVER = re.compile(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?")
_UUID = re.compile(r"[A-Za-z0-9-]{1,60}")


def claim_rights(namespace: str) -> tuple[Right, ...]:
    """Return the rights to make and remove claims in the namespace of the Jobs."""
    return (
        Right(group=CLAIM_GROUP, resources=(CLAIM_PLURAL,), verbs=("create", "delete"), namespace=namespace),
    )


def claim_name(claim: GpuClaim, job: str) -> str:
    """Return the name of the claim: one that is left of an earlier Job is never of another GPU."""
    return f"{job}-{blake2b(f'{claim.driver}/{claim.uuid}'.encode(), digest_size=4).hexdigest()}"


def claim_manifest(script: NodeScript, job: str, namespace: str) -> dict[str, Any] | None:
    """Return the claim of the script's pod; None where it has none. Raises UnusableError where no claim can name it."""
    claim = script.claim
    if claim is None:
        return None
    if not _DRIVER.fullmatch(claim.driver) or (claim.uuid and not _UUID.fullmatch(claim.uuid)):
        said = sentence("The name or the UUID of the device is not one that a claim can name.")
        raise UnusableError(said)
    request: dict[str, Any] = {
        "deviceClassName": claim.driver,
        "allocationMode": "ExactCount" if claim.uuid else "All",
        "tolerations": [{"operator": "Exists"}],
    }
    if claim.uuid:
        own = f'device.attributes["{claim.driver}"]'
        found = f'device.driver == "{claim.driver}" && has({own}.uuid) && {own}.uuid == "{claim.uuid}"'
        request |= {"count": 1, "selectors": [{"cel": {"expression": found}}]}
    return {
        "apiVersion": f"{CLAIM_GROUP}/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": claim_name(claim, job), "namespace": namespace},
        "spec": {"devices": {"requests": [{"name": CLAIM, "exactly": request}]}},
    }
