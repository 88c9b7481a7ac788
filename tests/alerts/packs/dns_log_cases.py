"""Cases of the log rules of DNS."""

from collections.abc import Sequence

from demo.world.shared_services import PodKey
from tests.alerts.packs.expected import Fired
from tests.alerts.packs.log_case import LogCase, LogEvent

_FAILED = "socket.gaierror: [Errno -3] Temporary failure in name resolution: detr-worker-{}.detr-worker"
_UNKNOWN = "curl: (6) Could not resolve hostname s3.dc1.example"
_TIMEOUT = "[ERROR] plugin/errors: 2 s3.dc1.example. A: read udp 10.244.0.5:41270->10.0.9.2:53: i/o timeout"
_REFUSED = "[ERROR] plugin/errors: 2 s3.dc1.example. A: unexpected rcode REFUSED"
_LOOP = (
    '[FATAL] plugin/loop: Loop (127.0.0.1:49000 -> :53) detected for zone ".", '
    "see https://coredns.io/plugins/loop#troubleshooting"
)


def _of_task(number: int, text: str = _FAILED, *, times: int = 1, namespace: str = "vision-detr") -> LogEvent:
    pod = PodKey(namespace, f"detr-worker-{number}")
    return LogEvent(text=text.format(number), times=times, pod=pod, level="error")


DNS_LOG_CASES: Sequence[LogCase] = (
    LogCase(
        rule="NamesNotResolved",
        description="three tasks of one training miss their peers",
        events=(*(_of_task(number) for number in range(3)), _of_task(0, namespace="speech", times=9)),
        fired=(
            Fired(
                labels={"namespace": "vision-detr", "severity": "warning", "component": "dns"},
                summary="3 tasks in vision-detr cannot resolve a name.",
            ),
        ),
    ),
    LogCase(
        rule="NamesNotResolved",
        description="one task that names what does not exist, and another, again and again",
        events=(_of_task(0, times=40), _of_task(1, _UNKNOWN, times=40)),
    ),
    LogCase(
        rule="NamesNotResolved",
        description="an answer without a name in the log of CoreDNS is normal",
        events=tuple(
            LogEvent(
                text='[INFO] 10.244.1.7:40000 - 7 "A IN s3.dc1.example.svc.cluster.local. udp 61 false 512" NXDOMAIN '
                "qr,aa,rd 154 0.0001s",
                pod=PodKey("kube-system", f"coredns-{number}"),
            )
            for number in range(4)
        ),
    ),
    LogCase(
        rule="CoreDNSTimeoutsLogged",
        description="its upstream does not answer",
        events=(LogEvent(text=_TIMEOUT, times=21, pod=PodKey("kube-system", "coredns-0"), level="error"),),
        fired=(
            Fired(
                labels={"severity": "warning", "component": "dns"},
                summary="CoreDNS gets no answer from its upstream: 21 timeouts in 5 minutes.",
            ),
        ),
    ),
    LogCase(
        rule="CoreDNSTimeoutsLogged",
        description="a few packets are lost",
        events=(LogEvent(text=_TIMEOUT, times=20, pod=PodKey("kube-system", "coredns-0"), level="error"),),
    ),
    LogCase(
        rule="CoreDNSTimeoutsLogged",
        description="an upstream that does not know a name has answered",
        events=(LogEvent(text=_REFUSED, times=40, pod=PodKey("kube-system", "coredns-0"), level="error"),),
    ),
    LogCase(
        rule="CoreDNSLoop",
        description="the node's resolver is the node itself",
        events=(LogEvent(text=_LOOP, pod=PodKey("kube-system", "coredns-0"), level="error"),),
        fired=(
            Fired(
                labels={"severity": "critical", "component": "dns"},
                summary="CoreDNS stops, as its queries come back to itself.",
            ),
        ),
    ),
    LogCase(
        rule="CoreDNSLoop",
        description="CoreDNS lists its plugins",
        events=(LogEvent(text="plugin/loop: enabled", pod=PodKey("kube-system", "coredns-0")),),
    ),
)
