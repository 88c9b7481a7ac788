"""Secrets are redacted, other text is not, and no text takes long."""

import json
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.facts.redaction import MARK, Redactor

CLEAN = Redactor()

# header.payload.signature
JWT = "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl"
KEY_BLOCK = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nabcdefgh\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abc123def456", "abc123def456"),
        ("authorization: Basic dTpw", "dTpw"),
        ('{"Authorization": "Bearer abcdef"}', "abcdef"),
        (r"{\"authorization\":\"Token abcdef\"}", "abcdef"),
        ("sent bearer AbCdEf0123456789 to it", "AbCdEf0123456789"),
        ("ApiKey VnVhQ2ZHY0JDZGJrU==", "VnVhQ2ZHY0JDZGJrU"),
        ("password=hunter2", "hunter2"),
        ("PASSWORD: hunter2", "hunter2"),
        ("db_password = hunter2", "hunter2"),
        ("MYSQL_ROOT_PASSWORD=hunter2 next", "hunter2"),
        ('"password": "two words here"', "words"),
        (r"\"password\":\"hunter2\"", "hunter2"),
        ("passwd='it is this'", "this"),
        ('password="never closed', "closed"),
        ("--password hunter2", "hunter2"),
        ("--db-password=hunter2", "hunter2"),
        ("--token abc", "abc"),
        ("WANDB_API_KEY=0123456789abcdef", "0123456789abcdef"),
        ("api-key: abc-def", "abc-def"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "wJalrXUtnFEMI"),
        ("client_secret=s3cr3t&x=1", "s3cr3t"),
        ("key AKIAIOSFODNN7EXAMPLE used", "AKIAIOSFODNN7EXAMPLE"),
        ("xoxb-123456789012-abcdefABCDEF", "abcdefABCDEF"),
        ("xapp-1-A111-222-abcdef", "abcdef"),
        ("https://hooks.slack.com/services/T000/B000/XXXXYYYY", "XXXXYYYY"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "0123456789abcdefghij"),
        ("hf_abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz"),
        ("postgresql://yard:hunter2@db:5432/x", "hunter2"),
        ("redis://:hunter2@cache", "hunter2"),
        ("https://user:p@ss:w0rd@host/path", "w0rd"),
        (f"token is {JWT}.", "c2lnbmF0dXJl"),
        (KEY_BLOCK, "MIIEpAIBAAKCAQEA7"),
        (KEY_BLOCK.replace("\n", "\\n"), "MIIEpAIBAAKCAQEA7"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEpAIBAA", "MIIEpAIBAA"),
        ("bootstrap token abcdef.0123456789abcdef", "0123456789abcdef"),
        ('{"kind":"Secret","data":{"tls.crt":"TFMwdEx","x":"eHg="}}', "TFMwdEx"),
        (r"{\"kind\":\"Secret\",\"stringData\":{\"x\":\"opensesame\"}}", "opensesame"),
        ("kind: Secret\nmetadata:\n  name: a\ndata:\n  a: b3Blbg==\n  b: c2VzYW1l\n", "c2VzYW1l"),
    ],
)
def test_a_secret_is_redacted(text: str, secret: str) -> None:
    assert secret in text
    for surrounding in (text, f"before {text}", f"before {text} after", f"[{text}]", f"a\n{text}\nb"):
        cleaned = CLEAN.clean(surrounding)
        assert secret not in cleaned
        assert MARK in cleaned


@pytest.mark.parametrize(
    "text",
    [
        "NVRM: Xid (PCI:0000:b3:00): 79, pid='<unknown>', GPU has fallen off the bus.",
        "throughput 1234 tokens/s, tokens=4096, max_tokens: 2048, tokens_per_second=12.5",
        "E0916 12:34:56.789012 1 token_manager.go:138] rotating tokens",
        "basic checks passed; bearer of bad news",
        'failed to get secret "registry": secrets "registry" not found',
        "http://host:8080/path?x=1 and a@b.example.com",
        "loss=0.12 step=3 lr=1e-4 grad_norm=0.3",
        "训练任务失败：显存不足",
        "MountVolume.SetUp failed for volume pvc-3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "kind: ConfigMap\ndata:\n  a: b\n",
        "",
    ],
)
def test_a_line_without_secrets_is_unchanged(text: str) -> None:
    assert CLEAN.clean(text) == text


def test_the_text_around_a_secret_is_unchanged() -> None:
    assert CLEAN.clean("user=ana password=x host=db") == f"user=ana password={MARK} host=db"
    assert CLEAN.clean("postgresql://yard:x@db:5432/y") == f"postgresql://yard:{MARK}@db:5432/y"


def test_own_patterns_add_to_the_defaults() -> None:
    own = Redactor([r"EMP-\d+", r"(badge )\d+"])
    assert own.clean("EMP-77 has badge 1234 and password=x") == f"{MARK} has badge {MARK} and password={MARK}"


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "not a regular expression"),
        ("a*", "matches an empty text"),
        ("a(?=b)", "not a regular expression"),
    ],
)
def test_an_invalid_pattern_is_named_in_the_error(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        Redactor([pattern])
    assert f"`{pattern}`" in str(caught.value)


def test_a_long_text_is_cut_and_marked() -> None:
    assert CLEAN.clean("word " * 100_000)[-1] == "…"
    assert len(CLEAN.clean("word " * 100_000)) <= 8192
    assert len(CLEAN.clean("x" * 100_000)) <= 8192
    assert Redactor(limit=10).clean("0123456789") == "0123456789"
    assert Redactor(limit=10).clean("01234567890") == "012345678…"


@pytest.mark.parametrize("before", [8180, 8190, 12_270, 12_280, 12_285, 12_290])
def test_no_part_of_a_secret_across_the_cut_is_left(before: int) -> None:
    text = "x " * (before // 2) + "AKIAIOSFODNN7EXAMPLE and more"
    assert "AKIA" not in CLEAN.clean(text)


@pytest.mark.parametrize("count", [1, 300])
def test_a_text_that_shrinks_does_not_end_in_half_a_secret(count: int) -> None:
    text = ("password=" + "y" * 200 + " ") * count + "AKIAIOSFODNN7EXAMPLE"
    assert "AKIA" not in CLEAN.clean(text)


@pytest.mark.parametrize(
    "piece", ["a", "eyJ", "password=", 'password="', "http://", "http://a:", "-", "--a-", "token ", "authorization: ",
              "-----BEGIN PRIVATE KEY-----", "bearer ", "xoxb-", "kind: Secret data: {", "\\", "'", "a.", "data:\n "]
)  # fmt: skip
def test_repetition_takes_linear_time(piece: str) -> None:
    """With a pattern that is not linear, this would take minutes."""
    assert len(CLEAN.clean(piece * 20_000)) <= 8192


@given(st.text())
def test_any_text_is_cleaned(text: str) -> None:
    cleaned = CLEAN.clean(text)
    assert len(cleaned) <= max(8192, len(text) + 2_000)


_SECRETS = st.text(
    alphabet="abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=16, max_size=40
)
_FORMS = st.sampled_from(
    [
        "password={}",
        "password: {}",
        '"password": "{}"',
        "token={}",
        "AWS_SECRET_ACCESS_KEY={}",
        "Authorization: Bearer {}",
        "Authorization: Basic {}",
        "http://u:{}@host",
        "--api-key {}",
        "xoxb-{}",
    ]
)
_AROUND = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60)


@given(_AROUND, _FORMS, _SECRETS, _AROUND)
def test_known_forms_are_found_in_any_text(before: str, form: str, secret: str, after: str) -> None:
    text = f"{before}\n{form.format(secret)} {after}"
    cleaned = CLEAN.clean(text)
    if secret not in before and secret not in after:
        assert secret not in cleaned


@given(
    st.dictionaries(st.sampled_from(["password", "token", "api_key"]), _SECRETS, min_size=1),
    st.integers(1, 3),
)
def test_secrets_in_json_inside_json_are_found(secrets: dict[str, str], depth: int) -> None:
    text = json.dumps(secrets)
    for _ in range(depth - 1):
        text = json.dumps({"log": text})
    cleaned = CLEAN.clean(text)
    assert not any(secret in cleaned for secret in secrets.values())


@given(_SECRETS)
def test_values_of_a_secret_object_are_found(value: str) -> None:
    encoded = b64encode(value.encode()).decode()
    assert encoded not in CLEAN.clean(
        json.dumps({"apiVersion": "v1", "kind": "Secret", "data": {"some.key": encoded}})
    )
