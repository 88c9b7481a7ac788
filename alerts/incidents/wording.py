"""The wording of alerts as people say them: nodes by their names, and numbers rounded. Pure."""

import re

from alerts.alert import Alert
from collectors.facts.sentences import Sentence, in_context, pieces

_MEASURED = re.compile(
    r"(?<![\w.:/-])(?P<number>-?\d+(?:\.\d+)?)(?P<gap> ?)"
    r"(?P<unit>%|°C|W|[kKMGTPE]i?B(?:/s)?|(?:s|ms|us|µs|ns)\b)(?![\w.:/-]*\w)"
)


def readable(sentence: str, alert: Alert) -> str:
    """Return the sentence with the node's name for its address, and with measured values rounded."""
    if not sentence:  # as most annotations are
        return sentence
    said = rounded(named(sentence, alert))
    if said == sentence or not isinstance(sentence, Sentence):
        return sentence if said == sentence else said
    changed = _with_rounded_arguments(sentence.with_arguments(lambda words: named(words, alert)))
    return changed if changed == said else said


def named(sentence: str, alert: Alert) -> str:
    """Return the sentence with the name of the alert's node wherever it has what its labels call the node."""
    node = alert.subject.node
    if not node or not alert.own_subject.node:
        return sentence
    host = _host(alert.own_subject.node)
    known_as = {value for _, value in alert.labels.pairs if host in value and _host(value) == host}
    if "node" in alert.labels and "job" not in alert.labels:  # else the target may be one that is elsewhere
        known_as |= {instance, _host(instance)} if (instance := alert.labels.get("instance", "")) else set()
    for value in sorted({host, *known_as}, key=len, reverse=True):
        if value and value != node and value in sentence:
            sentence = re.sub(rf"(?<![\w.-]){re.escape(value)}(?![\w-]|\.\w|:\d)", lambda _: node, sentence)
    return sentence


def rounded(sentence: str) -> str:
    """Return the sentence with each value that has a unit as a person says it: `58.26%` becomes `58 %`."""
    return _MEASURED.sub(_rounded, sentence)


def _with_rounded_arguments(said: Sentence) -> Sentence:
    """Return the sentence with its arguments rounded; the unit of one may be in the template, beside it."""
    parts = pieces(said.form)
    changed = dict(said.arguments)
    for place, (words, name, _) in enumerate(parts):
        value = changed.get(name) if name else None
        if name and isinstance(value, str):
            before, after = words[-1:], parts[place + 1][0] if place + 1 < len(parts) else ""
            whole = rounded(f"{before}{value}{after}")
            if whole.startswith(before) and whole.endswith(after):
                changed[name] = whole[len(before) : len(whole) - len(after)]
    return in_context(said.context, said.template, changed)


def _rounded(found: re.Match[str]) -> str:
    number, gap, unit = found["number"], found["gap"], found["unit"]
    if "." in number:
        value = float(number)
        size = abs(value)
        decimals = 0 if size >= 9.95 or value == 0 else 1 if size >= 0.995 else 2
        number = f"{value:.{decimals}f}"
        gap = " "
    return f"{number}{' ' if unit == '%' else gap}{unit}"


def _host(address: str) -> str:
    """Return an address without its port."""
    host, colon, port = address.rpartition(":")
    return host.strip("[]") if colon and port.isdigit() else address
