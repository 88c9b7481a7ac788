"""The range query of a chart: the drawn expression, of the series that alerts came from alone."""

import json
import re
from collections.abc import Collection, Iterable, Sequence

from bot.charts.threshold import Drawn
from collectors.facts.labels import Labels

_LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


def series_of(labels: Labels, added: Collection[str]) -> Labels:
    """Return the labels that an alert has from its series, without those that its rule adds."""
    names = (name for name in labels if name not in added and name != "alertname")
    return Labels({name: labels[name] for name in names if _LABEL_NAME.fullmatch(name)})


def chart_query(of: Drawn, series: Sequence[Labels]) -> str:
    """Return the expression with the drawn series alone, so that the answer is small in a cluster of any size."""
    names = sorted({name for labels in series for name in labels})
    if not names:
        return of.expr
    chosen = " or ".join(_vector(labels, names) for labels in series)
    return f"({of.expr}) and on ({', '.join(names)}) ({chosen})"


def _vector(labels: Labels, names: Iterable[str]) -> str:
    """Return an expression with one series of these labels; one without a name matches only series without it."""
    written = "vector(1)"
    for name in names:
        if value := labels.get(name, ""):
            replacement = json.dumps(value.replace("$", "$$"), ensure_ascii=False)
            written = f'label_replace({written}, "{name}", {replacement}, "{name}", "")'
    return written
