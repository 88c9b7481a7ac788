"""Tokens of a typed line: words without their decoration; Chinese, which has no spaces, one character each."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from commands.core.parameter_types import DECORATION

MAX_WORDS = 40  # of a line that is not a command; who writes more is writing to somebody else
_RUNS = re.compile(r"[\u3400-\u9fff]|[^\u3400-\u9fff]+")
_APART = re.compile(r"[,，、;；]+")
_CONTRACTIONS = {
    "whats": ("what", "is"),
    "whos": ("who", "is"),
    "hows": ("how", "is"),
    "wheres": ("where", "is"),
    "oncall": ("on", "call"),
    "on-call": ("on", "call"),
    "i'm": ("i", "am"),
    "im": ("i", "am"),
    "i've": ("i", "have"),
    "i'll": ("i",),
}
# They carry no meaning of their own. A phrase loses them as a line does, so that both are compared without them.
_FILLERS = frozenset(
    word
    for line in (
        "a an the is are was were be am me my we us our you your i it its this that there does",
        "of on in at with about from to and or now currently all some any so just right",
        "please pls plz hey hi tell let lets want need see thanks thank thx ty rn sorry sry but also else",
        "has have had having been being will kindly asap quickly really actually maybe there them they guys",
        "anybody anyone someone somebody one as than only",
    )
    for word in line.split()
)
_CHINESE_FILLERS = (
    *(
        "是不是",
        "行不行",
        "行不",
        "行吗",
        "好吗",
        "谢谢",
        "麻烦",
        "可以",
        "赶紧",
        "一起",
        "两台",
        "这条",
        "那条",
        "还在",
        "一直",
    ),
    *("看一下", "有没有", "所有", "还有", "帮我", "一下", "看看", "给我", "现在", "目前", "一个", "这个"),
    *"请帮我的了吗呢吧呀啊嘛们把到是在看给想要有和上里都个成号只就先也",
)
_FILLERS_BY_SIGN = {
    sign: tuple(one for one in _CHINESE_FILLERS if one.startswith(sign))
    for sign in {one[0] for one in _CHINESE_FILLERS}
}
_STEM = 4  # letters of a word that has an ending
_IRREGULAR = {
    **dict.fromkeys(("broke", "broken"), "break"),
    **dict.fromkeys(("froze", "frozen"), "freeze"),
    **dict.fromkeys(("died", "dead"), "die"),
    **dict.fromkeys(("wrote", "written"), "write"),
    **dict.fromkeys(("held", "holding"), "hold"),
    **dict.fromkeys(("took", "taken"), "take"),
    **dict.fromkeys(("went", "gone"), "go"),
    "ran": "run",
    "stuck": "stick",
    "said": "say",
    "got": "get",
    "fell": "fall",
}
# They show something. With another word they add nothing to it: "show nodes".
SHOWING = frozenset({"show", "list", "get", "display", "view", "describe", "give", "print", "check", "query"})


@dataclass(frozen=True, slots=True)
class LineToken:
    """A word. `key` is what is compared, in lower case; `text` is as typed."""

    key: str
    text: str
    is_corrected: bool = False  # `key` is what was probably meant


def has_quoted_text(words: Iterable[str]) -> bool:
    """Return whether one of the words is a quoted text of several."""
    return any(sign.isspace() for word in words for sign in word)


def tokens_of(words: Iterable[str]) -> list[LineToken]:
    """Return the tokens of a line's words: apart at commas, bare of quotes and full stops."""
    found: list[LineToken] = []
    for word in words:
        for piece in _APART.split(unicodedata.normalize("NFKC", word)):
            for run in _RUNS.findall(piece):
                found += _tokens_of_run(run)
    return found


def _tokens_of_run(run: str) -> list[LineToken]:
    bare = run.strip(DECORATION)
    if bare.lower().endswith("'s"):
        owner = bare[:-2].strip(DECORATION)
        is_question = owner.lower() in ("what", "who", "how", "where")
        return [LineToken(owner.lower(), owner), *([LineToken("is", "is")] if is_question else [])]
    parts = _CONTRACTIONS.get(bare.lower())
    if parts:
        return [LineToken(part, part) for part in parts]
    return [LineToken(bare.lower(), bare)] if bare else []


def words_only(tokens: Sequence[LineToken]) -> list[LineToken]:
    """Return the tokens without fillers, unless nothing else is left."""
    left: list[LineToken] = []
    at = 0
    while at < len(tokens):
        length = _filler_at(tokens, at)
        if length:
            at += length
        elif tokens[at].key in _FILLERS:
            at += 1
        else:
            left.append(tokens[at])
            at += 1
    return left


def _filler_at(tokens: Sequence[LineToken], at: int) -> int:
    """Return how many tokens the Chinese filler that begins here has; 0 if none does."""
    for phrase in _FILLERS_BY_SIGN.get(tokens[at].key, ()):
        if [token.key for token in tokens[at : at + len(phrase)]] == list(phrase):
            return len(phrase)
    return 0


def is_same_word(one: str, other: str) -> bool:
    """Return whether the words are the same, but for a plural's `s`."""
    return singular(one) == singular(other)


def is_form_of(word: str, own: str) -> bool:
    """Return whether a word is another in any tense: `muted` is `mute`, but `cordon` is not `cordoned`, a state."""
    return is_same_word(word, own) or (
        stem_of(word) == stem_of(own) and (_has_tense(word) or not _has_tense(own))
    )


def _has_tense(word: str) -> bool:
    return stem_of(word) != singular(word).removesuffix("e")


@lru_cache(maxsize=8192)
def stem_of(word: str) -> str:
    """Return the word without its plural and its tense: `stopped`, `stops` and `stopping` are `stop`."""
    word = singular(word)
    word = _IRREGULAR.get(word, word)
    if not word.isascii() or not word.isalpha() or len(word) < _STEM:
        return word
    ending = next((one for one in ("ing", "ied", "ed") if word.endswith(one)), "")
    left = word.removesuffix(ending)
    if ending and len(left) >= _STEM - 1:
        is_doubled = left[-1] == left[-2] and left[-1] not in "els"
        word = f"{left}y" if ending == "ied" else left[:-1] if is_doubled else left
    return word.removesuffix("e") if len(word) >= _STEM else word


def singular(word: str) -> str:
    """Return a word without the `s` of a plural."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
