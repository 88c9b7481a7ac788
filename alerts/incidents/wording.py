"""The wording of alerts as people say them: nodes by their names, and numbers rounded. Pure."""

import re

from alerts.alert import Alert

_MEASURED = re.compile(
    r"(?<![\w.:/-])(?P<number>-?\d+(?:\.\d+)?)(?P<gap> ?)"
    r"(?P<unit>%|°C|W|[kKMGTPE]i?B(?:/s)?|(?:s|ms|us|µs|ns)\b)(?![\w.:/-]*\w)"
)


def readable(sentence: str, alert: Alert) -> str:
    """Return the sentence with the node's name for its address, and with measured values rounded."""
    return rounded(named(sentence, alert))


def named(sentence: str, alert: Alert) -> str:
    """Return the sentence with the name of the alert's node wherever it has what its labels call the node."""
    node = alert.subject.node
    if not node or not alert.own_subject.node:
        return sentence
    host = _host(alert.own_subject.node)
    known_as = {value for value in alert.labels.values() if value and _host(value) == host}
    if "node" in alert.labels and "job" not in alert.labels:  # else the target may be one that is elsewhere
        known_as |= {instance, _host(instance)} if (instance := alert.labels.get("instance", "")) else set()
    for value in sorted({host, *known_as}, key=len, reverse=True):
        if value and value != node and value in sentence:
            sentence = re.sub(rf"(?<![\w.-]){re.escape(value)}(?![\w-]|\.\w|:\d)", lambda _: node, sentence)
    return sentence


def rounded(sentence: str) -> str:
    """Return the sentence with each value that has a unit as a person says it: `58.26%` becomes `58 %`."""
    return _MEASURED.sub(_rounded, sentence)


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
