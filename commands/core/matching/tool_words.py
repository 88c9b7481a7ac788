"""Other tools: a line of kubectl's, Slurm's or amtool's, typed by habit, in the words of ours."""

import re
from collections.abc import Sequence

from commands.core.matching.known_names import KnownNames
from commands.core.matching.lexicon import Lexicon
from commands.core.matching.phrases import ToolWords
from commands.core.matching.tokens import is_same_word, tokens_of

_NAMESPACE = "--namespace"
_PIPE = "|"  # what another program does with the answer is left out
_TAINT_TAKEN_OFF = re.compile(r"(?P<key>[\w./-]*?[\w./])(?:=[\w.-]*?)?(?P<effect>:\w+)?-", re.ASCII)


def in_our_words(words: Sequence[str], lexicon: Lexicon, names: KnownNames) -> list[str]:
    """Return the words of a line as ours if they begin with the name of another tool, else as they are.

    Options come last. A namespace is part of the name that is in it, or the option of a list; where nothing of the line
    is in one, it is left out.
    """
    tool = next((one for one in lexicon.tools if len(words) > 1 and words[0].lower() in one.called), None)
    if tool is None:
        return list(words)
    plain, options = _apart(words[1 : words.index(_PIPE) if _PIPE in words else None], tool)
    plain = [*tool.means.split(), *plain]
    if _NAMESPACE in options:
        return _in_namespace(plain, options, lexicon, names)
    return [*_without_taint(plain), *options]


def _apart(words: Sequence[str], tool: ToolWords) -> tuple[list[str], list[str]]:
    plain: list[str] = []
    options: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            plain += _of_ours(word, tool)
        elif name in tool.flags:
            options.append(tool.flags[name])
        elif name in tool.ignored or [*plain[:1], name] == ["logs", "-f"]:
            left = left[1:] if tool.ignored.get(name) and not equals else left
        elif name in tool.options and (equals or left):
            given = value if equals else left.pop(0)
            plain += [] if tool.options[name] else [given]
            options += [tool.options[name], given] if tool.options[name] else []
        else:
            options.append(word)
    return plain, options


def _of_ours(word: str, tool: ToolWords) -> list[str]:
    if (whole := tool.words.get(word.lower())) is not None:
        return whole.split()
    for sign in "=/":  # NodeName=gpu-a04, node/gpu-a04
        kind, found, value = word.partition(sign)
        if found and kind.lower() in tool.words:
            return [*tool.words[kind.lower()].split(), value]
    return [word]


def _without_taint(words: list[str]) -> list[str]:
    """Return `taint … key=value:Effect-`, which takes it off, as `untaint … key:Effect`."""
    if "taint" not in words or not (found := _TAINT_TAKEN_OFF.fullmatch(words[-1])):
        return words
    kept = ["untaint" if word == "taint" else word for word in words[:-1]]
    return [*kept, f"{found['key']}{found['effect'] or ''}"]


def _in_namespace(words: list[str], options: list[str], lexicon: Lexicon, names: KnownNames) -> list[str]:
    at = options.index(_NAMESPACE)
    others = [*options[:at], *options[at + 2 :]]
    whole = [f"{options[at + 1]}/{word}" for word in words]
    if any(map(names.kinds_of, whole)):
        found = [both if names.kinds_of(both) else word for both, word in zip(whole, words, strict=True)]
        return [*found, *others]
    nouns = {token.key for token in lexicon.nouns_in(tokens_of(words))}
    listed = {
        one.noun
        for one in lexicon.catalogue
        if any(_NAMESPACE in part.opts for part in one.parameters) and one.verb in ("list", "clean")
    }
    is_listed = any(is_same_word(noun, one) for noun in nouns for one in listed)
    return [*words, *(options if is_listed else others)]
