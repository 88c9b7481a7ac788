"""Expressions rewritten to a dialect: which parts change, and which stay."""

import pytest

from alerts.loading.promql import find_error
from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from collectors.facts.promql.selectors import metric_names
from collectors.facts.promql.tree import LabelMatcher
from collectors.facts.queries import PromQLQuery
from collectors.sources.prometheus.dialects.query_rewriting import (
    LabelSource,
    MetricForms,
    MetricName,
    SeriesGroup,
    rewritten,
)

NODE = LabelSource(label="n", names=("node", "n"))
POD = LabelSource(label="p", names=("pod",), never="own-.*")
NODE_OF = (
    'label_replace(label_join({}, "yardmaster_from_n", ";", "node", "n"), '
    '"n", "$1", "yardmaster_from_n", ";*([^;]*).*")'
)


def forms(*labels: LabelSource, **more: object) -> MetricForms:
    group = SeriesGroup(labels=labels)
    return MetricForms(**{"names": (MetricName(name="x"),), "groups": (group,), **more})  # type: ignore[arg-type]


def of_x(expr: str, form: MetricForms) -> str:
    return rewritten(expr, lambda metric: form if metric == "x" else None)


def test_a_selector_gets_the_label_and_the_rest_stays() -> None:
    expr = "max by (n) (x < 150) > 83 and on (n) y"
    assert of_x(expr, forms(NODE)) == f"max by (n) ({NODE_OF.format('x')} < 150) > 83 and on (n) y"


def test_a_range_gets_the_label_around_its_function() -> None:
    assert of_x("sum by (n) (rate(x[5m] offset 1h))", forms(NODE)) == (
        f"sum by (n) ({NODE_OF.format('rate(x[5m] offset 1h)')})"
    )


def test_a_label_that_an_aggregation_drops_is_not_given() -> None:
    assert of_x("max by (gpu) (x)", forms(NODE)) == "max by (gpu) (x)"
    assert of_x("sum(x)", forms(NODE)) == "sum(x)"
    assert of_x("max without (gpu) (x)", forms(NODE)) == f"max without (gpu) ({NODE_OF.format('x')})"
    assert of_x("topk(3, x)", forms(NODE)) == f"topk(3, {NODE_OF.format('x')})"


def test_a_matcher_on_a_given_label_is_applied_after_it() -> None:
    assert of_x('max by (n) (x{n!="", a="b"})', forms(NODE)) == (
        f"max by (n) (({NODE_OF.format('x{a=' + chr(34) + 'b' + chr(34) + '}')} unless on (n) vector(1)))"
    )
    renamed = forms(LabelSource(label="n", names=("node",)))
    assert 'x{node=~"a|b"}' in of_x('max by (n) (x{n=~"a|b"})', renamed)


def test_groups_and_names_are_joined() -> None:
    apart = (
        SeriesGroup(matchers=(LabelMatcher("job", "!~", '"b"'),)),
        SeriesGroup(labels=(NODE,), matchers=(LabelMatcher("job", "=~", '"b"'),)),
    )
    assert of_x("max by (n) (x)", forms(groups=apart)) == (
        f'max by (n) ((x{{job!~"b"}} or {NODE_OF.format("x{job=~" + chr(34) + "b" + chr(34) + "}")}))'
    )
    names = (MetricName(name="x"), MetricName(name="x_ratio", factor=100))
    assert of_x("max(x)", forms(names=names)) == "max((x or (x_ratio * 100)))"
    assert of_x("changes(x[5m])", forms(names=names)) == "changes(x[5m])"


@pytest.mark.parametrize("pod", [POD, LabelSource(label="p", names=("exported", "pod"), never="own-.*")])
def test_every_expression_of_the_packs_stays_promql(pod: LabelSource) -> None:
    labels = [
        LabelSource(label=name, names=("node", "other"), never=pod.never)
        for name in ("Hostname", "exported_pod", "exported_namespace", "node", "instance", "job")
    ]
    for rule in read_rulebook(RulesSettings()).rules:
        if not isinstance(rule.query, PromQLQuery):
            continue
        for expr in (rule.query.expr, rule.query.presence or "up"):
            found = rewritten(
                expr, lambda metric: forms(*labels, names=(MetricName(name=metric), MetricName(name="old")))
            )
            assert find_error(found) is None, rule.name
            assert metric_names(found) >= metric_names(expr), rule.name
