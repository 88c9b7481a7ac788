"""Metrics under other names: of a whole family, and of exporters that measure the same."""

import pytest

from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from collectors.sources.prometheus.dialects.families import DCGM, NODE_EXPORTER, TARGETS
from collectors.sources.prometheus.dialects.probing import Spelling, spelling_of, spelling_query
from tests.real.fixtures import StartPrometheus
from tests.support.dialect_rules import END, RULES, seen, source_of, subjects, summaries
from tests.support.gpu_dialects import GpuNode, recorded


def named(*names: str) -> list[Sample]:
    return [Sample(labels=Labels({"__name__": name}), value=1) for name in names]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("acme_DCGM_FI_DEV_GPU_TEMP", "acme_DCGM_FI_DEV_GPU_UTIL"), Spelling(prefix="acme_")),
        (("dcgm_fi_dev_gpu_temp",), Spelling(is_lower=True)),
        (("acme_dcgm_fi_dev_gpu_temp",), Spelling(prefix="acme_", is_lower=True)),
        (("a_DCGM_FI_DEV_GPU_TEMP", "b_DCGM_FI_DEV_GPU_TEMP"), Spelling()),
        (("job:DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP_avg", "Dcgm_Fi_Dev_Gpu_Temp"), Spelling()),
    ],
    ids=["a prefix", "lower case", "both", "two prefixes", "other metrics"],
)
def test_what_the_names_of_a_family_became(names: tuple[str, ...], expected: Spelling) -> None:
    assert spelling_of(DCGM, named(*names)) == expected


def test_the_families_names_in_a_spelling() -> None:
    spelled = Spelling(prefix="acme_", is_lower=True).family(DCGM)
    assert "acme_dcgm_fi_dev_gpu_temp" in spelled.probes
    assert "acme_dcgm_fi_dev_xid_errors" in spelled.aliases


def test_many_exporters_have_a_metric_that_ends_like_up() -> None:
    assert spelling_query(NODE_EXPORTER)
    assert spelling_query(TARGETS) == ""


SMI = GpuNode(
    name="gpu-std",
    number=1,
    named={"instance": "10.0.0.1:9835"},
    pod_labels=(),
    is_honoured=True,
    uuid_label="uuid",
    missing=frozenset({"gpu", "device", "modelName"}),
)
BY_SMI = {
    "DCGM_FI_DEV_GPU_TEMP": "nvidia_smi_temperature_gpu",
    "DCGM_FI_DEV_GPU_UTIL": "nvidia_smi_utilization_gpu_ratio",
    "DCGM_FI_DEV_XID_ERRORS": "unused",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": "unused_too",
}


async def test_an_exporter_that_asks_nvidia_smi(start_prometheus: StartPrometheus) -> None:
    """It has no index of GPUs, so they are known by their UUIDs; XIDs it does not have, which the doctor says."""
    up = ("# TYPE up gauge", f"up 1 {END.timestamp():.3f}")
    server = start_prometheus(samples=(*up, *recorded((SMI,), end=END, names=BY_SMI)))
    async with source_of(server.url) as source:
        hot = await seen(source, "GPUTemperatureHigh")
        assert [(one.node, one.uuid) for one in subjects("GPUTemperatureHigh", hot)] == [
            ("gpu-std", SMI.uuid(0))
        ]
        assert f"GPU {SMI.uuid(0)} on gpu-std is hot" in summaries("GPUTemperatureHigh", hot)[0]
        queries = {name: RULES[name].query for name in ("GPUTemperatureHigh", "GPUXIDChanged")}
        found = await source.diagnose(queries, at=END)
        (lacks,) = (one for one in found if one.fix)
        assert lacks.rules == ("GPUXIDChanged",)
        assert "install dcgm-exporter" in lacks.fix
