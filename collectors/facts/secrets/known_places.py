"""Secrets that stand in a known place: a Kubernetes Secret, a key's block, an address, a header."""

from collectors.facts.secrets.secret_pattern import IS, QUOTE, UNQUOTED, SecretPattern
from collectors.facts.secrets.secret_values import is_key_line, is_mixed, is_random

_SIGNED = r"(?:AWS4|GOOG4|OSS4|ACS3|TC3)-HMAC"  # a scheme: the signature comes in a parameter

PRIVATE_KEYS = (  # RFC 7468, RFC 4880; the lines of a key come one by one
    SecretPattern(
        r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:.*?-----END [A-Z0-9 ]{0,40}-----(?:\\n)?|.*)"
    ),
    SecretPattern(
        r"(?:^|[\s\"'])([A-Za-z0-9+/]{64}|[A-Za-z0-9+/]{70}|[A-Za-z0-9+/]{76})(?:(?m:$)|[\"'\\])", is_key_line
    ),
    SecretPattern(
        r"\b(?:MII[A-Za-z0-9+/]{40,}|MHcCAQEE[A-Za-z0-9+/]{16,}|MC4CAQAwBQYDK2VwBCIEI[A-Za-z0-9+/]{16,}"
        r"|b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/]{16,})={0,2}"
    ),
    SecretPattern(
        rf"{QUOTE}(?:d|p|q|dp|dq|qi|k){QUOTE}\s{{0,3}}:\s{{0,3}}{QUOTE}([\w-]{{43,}})"
    ),  # RFC 7517, a JWK
    SecretPattern(r"\bPrivate-MAC: ([0-9a-f]{32,})"),  # PuTTY
)

ADDRESSES = (  # RFC 3986; the parameters are those of the vendors' presigned URLs and webhooks
    SecretPattern(
        r"://[^\s/:@\"'?#]{1,256}:((?:[^\s\"'?/\d]|\d{1,5}[^\s\"'?/\d]|\d{6})[^\s\"'?]{0,512})@[\w.-]+(?:[:/]|$)"
    ),
    SecretPattern(r"://[^\s/:@\"'?#]{0,256}:([^\s/\"'?]{1,512})@"),
    SecretPattern(r"://([^\s/:@\"']{16,256})@", is_random),
    SecretPattern(r"\bjdbc:oracle:\w+:[^\s/@]{1,64}/([^\s@]{1,128})@"),
    SecretPattern(r"[\w.-]+:([^\s:@\"'/]{1,128})@(?:(?:tcp|unix|udp)\(|https?://)"),
    SecretPattern(
        r"\bSharedAccessSignature=([^;,\s\"']{16,})|(?:^|[\s,?&])(?:Signature|Credential)=([^&;,\s\"']{16,})"
    ),
    SecretPattern(
        r"(?i)[?&;#](?:sig|signature|x-(?:amz|goog|oss)-(?:signature|credential|security-token)|awsaccesskeyid"
        r"|ossaccesskeyid|q-ak|q-signature|security-token|secret|password|passwd|pwd|[\w-]{0,20}_?token"
        r"|client_secret|api_?key)=([^&;\s\"'<>#]+)"
    ),
    SecretPattern(r"[?&#](?:key|code|auth)=([^&;\s\"'<>#]{16,})", is_random),
    SecretPattern(r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]+)"),
    SecretPattern(r"(?:feishu\.cn|larksuite\.com)/open-apis/bot/v\d/hook/([\w-]+)"),
    SecretPattern(r"discord(?:app)?\.com/api/webhooks/([\w/-]+)"),
    SecretPattern(r"webhook\.office\.com/webhookb?\d?/([^\s\"'?#]+)"),
)

HEADERS = (  # RFC 9110, RFC 6265, and those of Vault, GitLab, Azure, AWS
    SecretPattern(
        rf"(?i)authorization(?:{QUOTE})?{IS}(?:{QUOTE})?(?:apikey|basic|bearer|geniekey|negotiate|ntlm|token)"
        r"[ \t]{1,3}([^\s\"'\\,]+)"
    ),
    SecretPattern(rf"(?i)authorization(?:{QUOTE})?{IS}(?:{QUOTE})?([^\s\"'\\,]+)", is_mixed, unless=_SIGNED),
    SecretPattern(r"(?i)\bdigest\s[^\n]*?\bresponse=\\{0,7}\"([^\"\\]+)"),
    SecretPattern(r"(?i)\b(?:apikey|basic|bearer|geniekey)[ \t]{1,3}([\w+/.~=-]{8,})", is_mixed),
    SecretPattern(r"(?i)\bAUTH (?:PLAIN|LOGIN|CRAM-MD5) ([\w+/]{8,}={0,2})"),  # RFC 4954
    SecretPattern(
        rf"(?i)\b(?:x-api-key|x-auth-token|x-vault-token|private-token|job-token|x-auth-key"
        rf"|ocp-apim-subscription-key|x-amz-security-token)(?:{QUOTE})?[ \t]{{0,3}}:[ \t]{{0,3}}({UNQUOTED})"
    ),
    SecretPattern(rf"(?i)\bset-cookie(?:{QUOTE})?:\s{{0,3}}(?:{QUOTE})?([^\s=;]+=[^\"'\n;]+)"),
    SecretPattern(rf"(?i)(?:^|[^-\w])cookie(?:{QUOTE})?:\s{{0,3}}(?:{QUOTE})?([^\s=;]+=[^\"'\n]+)"),
    SecretPattern(r"\bcurl\b[^\n|]*?\s(?:-b|--cookie)[ =]\\{0,7}[\"']?[^\"'\s=]+=([^\"'\n\\]+)"),
)

# The values of a Kubernetes Secret, which are searched for only where there is one.
IS_SECRET_OBJECT = rf"\bkind(?:{QUOTE})?\s{{0,3}}:\s{{0,3}}(?:{QUOTE})?Secret\b"
SECRET_DATA = SecretPattern(
    rf"(?:\bdata|\bstringData)(?:{QUOTE})?\s{{0,3}}:\s{{0,3}}(\{{[^{{}}]*\}}?)"  # JSON
    r"|(?m:^)[ \t]*(?:data|stringData):[ \t]*\n((?:[ \t]+[^\n]*(?:\n|$))+)",  # YAML
    bool,
)
