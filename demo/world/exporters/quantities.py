"""Conversions of Kubernetes quantities, times and label names for metrics."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

Object = Mapping[str, Any]


Listing = Callable[[str], Iterable[Object]]  # kind -> its objects


ALLOWED = ("team", "owner", "training", "role", "k8s-app", "app")  # --metric-labels-allowlist of this cluster


UNITS = {
    "cpu": "core",
    "memory": "byte",
    "ephemeral-storage": "byte",
    "pods": "integer",
    "hugepages-2Mi": "byte",
}


_SCALE = {
    "m": 1e-3,
    "": 1.0,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
}


def quantity(text: str) -> float:
    """Return a Kubernetes quantity as a number."""
    found = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", text)
    return float(found[1]) * _SCALE.get(found[2], 1.0) if found else 0.0


def sanitized(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)


def stamp(text: str | None) -> float:
    return 0.0 if not text else datetime.fromisoformat(text).timestamp()


def resource_labels(name: str) -> dict[str, str]:
    return {"resource": sanitized(name), "unit": UNITS.get(name, "integer")}
