"""English of one thing: sentences are written for many, and here "1 pods are" becomes "1 pod is".

Only what our own sentences count is changed, so names and words from elsewhere stay as they are. What names one by its
number, such as "GPU 1", counts nothing.
"""

import re

_COUNTED = (
    "addresses alerts attempts blocks bytes characters clients connections DataNodes days devices diagnostics errors"
    " events failures files findings GPUs groups hits hours images incidents lines links locations messages metrics"
    " minutes namespaces names nodes notifications objects observations operators outages owners packets pages parts"
    " people pods processes queries ranks reasons repairs replicas reports requests rights rows rules samples searches"
    " seconds Services services shards slots stages steps targets tasks things timeouts times trainings values versions"
    " volumes weeks workers workloads"
)
_REGULAR = "end fit hold lack mount need remain report require run seem serve start take use wait"
VERBS = {
    "are": "is",
    "do": "does",
    "have": "has",
    "match": "matches",
    "were": "was",
    **{verb: f"{verb}s" for verb in _REGULAR.split()},
}
_NUMBERED = ("GPU", "XID", "link", "port", "rank", "stage", "step", "task", "line", "page", "pool")
_BETWEEN = (
    r"(?!(?:and|are|by|for|from|has|in|is|its|of|on|or|than|that|the|their|to|was|with) )[A-Za-z]+(?<!s) "
)
_NO_OBJECT = "(?!(?:1|and|can|could|may|must|not|that|which|will|would) )"
_OF = rf" (?:(?:in|of|on|to) (?:{_NO_OBJECT}[\w'./-]+ ){{1,4}}?)?"
_ONE = re.compile(
    "".join(f"(?<!{word} )" for word in (*_NUMBERED, *(word.capitalize() for word in _NUMBERED)))
    + rf"(?<![\w.,:/%=#-])1 (?P<between>(?:{_BETWEEN}){{0,2}}?)(?P<noun>{'|'.join(_COUNTED.split())})\b"
    rf"(?:(?P<of>{_OF})(?P<verb>{'|'.join(VERBS)})\b)?"
)


def agreeing(sentence: str) -> str:
    """Return the sentence with a noun, and its verb, in the singular where it counts one thing."""
    return _ONE.sub(_of_one, sentence) if "1 " in sentence else sentence


def _of_one(found: re.Match[str]) -> str:
    verb = f"{found['of']}{VERBS[found['verb']]}" if found["verb"] else ""
    return f"1 {found['between']}{_singular(found['noun'])}{verb}"


def _singular(noun: str) -> str:
    if noun == "people":
        return "person"
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return noun[:-2] if noun.endswith(("sses", "shes", "ches")) else noun[:-1]
