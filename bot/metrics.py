"""This file has our own metrics."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class Metrics:
    """What we measure of ourselves, in a registry of our own: several may live in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.rounds = Counter(
            "yardmaster_evaluation_rounds_total",
            "Rounds of rule evaluation.",
            ["cluster"],
            registry=self.registry,
        )
        self.round_seconds = Histogram(
            "yardmaster_evaluation_round_seconds",
            "How long a round took.",
            ["cluster"],
            registry=self.registry,
        )
        self.late_seconds = Gauge(
            "yardmaster_evaluation_late_seconds",
            "How late the last round began.",
            ["cluster"],
            registry=self.registry,
        )
        self.blind = Gauge(
            "yardmaster_source_blind",
            "1 while a source does not answer whole.",
            ["cluster", "source"],
            registry=self.registry,
        )
        self.blind_rules = Gauge(
            "yardmaster_rules_blind", "Rules that could not be answered.", ["cluster"], registry=self.registry
        )
        self.lines = Counter(
            "yardmaster_lines_total", "Command lines taken in.", ["via"], registry=self.registry
        )
        self.object_mistakes = Gauge(
            "yardmaster_rule_object_mistakes",
            "Mistakes in the cluster's PrometheusRule objects; what is wrong there is left out.",
            ["cluster"],
            registry=self.registry,
        )
