"""Metrics of Yardmaster itself, named as Prometheus names its own."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class Metrics:
    """The metrics of one Yardmaster, in its own registry, because several may run in one process."""

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
            "Rules whose query was not answered, or whose answer was unusable.",
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
            "How late the last evaluation cycle started.",
            ["cluster"],
            registry=self.registry,
        )
        self.blind_rules = Gauge(
            "yardmaster_blind_rules",
            "Rules in force that saw nothing when they were last due, as `rule doctor` counts them; not those of a "
            "source that the settings do not have.",
            ["cluster"],
            registry=self.registry,
        )
        self.unrecorded_changes = Gauge(
            "yardmaster_unrecorded_changes",
            "Changes of alerts that wait until the store can be written. They are lost if Yardmaster ends before; what "
            "Prometheus and the log store still know is then evaluated again.",
            ["cluster"],
            registry=self.registry,
        )
        self.crowded_incidents = Gauge(
            "yardmaster_crowded_incidents",
            "Open incidents that have as many alerts as one may have: others are left out.",
            ["cluster"],
            registry=self.registry,
        )
        self.parent_incidents = Gauge(
            "yardmaster_parent_incidents",
            "Open incidents of many nodes that began together: one card for all of them.",
            ["cluster"],
            registry=self.registry,
        )
        self.source_up = Gauge(
            "yardmaster_source_up",
            "1 if the source answers completely, else 0.",
            ["cluster", "source"],
            registry=self.registry,
        )
        self.unreadable_objects = Gauge(
            "yardmaster_unreadable_objects",
            "Objects of the cluster that are left out, because they cannot be decoded; each is in the log.",
            ["cluster", "kind"],
            registry=self.registry,
        )
        self.watch_lag = Gauge(
            "yardmaster_watch_lag_seconds",
            "Age of the cached objects of a kind in the last evaluation cycle.",
            ["cluster", "kind"],
            registry=self.registry,
        )
        self.alerts = Gauge(
            "yardmaster_alerts",
            "Alerts of the evaluated rules, by state: pending or firing.",
            ["cluster", "state"],
            registry=self.registry,
        )
        self.alerts_received = Counter(
            "yardmaster_alerts_received_total",
            "Alerts of other programs that were stored, each time it was sent.",
            registry=self.registry,
        )
        self.alerts_waiting = Gauge(
            "yardmaster_alerts_waiting",
            "Alerts of other programs that were accepted, and that no incident shows yet.",
            registry=self.registry,
        )
        self.alerts_invalid = Counter(
            "yardmaster_alerts_invalid_total",
            "Alerts of other programs that were refused.",
            registry=self.registry,
        )
        self.plan_steps = Counter(
            "yardmaster_plan_steps_total",
            "Steps of plans that ended, by outcome: done, failed, unknown, or skipped while it waited.",
            ["kind", "outcome"],
            registry=self.registry,
        )
        self.commands = Counter(
            "yardmaster_commands_total",
            "Command lines handled, by their outcome: done, refused, invalid, blind, timeout or failed.",
            ["command", "outcome"],
            registry=self.registry,
        )
        self.notifications = Counter(
            "yardmaster_notifications_total",
            "Attempts to post or edit a card or a reply.",
            ["integration"],
            registry=self.registry,
        )
        self.notifications_failed = Counter(
            "yardmaster_notifications_failed_total",
            "Failed attempts, by reason: recoverable, unknown_outcome, permanent or gone.",
            ["integration", "reason"],
            registry=self.registry,
        )
        self.notification_latency = Histogram(
            "yardmaster_notification_latency_seconds",
            "Duration of an attempt to post or edit a card or a reply.",
            ["integration"],
            registry=self.registry,
        )
        self.store_commits = Counter(
            "yardmaster_store_commits_total", "Transactions that changed rows.", registry=self.registry
        )
        self.store_commit_duration = Histogram(
            "yardmaster_store_commit_duration_seconds",
            "Duration of writing and committing such a transaction.",
            registry=self.registry,
        )
        self.event_loop_lag = Histogram(
            "yardmaster_event_loop_lag_seconds",
            "How late the event loop runs a timer that is due every second.",
            buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
            registry=self.registry,
        )
        self.internal_errors = Counter(
            "yardmaster_internal_errors_total",
            "Unexpected errors that were contained; each is in the log with its traceback.",
            ["component"],
            registry=self.registry,
        )
        self.unreadable_items = Counter(
            "yardmaster_unreadable_items_total",
            "Items of a source's answers that could not be read and were skipped; each reason is in the log once.",
            ["source"],
            registry=self.registry,
        )
        self.http_connections = Gauge(
            "yardmaster_http_connections", "Open connections to the HTTP server.", registry=self.registry
        )
        self.http_connections_closed = Counter(
            "yardmaster_http_connections_closed_total",
            "Connections that were closed, by reason: crowded (the one that waited longest, as there were as many as "
            "there may be), late (no whole request within 30 s).",
            ["reason"],
            registry=self.registry,
        )
        self.log_lines_dropped = Counter(
            "yardmaster_log_lines_dropped_total",
            "Lines of the log that were dropped, because nobody read it and 4 MiB of it waited.",
            registry=self.registry,
        )
        self.rule_object_errors = Gauge(
            "yardmaster_rule_object_errors",
            "Errors in the cluster's PrometheusRule objects. Rules with errors are not evaluated.",
            ["cluster"],
            registry=self.registry,
        )

    def note_commit(self, seconds: float) -> None:
        """Count a transaction of the store that changed rows."""
        self.store_commits.inc()
        self.store_commit_duration.observe(seconds)
