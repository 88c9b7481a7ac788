"""Rule files in, against a symbols: groups of rules, and every diagnostic with its place."""

from alerts.loading.describing import RuleRow, describe, verdict
from alerts.loading.files import Loaded, load, together
from alerts.loading.overriding import override

__all__ = ["Loaded", "RuleRow", "describe", "load", "override", "together", "verdict"]
