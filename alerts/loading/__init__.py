"""Loading of rule files: groups of rules, and every diagnostic with its location."""

from alerts.loading.listing import RuleRow, check_report, describe
from alerts.loading.overrides import override
from alerts.loading.rule_files import Loaded, load, merge

__all__ = ["Loaded", "RuleRow", "check_report", "describe", "load", "merge", "override"]
