"""The program that suspended an object, and when: from the API's record of who wrote which field. Pure.

Source: `metadata.managedFields` of Kubernetes 1.36. It names programs, never people.
"""

from collections.abc import Mapping
from typing import Any

from collectors.facts.sentences import sentence
from commands.execution.cluster_writer import FIELD_MANAGER

_FIELD = "f:suspend"


def suspended_text(top: Mapping[str, Any] | None) -> str:
    """Return what wrote the field that suspends it; empty where the API does not say."""
    entries = ((top or {}).get("metadata") or {}).get("managedFields") or ()
    found = [
        one
        for one in entries
        if one.get("manager") and not one.get("subresource") and _has(one.get("fieldsV1") or {}, _FIELD)
    ]
    if not found:
        return ""
    last = max(found, key=lambda one: str(one.get("time") or ""))
    if last["manager"] == FIELD_MANAGER:
        return ""  # the audit and its notice say who asked for it
    return sentence(
        "`{manager}` suspended it at {time}, not Yardmaster; who asked for that is not known",
        manager=str(last["manager"]),
        time=str(last.get("time") or "-"),
    )


def _has(fields: Mapping[str, Any], name: str) -> bool:
    return any(key == name or (isinstance(of, Mapping) and _has(of, name)) for key, of in fields.items())
