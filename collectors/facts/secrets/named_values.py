"""Secrets that a name tells: variables, settings, JSON, YAML, INI, Python's repr, prose; in English and Chinese."""

from collections.abc import Mapping, Sequence

from collectors.facts.secrets.secret_pattern import IS, QUOTE, QUOTED, UNQUOTED, SecretPattern
from collectors.facts.secrets.secret_values import is_mixed, is_no_number, is_no_prose, is_random

_NEXT = r"[&,;|](?:[\w.%-]+[=:]|\s|$)|[,;)\]}]+$|[)\]}][,\s]|\\[nrt]"  # where a bare value ends
_NEXT_FIELD = r"[,;，；。]|\s\s|\s[\w.-]+[:=]|[)\]}]+$|\\[nrt]"  # where words end
_EQUALS = r"[ \t]{0,3}:?=>?[ \t]{0,3}"
_SPACE = r"[ \t]{1,3}"

# Names whose value is a secret whatever it is, and names whose value may also be a word or a number.
_PASSWORD = (
    r"(?:pass[ _-]?(?:word|wd|phrase|code)s?\d{0,2}(?:[_-](?:in|new|old|b64|confirmation))?|[_.-]pass|userpass|bindpw"
    r"|[_-]pw|[_-]pwd|mysql_pwd|sshpass)"
)
_KEY = (
    r"(?:(?:access|account|adm(?:in)?|api|app(?:lication)?|auth|client|encryption|fernet|hmac|license|master|"
    r"preshared|private|routing|secret|service|session|shared|shared[_-]?access|signing|storage|subscription|user|wandb)"
    r"[_.-]?(?:key|sk)(?:[_-]?(?:id|data|secret|b64))?|authkey|keytab(?:_b64)?)"
)
_SECRET = r"(?:secret(?:[_-]?id)?|credentials?|identity[_-]?token|[_-]pat|dsn_secret)"
_TOKEN = r"(?:token|auth[_-]?token|_auth|x-registry-auth|sonar\.login)"
_ANY = rf"(?:{_PASSWORD}|{_KEY}|{_SECRET}|{_TOKEN})"
_KEYED = rf"(?:{_KEY}|{_SECRET})"
_CHINESE = r"(?:密码|口令|密钥|令牌|私钥|授权码)"
_WORD = r"[\w.-]{0,40}"  # the rest of a name, in front
# Tokens of language models and of parsers, which no one hides.
_WORDS = (
    r"(?i)(?:^|_)(?:audio|bos|cls|eos|image|mask|next|pad|sep|special|start|stop|trigger|unk|video)_token\b"
)

NAMED: Mapping[str, Sequence[SecretPattern]] = {
    "passwords": (
        SecretPattern(rf"(?i){_PASSWORD}{QUOTE}{IS}(?:u?(?:{QUOTED})|(\d+))"),  # JSON, a repr
        SecretPattern(rf"(?i){_PASSWORD}{QUOTE}{IS}({UNQUOTED})", is_mixed, _NEXT),
        SecretPattern(rf"(?i){_PASSWORD}{IS}u?(?:{QUOTED})"),
        SecretPattern(rf"(?i){_PASSWORD}[ \t]{{0,3}}(?::?=>?|:)({UNQUOTED})", ends=_NEXT),
        SecretPattern(rf"(?i){_PASSWORD}[ \t]{{0,3}}=>?{_SPACE}({UNQUOTED})", is_no_prose, _NEXT),
        SecretPattern(rf"(?i){_PASSWORD}[ \t]{{0,3}}:{_SPACE}([^\s\"'][^\n\"']*)", is_no_prose, _NEXT_FIELD),
        SecretPattern(rf"(?i)(?:\b|_)(?:pass|pw|pwd)=({UNQUOTED})", is_no_number, _NEXT),
        SecretPattern(rf"(?i){_PASSWORD}(?: (?:is|was))?:?{_SPACE}({UNQUOTED})", is_mixed),
        SecretPattern(r"(?i)\b(?:identified by|password) '([^'\n]+)'"),  # SQL
        SecretPattern(
            rf"{_CHINESE}(?:{QUOTE})?[ \t]?(?:为|是)?[ \t]?[:：=][ \t]?\\{{0,7}}[\"']?([!-~]{{4,}})",
            ends=r"[\"']",
        ),
        SecretPattern(rf"{_CHINESE}[ \t]?(?:为|是)[ \t]?([!-~]{{4,}})", is_mixed),
    ),
    "keys and tokens": (
        SecretPattern(
            rf"(?i){_WORD}(?:{_KEYED}|{_TOKEN}){QUOTE}{IS}u?(?:{QUOTED})", is_no_number, unless=_WORDS
        ),
        SecretPattern(rf"(?i){_WORD}(?:{_KEYED}|{_TOKEN}){QUOTE}{IS}({UNQUOTED})", is_mixed, _NEXT, _WORDS),
        SecretPattern(rf"(?i){_KEYED}{IS}u?(?:{QUOTED})", is_no_number),
        SecretPattern(rf"(?i){_WORD}{_TOKEN}{_EQUALS}u?(?:{QUOTED})", is_no_number, unless=_WORDS),
        SecretPattern(rf"(?i){_TOKEN}[ \t]{{0,3}}:[ \t]{{0,3}}u?(?:{QUOTED})", is_mixed),
        SecretPattern(rf"(?i){_WORD}(?:{_KEYED}|{_TOKEN})(?::?=>?)({UNQUOTED})", is_no_number, _NEXT, _WORDS),
        SecretPattern(rf"(?i)(?:{_KEY}|[_-]secret){IS}({UNQUOTED})", is_no_prose, _NEXT),
        SecretPattern(rf"(?i)(?:{_SECRET}|{_TOKEN}){IS}({UNQUOTED})", is_mixed, _NEXT),
    ),
    "short names": (
        SecretPattern(rf"\b[A-Z][A-Z0-9_]*_(?:AK|KEY|PAT|SK|PASS)=\\{{0,7}}[\"']?({UNQUOTED})", is_random),
        SecretPattern(rf"\b(?:ak|sk)[=:][ \t]?({UNQUOTED})", is_random),
        SecretPattern(
            rf"(?i)(?:{_KEY}|{_TOKEN}|api key|signing key|requirepass|masterauth|\bauth){_SPACE}({UNQUOTED})",
            is_mixed,
        ),
        SecretPattern(
            r"(?i)\b(?:api|access|app|encryption|master|private|recovery|secret|shared|signing|unseal)[ _]key(?: \d)?"
            rf"[^\n:=]{{0,20}}[:=][ \t]{{0,3}}\\{{0,7}}[\"']?({UNQUOTED})",
            is_random,
        ),
    ),
    "flags and fields": (
        SecretPattern(
            rf"(?i)(?:^|[\s\"'\[,])--?[\w-]*(?:{_ANY}|certificate-key)[ =](?:{QUOTED}|([^\s\"'\\<>-][^\s\"'\\<>]*))"
        ),
        SecretPattern(rf"--[\w-]*key[ =]\\{{0,7}}[\"']?({UNQUOTED})", is_random),
        SecretPattern(rf"(?i)--[\w-]*(?:{_ANY}|key){QUOTE}[ \t]{{0,3}},[ \t]{{0,3}}(?:{QUOTED})"),  # JSON
        SecretPattern(rf"(?i){_ANY}{QUOTE}\]{_EQUALS}(?:{QUOTED})"),  # os.environ
        SecretPattern(  # the environment of a container, XML
            rf"(?i)\b(?:name|key){QUOTE}?[=:]\s{{0,3}}(?:{QUOTE})?[\w.-]*{_ANY}(?:{QUOTE})?[,\s]{{1,40}}"
            rf"(?:{QUOTE})?value(?:{QUOTE})?[=:]\s{{0,3}}(?:{QUOTED}|({UNQUOTED}))"
        ),
        SecretPattern(rf"(?i)<\w*(?:{_PASSWORD}|secret|token)>([^<\n]+)<"),
        SecretPattern(
            rf"{QUOTE}auth{QUOTE}\s{{0,3}}:\s{{0,3}}{QUOTE}([\w+/=]{{8,}}){QUOTE}"
        ),  # docker's config.json
        SecretPattern(
            rf"{QUOTE}username{QUOTE}\s{{0,3}}:[^{{}}\n]*?{QUOTE}key{QUOTE}\s{{0,3}}:\s{{0,3}}{QUOTE}(\w{{16,}})"
        ),  # kaggle.json
    ),
}
