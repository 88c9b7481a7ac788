"""Cases of the log rules on the control plane, and of what its components say of others."""

from collections.abc import Sequence

from tests.alerts.packs.expected import Fired
from tests.alerts.packs.log_case import LogCase, LogEvent

_OPEN = (
    "W0302 08:00:00.1 1 dispatcher.go:195] Failed calling webhook, failing open validate.policy.example: "
    'failed calling webhook "validate.policy.example": failed to call webhook: '
    'Post "https://policy.kyverno.svc:443/validate?timeout=10s": context deadline exceeded'
)
_CLOSED = (
    'E0302 08:00:00.1 1 job_controller.go:598] "Unhandled Error" err="syncing job: Internal error occurred: '
    'failed calling webhook \\"mutate.injector.example\\": failed to call webhook: '
    'Post \\"https://x.svc:443/mutate\\": dial tcp 10.96.0.9:443: connect: connection refused"'
)
_DENIED = (
    'E0302 08:00:00.1 1 job_controller.go:598] "Unhandled Error" err="admission webhook '
    '\\"validate.policy.example\\" denied the request: image is not signed"'
)


def _said(text: str, times: int, *, unit: str = "kube-apiserver") -> tuple[LogEvent, ...]:
    return (LogEvent(text=text, times=times, unit=unit, level="warning"),)


def _fired(webhook: str) -> tuple[Fired, ...]:
    return (
        Fired(
            labels={"webhook": webhook, "severity": "warning", "component": "apiserver"},
            summary=f"The admission webhook {webhook} does not answer the API server.",
        ),
    )


CLUSTER_LOG_CASES: Sequence[LogCase] = (
    LogCase(
        rule="AdmissionWebhookFailing",
        description="the API server lets pass what it cannot have checked",
        events=_said(_OPEN, 3),
        fired=_fired("validate.policy.example"),
    ),
    LogCase(
        rule="AdmissionWebhookFailing",
        description="a controller cannot create its pods",
        events=_said(_CLOSED, 3, unit="kube-controller-manager"),
        fired=_fired("mutate.injector.example"),
    ),
    LogCase(
        rule="AdmissionWebhookFailing",
        description="a webhook that restarts is not reached twice",
        events=_said(_OPEN, 2),
    ),
    LogCase(
        rule="AdmissionWebhookFailing",
        description="a webhook that answers no is well",
        events=_said(_DENIED, 9, unit="kube-controller-manager"),
    ),
)
