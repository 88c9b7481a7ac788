"""The type of a pattern of secrets, and the pieces of expressions that several kinds share."""

from dataclasses import dataclass

from collectors.facts.secrets.secret_values import Judge, is_set


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """An expression of RE2. Each of its groups is a secret; without a group, all that it matches is one.

    `judge`: says of a value that it is not a secret after all. `ends` cuts the secret where it matches in it: what
    follows it in a query, a DSN or a list. `unless`: where it is found in the match, there is no secret.
    """

    expression: str
    judge: Judge = is_set
    ends: str = ""
    unless: str = ""


QUOTE = r"\\{0,7}[\"']"  # also escaped, as in JSON inside JSON
QUOTED = r"\\{0,7}\"((?:[^\"\\\n]|\\[^\"\n])*)(?:\\{0,7}\"|(?m:$))|\\{0,7}'([^'\n]*)(?:'|(?m:$))"
UNQUOTED = r"[^\s\"'\\<>]+"
IS = r"[ \t]{0,3}(?::?=>?|:)[ \t]{0,3}"
