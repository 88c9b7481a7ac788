"""Metrics of Yardmaster itself, named as Prometheus names its own."""

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class Metrics:
    """The metrics of one Yardmaster, in its own registry, because several may run in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        counter = partial(Counter, registry=self.registry)
        gauge = partial(Gauge, registry=self.registry)
        histogram = partial(Histogram, registry=self.registry)
        self.rule_evaluations = counter(
            "yardmaster_rule_evaluations_total",
            "Rules evaluated, whether or not their query was answered.",
            ["cluster"],
        )
        self.rule_evaluation_failures = counter(
            "yardmaster_rule_evaluation_failures_total",
            "Rules whose query was not answered, or whose answer was unusable.",
            ["cluster"],
        )
        self.rule_evaluation_duration = histogram(
            "yardmaster_rule_evaluation_duration_seconds", "Duration of an evaluation cycle.", ["cluster"]
        )
        self.rule_evaluation_lag = gauge(
            "yardmaster_rule_evaluation_lag_seconds",
            "How late the last evaluation cycle started.",
            ["cluster"],
        )
        self.blind_rules = gauge(
            "yardmaster_blind_rules",
            "Rules in force that saw nothing when they were last due, as `rule doctor` counts them; not those of a "
            "source that the settings do not have.",
            ["cluster"],
        )
        self.unrecorded_changes = gauge(
            "yardmaster_unrecorded_changes",
            "Changes of alerts that wait until the store can be written. They are lost if Yardmaster ends before; what "
            "Prometheus and the log store still know is then evaluated again.",
            ["cluster"],
        )
        self.crowded_incidents = gauge(
            "yardmaster_crowded_incidents",
            "Open incidents that have as many alerts as one may have: others are left out.",
            ["cluster"],
        )
        self.parent_incidents = gauge(
            "yardmaster_parent_incidents",
            "Open incidents of many nodes that began together: one card for all of them.",
            ["cluster"],
        )
        self.source_up = gauge(
            "yardmaster_source_up", "1 if the source answers completely, else 0.", ["cluster", "source"]
        )
        self.unreadable_objects = gauge(
            "yardmaster_unreadable_objects",
            "Objects of the cluster that are left out, because they cannot be decoded; each is in the log.",
            ["cluster", "kind"],
        )
        self.watch_lag = gauge(
            "yardmaster_watch_lag_seconds",
            "Age of the cached objects of a kind in the last evaluation cycle.",
            ["cluster", "kind"],
        )
        self.alerts = gauge(
            "yardmaster_alerts",
            "Alerts of the evaluated rules, by state: pending or firing.",
            ["cluster", "state"],
        )
        self.alerts_received = counter(
            "yardmaster_alerts_received_total",
            "Alerts of other programs that were stored, each time it was sent.",
        )
        self.alerts_waiting = gauge(
            "yardmaster_alerts_waiting",
            "Alerts of other programs that were accepted, and that no incident shows yet.",
        )
        self.alerts_invalid = counter(
            "yardmaster_alerts_invalid_total", "Alerts of other programs that were refused."
        )
        self.plan_steps = counter(
            "yardmaster_plan_steps_total",
            "Steps of plans that ended, by outcome: done, failed, unknown, or skipped while it waited.",
            ["kind", "outcome"],
        )
        self.commands = counter(
            "yardmaster_commands_total",
            "Command lines handled, by their outcome: done, refused, invalid, blind, timeout or failed.",
            ["command", "outcome"],
        )
        self.notifications = counter(
            "yardmaster_notifications_total", "Attempts to post or edit a card or a reply.", ["integration"]
        )
        self.notifications_failed = counter(
            "yardmaster_notifications_failed_total",
            "Failed attempts, by reason: recoverable, unknown_outcome, permanent or gone.",
            ["integration", "reason"],
        )
        self.notification_latency = histogram(
            "yardmaster_notification_latency_seconds",
            "Duration of an attempt to post or edit a card or a reply.",
            ["integration"],
        )
        self.store_commits = counter("yardmaster_store_commits_total", "Transactions that changed rows.")
        self.store_commit_duration = histogram(
            "yardmaster_store_commit_duration_seconds",
            "Duration of writing and committing such a transaction.",
        )
        self.event_loop_lag = histogram(
            "yardmaster_event_loop_lag_seconds",
            "How late the event loop runs a timer that is due every second.",
            buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
        )
        self.internal_errors = counter(
            "yardmaster_internal_errors_total",
            "Unexpected errors that were contained; each is in the log with its traceback.",
            ["component"],
        )
        self.unreadable_items = counter(
            "yardmaster_unreadable_items_total",
            "Items of a source's answers that could not be read and were skipped; each reason is in the log once.",
            ["source"],
        )
        self.http_connections = gauge("yardmaster_http_connections", "Open connections to the HTTP server.")
        self.http_connections_closed = counter(
            "yardmaster_http_connections_closed_total",
            "Connections that were closed, by reason: crowded (the one that waited longest, as there were as many as "
            "there may be), late (no whole request within 30 s).",
            ["reason"],
        )
        self.log_lines_dropped = counter(
            "yardmaster_log_lines_dropped_total",
            "Lines of the log that were dropped, because nobody read it and 4 MiB of it waited.",
        )
        self.rule_object_errors = gauge(
            "yardmaster_rule_object_errors",
            "Errors in the cluster's PrometheusRule objects. Rules with errors are not evaluated.",
            ["cluster"],
        )

    def note_commit(self, seconds: float) -> None:
        """Count a transaction of the store that changed rows."""
        self.store_commits.inc()
        self.store_commit_duration.observe(seconds)
