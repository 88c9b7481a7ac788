"""Text split into words as by Elasticsearch's standard analyzer (Unicode's rules, in lower case)."""

import re
from functools import lru_cache

# A . : ' or the like joins letters, a . , ; or the like joins digits, an underscore joins both; each Han and Hiragana
# character is a word. This covers what logs contain, not every script.
_HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_LETTER = rf"[^\W\d_{_HAN}{_HIRAGANA}{_KATAKANA}]"
_JOINS_LETTERS = ".:'\u00b7\u2018\u2019\u2024\ufe13\ufe52\ufe55\uff07\uff0e\uff1a"
_JOINS_DIGITS = ".,;'\u2018\u2019\u2024\u037e\u066c\ufe10\ufe14\ufe50\ufe52\ufe54\uff07\uff0c\uff0e\uff1b"
_PIECE = (
    rf"(?:{_LETTER}(?:[{_JOINS_LETTERS}](?={_LETTER}))?"
    rf"|\d(?:[{_JOINS_DIGITS}](?=\d))?"
    rf"|_)"
)
_WORD = re.compile(rf"[{_KATAKANA}_]*[{_KATAKANA}][{_KATAKANA}_]*|[{_HAN}{_HIRAGANA}]|{_PIECE}+")
_ONLY_UNDERSCORES = re.compile(r"_+\Z")
_BLANKS = " \t\n"
_LONGEST = 255  # characters; a longer word is cut into several


@lru_cache(maxsize=20_000)  # the same queries read the same lines again and again
def words_of(text: str) -> list[str]:
    """The words of a text, in order. Nobody may change the list."""
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        if word[0] == "_" and _ONLY_UNDERSCORES.match(word):
            continue
        if len(word) <= _LONGEST:
            found.append(word)
        else:
            found += [word[start : start + _LONGEST] for start in range(0, len(word), _LONGEST)]
    return found


def stands_alone(words: str, lower: str) -> bool:
    """Whether the words, joined by single blanks, stand between blanks in the text: a quick proof of a match."""
    start = lower.find(words)
    if start < 0:
        return False
    end = start + len(words)
    return (start == 0 or lower[start - 1] in _BLANKS) and (end == len(lower) or lower[end] in _BLANKS)


def has_phrase(words: list[str], phrase: list[str]) -> bool:
    """Whether the words of the phrase follow each other in the text."""
    first, size = phrase[0], len(phrase)
    return any(word == first and words[start : start + size] == phrase for start, word in enumerate(words))
