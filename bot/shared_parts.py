"""Objects that most parts are given: settings, store, clock, metrics and the like."""

from dataclasses import dataclass

from bot.evaluation.rulebook import Rulebook
from bot.metrics import Metrics
from bot.person_book import PersonBook
from bot.settings.schema import Settings
from bot.store.sql_store import SqlStore
from collectors.facts.clock import Clock
from collectors.facts.redaction import Redactor
from collectors.internal_errors import InternalErrors


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedParts:
    settings: Settings
    rulebook: Rulebook
    store: SqlStore
    persons: PersonBook
    clock: Clock
    redact: Redactor
    metrics: Metrics
    errors: InternalErrors
