"""Secrets that command lines carry, after the manual pages of the programs."""

from collectors.facts.secrets.secret_pattern import UNQUOTED, SecretPattern
from collectors.facts.secrets.secret_values import is_mixed, is_no_number, is_random


def _of(program: str, flag: str, value: str = rf"\\{{0,7}}[\"']?({UNQUOTED})") -> str:
    """Return the expression for the value of a flag of a program."""
    return rf"\b(?:{program})\b[^\n|]*?[\s\"'](?:{flag}){value}"


COMMAND_LINES = (  # their manual pages
    SecretPattern(
        _of("curl|wget", r"-u|--user|-U|--proxy-user", r"[ =]?\\{0,7}[\"']?[^\s:\"'$]+:([^\s\"'\\]+)")
    ),
    SecretPattern(
        r"\s(?:-u|-a|--user|--proxy-user|--(?:src-|dest-)?creds)[ =]?\\{0,7}[\"']?[^\s:\"'$/]+:([^\s\"'\\]+)",
        is_mixed,
    ),
    SecretPattern(
        _of(
            r"(?:az|buildah|crane|docker|helm registry|nerdctl|oras|podman|skopeo) login",
            r"-p[ =]?|--password[ =]",
        )
    ),
    SecretPattern(_of(r"sshpass|twine|useradd|mongo(?:sh)?|cqlsh", r"-p[ =]?|--password[ =]"), is_no_number),
    SecretPattern(_of(r"(?:mysql|mariadb)(?:dump|admin|import|show)?", r"-p|--password=")),
    SecretPattern(_of(r"redis-cli|keydb-cli|valkey-cli", r"-a |--pass[ =]")),
    SecretPattern(_of(r"ldap\w+", r"-w ?")),
    SecretPattern(_of(r"ipmitool|unzip|zip", r"-P ?")),
    SecretPattern(_of(r"7za?", r"-p")),
    SecretPattern(_of(r"snmp\w+", r"-[Ac] ?", rf"({UNQUOTED})(?:\s+-X\s+({UNQUOTED}))?")),
    SecretPattern(_of(r"openssl|ossutil(?:64)?|obsutil|swanlab login", r"-k[ =]")),
    SecretPattern(r"\s-[ik][ =]([\w+/]{16,})", is_random),
    SecretPattern(r"\bpass:([^\s\"'\\]{4,})"),  # openssl-passphrase-options
    SecretPattern(_of(r"smbclient", r"-U", r"[ =]?\\{0,7}[\"']?[^\s%\"']+%([^\s\"'\\]+)")),
    SecretPattern(_of(r"iscsiadm", r"-v", r"\s+(\S+)"), is_mixed),
    SecretPattern(r"\bmc (?:alias|config host) (?:set|add) \S+ \S+ (\S+) (\S+)"),
    SecretPattern(r"\bhtpasswd -b\w* \S+ \S+ (\S+)"),
    SecretPattern(r"\bwandb login (?:--\w+ )*(\w{20,})"),
    SecretPattern(r"(?i)\b(?:imap|weka)\b[^\n]*?\blogin \S+ \\{0,7}[\"']?([^\s\"'\\]+)"),
    SecretPattern(
        r"\becho (?:-n )?\\{0,7}[\"']?(?:\w+:)?([^\s\"'|\\]+)\\{0,7}[\"']? *\| *(?:sudo -S|chpasswd|kinit|cryptsetup)"
    ),
    SecretPattern(r"<\(echo ([^\s)]+)\)"),
    SecretPattern(r"/user:\S+ ([^\s/]\S*)"),
    SecretPattern(r"--from-literal[ =]\\{0,7}[\"']?[\w.-]+=([^\s\"'\\]+)"),
    SecretPattern(r"\bwandb\.login\([^)\n]*?key=\\{0,7}[\"']([^\"'\\]+)"),
)
