"""The worked example of docs/dialects.md: each block is what the code does, and what Prometheus answers."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Sample, Seen
from collectors.facts.topology import NodeFacts, Topology
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.watching import Dialects, Prepared
from tests.alerts.packs.dialects.series_answers import SeriesAnswers
from tests.support.promtool import run_cases

PAGE = Path(__file__).parents[4] / "docs" / "dialects.md"
AT = datetime(2026, 11, 24, tzinfo=UTC)
_BLOCK = re.compile(r"^ *```\w+\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')

WRITTEN, SERIES, CHOICE, SENT, ANSWERS = (
    block.strip() for block in _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
)
ANSWERED, SEEN = ANSWERS.splitlines()


def sample_of(line: str) -> Sample:
    return Sample(labels=Labels(dict(_LABEL.findall(line))), value=float(line.rpartition(" ")[2]))


@pytest.fixture
def dialects() -> Dialects:
    series = Labels({"__name__": SERIES.partition("{")[0], **sample_of(SERIES).labels})
    found = Dialects(SeriesAnswers([series]))
    node = NodeFacts(name="gpu-a04", addresses=("10.0.0.4",))
    topology = Topology(cluster="lab", nodes={node.name: node}, node_of_address={"10.0.0.4": node.name})
    found.follow(NodeNames(lambda: topology))
    return found


async def prepared(dialects: Dialects) -> Prepared:
    found = await dialects.prepare(PromQLQuery(expr=WRITTEN, of_pack=True), at=AT)
    assert isinstance(found, Prepared)
    return found


async def test_the_query_is_sent_as_the_page_says(dialects: Dialects) -> None:
    found = await prepared(dialects)
    assert "".join(found.expr.split()) == "".join(SENT.split())
    assert dialects.described() == [CHOICE]


async def test_the_rule_sees_the_samples_that_the_page_says(dialects: Dialects) -> None:
    answer = Seen(source="prometheus", at=AT, samples=(sample_of(ANSWERED),))
    assert dialects.restored(answer, await prepared(dialects)).samples == (sample_of(SEEN),)


def test_prometheus_answers_what_the_page_says(promtool_path: Path, tmp_path: Path) -> None:
    series, _, value = SERIES.rpartition(" ")
    labels, _, answer = ANSWERED.rpartition(" ")
    expected = {"expr": SENT, "eval_time": "0m", "exp_samples": [{"labels": labels, "value": float(answer)}]}
    case = {"input_series": [{"series": series, "values": value}], "promql_expr_test": [expected]}
    (tmp_path / "example.yaml").write_text(json.dumps({"tests": [case]}), encoding="utf-8")
    done = run_cases(promtool_path, "example.yaml", folder=tmp_path)
    assert done.returncode == 0, done.stdout
