"""Sentences for people: an English template and its arguments, so that each reader can have them in their language.

A `Sentence` is a `str`, its finished English: logs, the terminal and comparisons need nothing else. The edge finds the
template in a catalogue (`bot/language`) and puts the same arguments into the translation. What cuts or joins the string
(an f-string around it, `+`, `join`, `rstrip`) makes a plain string of it, which is shown in English; use `sentence`,
`listed` and `headline_of` instead.
"""

import string
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final, Literal, Protocol, Self

from collectors.facts.clock import humanize

Joint = Literal[",", "and", "or", ";", ":", "."]  # "." puts whole sentences one after the other
ENGLISH_JOINTS: Final[Mapping[Joint, tuple[str, str]]] = {  # between two items, and before the last
    ",": (", ", ", "),
    "and": (", ", " and "),
    "or": (", ", " or "),
    ";": ("; ", "; "),
    ":": (": ", ": "),
    ".": (" ", " "),
}
ENGLISH_MORE: Final = "{items} and {count} more"
MOMENT: Final = "%Y-%m-%d %H:%M UTC"


class Marked(Protocol):
    """A piece of text with a style, such as a person or a link (`alerts/cards/text.py`)."""

    @property
    def text(self) -> str: ...


# A `str` is a name or words from elsewhere, which no language changes; words of ours are a `Sentence`.
Argument = str | int | float | timedelta | datetime | Marked | tuple[Marked, ...]


class Sentence(str):
    """Finished English that remembers what it is made of: `template` (and `plural`) with `{names}`, and `arguments`.

    In a template, backticks mean code, and literal braces are doubled. `context` tells apart two meanings of
    the same English word. Build one with the functions below.
    """

    template: str
    plural: str
    arguments: Mapping[str, Argument]
    context: str

    def __new__(
        cls,
        finished: str,
        template: str = "",
        plural: str = "",
        arguments: Mapping[str, Argument] | None = None,
        context: str = "",
    ) -> Self:
        made = super().__new__(cls, finished)
        made.template, made.plural, made.context = template, plural, context
        made.arguments = arguments or {}
        return made

    @property
    def form(self) -> str:
        """The English template for the count."""
        return self.plural if self.plural and self.arguments["count"] != 1 else self.template

    def cleaned(self, clean: Callable[[str], str]) -> str:
        """Return it with what comes from outside made safe to show; plain English where that changed words of ours."""
        plain = str(self)
        safe = clean(plain)
        if safe == plain:
            return self
        changed = self.with_arguments(clean)
        return changed if changed == safe else safe

    def with_arguments(self, change: Callable[[str], str]) -> "Sentence":
        """Return the sentence with each text within its arguments changed."""
        changed = {name: _changed(value, change) for name, value in self.arguments.items()}
        return _sentence(self.template, self.plural, changed, self.context)


class Listed(Sentence):
    """Several arguments beside each other. `more`: how many further ones are not named."""

    items: tuple[Argument, ...]
    joint: Joint
    more: int

    def with_arguments(self, change: Callable[[str], str]) -> "Listed":
        return listed([_changed(one, change) for one in self.items], self.joint, more=self.more)


def sentence(template: str, /, **arguments: Argument) -> Sentence:
    """Return the sentence. Raises ValueError unless each `{name}` of the template has its argument, and vice versa."""
    _check(holes(template), arguments)
    return _sentence(template, "", arguments, "")


def counted(one: str, many: str, /, *, count: float, **arguments: Argument) -> Sentence:
    """Return the sentence about `count` things, `{count}` in the templates: the first if it is 1. Raises ValueError."""
    given = {"count": count, **arguments}
    _check(holes(one) | holes(many) | {"count"}, given)
    return _sentence(one, many, given, "")


def word(words: str, context: str = "") -> Sentence:
    """Return fixed words of ours without a hole, such as the value of an enum, to be said within a sentence."""
    return _sentence(escaped_braces(words), "", {}, context)


def in_context(context: str, template: str, /, arguments: Mapping[str, Argument]) -> Sentence:
    """Return a sentence that only the translations of this context are for. Raises ValueError."""
    _check(holes(template), arguments)
    return _sentence(template, "", arguments, context)


def escaped_braces(words: str) -> str:
    """Return words for a template in which their braces are no holes."""
    return words.replace("{", "{{").replace("}", "}}")


def listed(items: Iterable[Argument], joint: Joint = ",", *, most: int = 0, more: int = 0) -> Listed:
    """Return a list: the first `most` items if that is not 0, and how many more there are."""
    every = tuple(items)
    shown = every[:most] if most else every
    rest = more + len(every) - len(shown)
    between, last = ENGLISH_JOINTS[joint]
    if rest > 0:
        last = between
    said = list(map(plain_argument, shown))
    whole = last.join(filter(None, [between.join(said[:-1]), *said[-1:]]))
    if rest > 0:
        whole = ENGLISH_MORE.format(items=whole, count=rest) if whole else str(rest)
    made = Listed.__new__(Listed, whole)
    assert isinstance(made, Listed)
    made.items, made.joint, made.more = shown, joint, max(rest, 0)
    return made


def as_code(names: Iterable[str], joint: Joint = ",", *, most: int = 0) -> Listed:
    """Return a list of names, each as code: an argument has no backticks of its own."""
    return listed((sentence("`{name}`", name=name) for name in names), joint, most=most)


def headline_of(said: str) -> str:
    """Return the sentence without its full stop."""
    if isinstance(said, Sentence) and not isinstance(said, Listed) and said.form.endswith("."):
        forms = (said.template.removesuffix("."), said.plural.removesuffix("."))
        return _sentence(*forms, said.arguments, said.context)
    return said.rstrip(".") if said.endswith(".") else said


def said_by(error: BaseException) -> str:
    """Return what an error says: the sentence that it was raised with, if it was."""
    said = error.args[0] if len(error.args) == 1 else None
    return said if isinstance(said, Sentence) and said == str(error) else str(error)


def unmarked(said: str) -> str:
    """Return a text in English without the backticks that mark code in a sentence; other texts have no marks."""
    if isinstance(said, Listed):
        return str(listed(map(_unmarked_argument, said.items), said.joint, more=said.more))
    if not isinstance(said, Sentence):
        return said
    bare = {name: _unmarked_argument(value) for name, value in said.arguments.items()}
    return "".join(
        words.replace("`", "") + ("" if name is None else plain_argument(bare[name], spec))
        for words, name, spec in pieces(said.form)
    )


def english(value: object) -> str:
    """Return a sentence as a plain string, for encoders that know exact strings only."""
    if isinstance(value, Sentence):
        return str(value)
    raise NotImplementedError(f"cannot encode a {type(value).__name__}")


def plain_argument(value: Argument, spec: str = "") -> str:
    """Return an argument in English, without styles."""
    match value:
        case str():
            return str(value)
        case timedelta():
            return humanize(value)
        case datetime():
            return format(value, spec) if spec else moment_words(value)
        case int() | float():
            return format(value, spec)
        case tuple():
            return "".join(unmarked(one.text) for one in value)
        case _:
            return unmarked(value.text)


def moment_words(at: datetime) -> str:
    return at.astimezone(UTC).strftime(MOMENT)


@lru_cache(maxsize=8192)
def pieces(template: str) -> tuple[tuple[str, str | None, str], ...]:
    """Return the literal words of a template, each with the name and the format of the hole after it, or None."""
    return tuple((words, name, spec or "") for words, name, spec, _ in string.Formatter().parse(template))


@lru_cache(maxsize=8192)
def holes(template: str) -> frozenset[str]:
    return frozenset(name for _, name, _ in pieces(template) if name is not None)


def _sentence(template: str, plural: str, arguments: Mapping[str, Argument], context: str) -> Sentence:
    form = plural if plural and arguments["count"] != 1 else template
    finished = "".join(
        words if name is None else f"{words}{plain_argument(arguments[name], spec)}"
        for words, name, spec in pieces(form)
    )
    return Sentence(finished, template, plural, arguments, context)


def _check(names: frozenset[str], arguments: Mapping[str, Any]) -> None:
    if wrong := names ^ arguments.keys():
        raise ValueError(f"the template and the arguments differ in: {', '.join(sorted(wrong))}")


def _unmarked_argument(value: Argument) -> Argument:
    return unmarked(value) if isinstance(value, str) else value


def _changed(value: Argument, change: Callable[[str], str]) -> Argument:
    if isinstance(value, Sentence):
        return value.with_arguments(change)
    return change(value) if isinstance(value, str) else value  # marked text was changed when it was made
