"""Rule files in, against a symbols: groups of rules, and every diagnostic with its place."""

from alerts.loading.listing import RuleRow, describe, verdict
from alerts.loading.overrides import override
from alerts.loading.rule_files import Loaded, load, together

__all__ = ["Loaded", "RuleRow", "describe", "load", "override", "together", "verdict"]
