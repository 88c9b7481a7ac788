"""Metrics of Yardmaster itself, in Prometheus' own words."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class Metrics:
    """Every metric of one Yardmaster, in a registry of its own: several may run in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.rule_evaluations = Counter(
            "yardmaster_rule_evaluations_total",
            "Rules evaluated, whether or not their query was answered.",
            ["cluster"],
            registry=self.registry,
        )
        self.rule_evaluation_failures = Counter(
            "yardmaster_rule_evaluation_failures_total",
            "Rules whose query was not answered, or not in a way that can be used.",
            ["cluster"],
            registry=self.registry,
        )
        self.rule_evaluation_duration = Histogram(
            "yardmaster_rule_evaluation_duration_seconds",
            "Duration of an evaluation cycle.",
            ["cluster"],
            registry=self.registry,
        )
        self.rule_evaluation_lag = Gauge(
            "yardmaster_rule_evaluation_lag_seconds",
            "How long after its time the last evaluation cycle began.",
            ["cluster"],
            registry=self.registry,
        )
        self.blind_rules = Gauge(
            "yardmaster_blind_rules",
            "Rules whose query was not answered in the last evaluation cycle.",
            ["cluster"],
            registry=self.registry,
        )
        self.source_up = Gauge(
            "yardmaster_source_up",
            "1 while a source answers in full, else 0.",
            ["cluster", "source"],
            registry=self.registry,
        )
        self.commands = Counter(
            "yardmaster_commands_received_total", "Command lines received.", ["via"], registry=self.registry
        )
        self.rule_object_errors = Gauge(
            "yardmaster_rule_object_errors",
            "Errors in the cluster's PrometheusRule objects; the rules with errors are left out.",
            ["cluster"],
            registry=self.registry,
        )
