"""The series of a recorded control plane and of the kubelets, which go on as they were recorded."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta

from tests.support.exporter_pages import PageSample, page, scraped
from tests.support.gpu_dialects import GpuNode
from tests.support.scrape_styles import ChartStyle

ControlSeries = tuple[str, Mapping[str, str], Callable[[datetime], float | None]]
SlowFor = Callable[[datetime, str], float]  # for how many seconds the kubelet of a node was slow up to then

_LASTED = timedelta(minutes=10)  # in which the counters grow by as much as was recorded
_GROWING = ("_total", "_count", "_sum", "_bucket")
_RELIST = "kubelet_pleg_relist_duration_seconds_bucket"


def control_plane(
    style: ChartStyle, nodes: tuple[GpuNode, ...], start: datetime, slow_for: SlowFor
) -> Iterator[ControlSeries]:
    """Yield what the chart scrapes of them. The relists of a slow kubelet take longer than any bucket."""
    for name, target in style.control_plane.items():
        yield "up", target, lambda _: 1.0
        for sample in page(name):
            yield sample.metric, scraped(sample.labels, target), _growing(sample, start)
    for node in nodes:
        target = style.kubelet(node)
        yield "up", target, lambda _: 1.0
        for sample in page("kubelet"):
            labels = scraped(sample.labels, target)
            yield sample.metric, labels, _of_kubelet(sample, start, node.name, slow_for)


def _growing(sample: PageSample, start: datetime) -> Callable[[datetime], float]:
    if not sample.metric.endswith(_GROWING):
        return lambda _: sample.value
    return lambda at: sample.value * (1 + (at - start) / _LASTED)


def _of_kubelet(
    sample: PageSample, start: datetime, node: str, slow_for: SlowFor
) -> Callable[[datetime], float]:
    usual = _growing(sample, start)
    if sample.metric != _RELIST or sample.labels["le"] == "+Inf":
        return usual
    return lambda at: usual(at - timedelta(seconds=slow_for(at, node)))
