"""Volcano's Job added to the catalogues of kinds, as CONTRIBUTING says; and its definition for a cluster.

A catalogue is changed as a file would be by a line: nothing else is patched.
"""

from typing import Any

import pytest

from collectors.cluster import kinds
from collectors.trainings import catalogue
from commands.training import training_kinds
from tests.support.vcjob import reading_vcjob, writing_vcjob
from tests.support.vcjob.watched_vcjob import VCJOBS

_TEXT, _COUNT = {"type": "string"}, {"type": "integer", "format": "int32", "minimum": 0}
_POD = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def add_vcjob(patched: pytest.MonkeyPatch) -> None:
    """Add a line to each of the three catalogues."""
    patched.setattr(kinds, "DEFAULT_KINDS", (*kinds.DEFAULT_KINDS, VCJOBS))
    patched.setattr(catalogue, "KINDS", (*catalogue.KINDS, reading_vcjob.KIND))
    for name, one in (("KINDS", writing_vcjob.KIND.name), ("BY_OPTION", writing_vcjob.KIND.option)):
        patched.setitem(getattr(training_kinds, name), one, writing_vcjob.KIND)


def vcjob_definition() -> dict[str, Any]:
    """Return a CustomResourceDefinition with the fields that are used, typed as Volcano's own; others are refused."""
    task = _object(name=_TEXT, replicas=_COUNT, template=_object(metadata=_POD, spec=_POD))
    spec = _object(
        schedulerName=_TEXT,
        minAvailable=_COUNT,
        maxRetry={**_COUNT, "default": 3},
        priorityClassName=_TEXT,
        queue=_TEXT,
        plugins={"type": "object", "additionalProperties": {"type": "array", "items": _TEXT}},
        tasks={"type": "array", "items": task},
    )
    state = _object(phase=_TEXT, reason=_TEXT, message=_TEXT)
    version = {
        "name": VCJOBS.api.partition("/")[2],
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": _object(spec=spec, status=_object(state=state))},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": VCJOBS.name},
        "spec": {
            "group": VCJOBS.group,
            "scope": "Namespaced",
            "names": {"plural": "jobs", "singular": "job", "kind": "Job", "shortNames": ["vcjob", "vj"]},
            "versions": [version],
        },
    }


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}
