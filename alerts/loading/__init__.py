"""Rule files in, against a vocabulary: groups of rules, and every mistake with its place."""

from alerts.loading.describing import Row, describe, verdict
from alerts.loading.files import Loaded, load, together
from alerts.loading.overriding import override

__all__ = ["Loaded", "Row", "describe", "load", "override", "together", "verdict"]
