"""The shipped rules, read once for all pages: that takes half a second."""

from functools import cache

from bot.evaluation.rulebook import Rulebook, read_rulebook
from bot.settings.schema import RulesSettings


@cache
def shipped() -> Rulebook:
    """Return the rules of all packs."""
    return read_rulebook(RulesSettings())
