"""A dump for readers: `python -m tests.bot.language.every_sentence [PACKAGE]` prints every sentence in both languages.

Each template is filled with plausible arguments, and said with 0, 1, 2 and 5 of what it counts. It is grouped by where
it is written. Nothing checks it: a person reads it through, and looks for what nobody would say.
"""

import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import groupby

from alerts.annotation_template import RULE_CONTEXT
from alerts.cards.text import person
from bot.language.message_catalogue import ENGLISH, Catalogue, catalogue
from collectors.facts.sentences import Argument, counted, holes, in_context, listed, pieces, sentence
from tests.support.rule_templates import reasons, rule_templates
from tests.support.said_phrases import said_phrases, shown_words
from tests.support.templates import templates

COUNTS = (0, 1, 2, 5)
_AT = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
_NAMES: Mapping[str, Argument] = {
    **dict.fromkeys(("at", "since", "until", "when", "began", "ended"), _AT),
    **dict.fromkeys(
        ("age", "lasting", "lasted", "after", "longest", "shortest", "interval", "within", "in_all"),
        timedelta(hours=2, minutes=5),
    ),
    **dict.fromkeys(("who", "owner", "actor", "person", "giver", "asker", "by"), person("U1", "dana")),
    **dict.fromkeys(("node", "Hostname", "instance"), "gpu-a04"),
    **dict.fromkeys(("nodes", "names"), listed(["gpu-a04", "gpu-a05", "gpu-b03"])),
    **dict.fromkeys(("training", "workload"), "vision/detr"),
    **dict.fromkeys(("line", "command", "usage", "example"), "node cordon gpu-a04"),
    **dict.fromkeys(("reason", "cause", "why", "error", "failure"), sentence("it is suspended")),
    "gpu": "3",
    "gpus": "GPU 3",
    "namespace": "vision",
    "team": "vision",
    "cluster": "prod-a",
    "plan": "p12",
    "incident": "i7",
    "silence": "s3",
    "request": "c1a2b3c4",
    "xid": "79",
    "value": "7",
    "where": "http://prometheus:9090",
    "volume": "vision/ckpt",
    "alert": "GPUTemperatureHigh",
    "rule": "GPUTemperatureHigh",
}


def each_sentence(package: str = "") -> Iterator[str]:
    """Yield the lines; of code only what is below the folder."""
    chinese = catalogue("zh")
    said = {forms: place.partition(":")[0] for forms, place in templates().items()}
    whole = {form for forms in said for form in forms}
    fixed = {words.strip(): place.partition(":")[0] for words, place in _fixed().items()}
    said |= {(words, ""): place for words, place in fixed.items() if words not in whole}
    wanted = sorted(((place, forms) for forms, place in said.items() if place.startswith(package)))
    for place, every in groupby(wanted, key=lambda one: one[0]):
        yield f"\n## {place}"
        for _, (one, many) in every:
            yield from _of_code(one, many, chinese)
    rules = sorted((place, form) for form, place in rule_templates().items())
    for place, forms in groupby(rules, key=lambda one: one[0]):
        if f"alerts/packs/{place}".startswith(package):
            yield f"\n## alerts/packs/{place}"
            for _, form in forms:
                filled = in_context(RULE_CONTEXT, form, {name: _argument(name) for name in holes(form)})
                yield from _in_both(filled, chinese)
    yield from (f"{reason}\n    {chinese.name(reason)}" for reason in reasons() if not package)


def _fixed() -> Mapping[str, str]:
    phrases = {**said_phrases(), **shown_words()}
    known = catalogue("zh")
    return {words: place for words, place in phrases.items() if known.say(words.strip()) != words.strip()}


def _of_code(one: str, many: str, chinese: Catalogue) -> Iterator[str]:
    if not holes(one) and not many:
        yield from _in_both(sentence(one), chinese)
        return
    names = holes(one) | holes(many)
    specs = {name: spec for form in (one, many) for _, name, spec in pieces(form) if name}
    given = {name: _argument(name, specs[name]) for name in names if name != "count"}
    if not many:
        given |= {"count": 2} if "count" in names else {}
        yield from _in_both(sentence(one, **given), chinese)
        return
    for count in COUNTS:
        yield from _in_both(counted(one, many, count=count, **given), chinese)


def _argument(name: str, spec: str = "") -> Argument:
    """Return an example for a hole; one with a format is a moment or a number."""
    if spec:
        return _AT if "%" in spec[:-1] else 0.5 if spec.endswith("%") else 3.0
    return _NAMES.get(name.rstrip("0123456789"), f"‹{name}›")


def _in_both(said: str, chinese: Catalogue) -> Iterator[str]:
    yield f"{ENGLISH.say(said)}\n    {chinese.say(said)}"


if __name__ == "__main__":
    print("\n".join(each_sentence(*sys.argv[1:])))
