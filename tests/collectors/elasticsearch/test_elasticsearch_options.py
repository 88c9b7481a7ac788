"""Options of the Elasticsearch source are checked when they are created."""

import pytest

from collectors.sources.elasticsearch.options import (
    DEFAULT_FIELDS,
    Credentials,
    ElasticsearchOptions,
    address_of,
    fields_with,
)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://logs:9200", "http://logs:9200"),
        ("https://logs.example.com", "https://logs.example.com:443"),
        ("http://logs.example.com/", "http://logs.example.com:80"),
        ("https://logs.example.com:9243/es/", "https://logs.example.com:9243/es"),
        ("http://[::1]:9200", "http://[::1]:9200"),
    ],
)
def test_an_address_gets_its_port(url: str, address: str) -> None:
    assert address_of(url) == address


@pytest.mark.parametrize("url", ["logs:9200", "ftp://logs", "http://", ""])
def test_an_invalid_address_is_an_error(url: str) -> None:
    with pytest.raises(ValueError, match="write it like https://"):
        ElasticsearchOptions(urls=(url,))


def test_an_address_is_required() -> None:
    with pytest.raises(ValueError, match="is empty"):
        ElasticsearchOptions(urls=())


def test_a_password_in_the_address_is_an_error_that_does_not_contain_it() -> None:
    with pytest.raises(ValueError, match="basic_auth") as caught:
        ElasticsearchOptions(urls=("http://user:hunter2@logs:9200",))
    assert "hunter2" not in str(caught.value)


def test_credentials_are_not_in_the_repr() -> None:
    shown = repr(Credentials(api_key="k-secret", username="yard", password="p-secret", bearer="b-secret"))
    assert "secret" not in shown
    assert "yard" in shown


def test_own_fields_replace_the_default_fields_of_a_label() -> None:
    fields = fields_with({"node": "my.node", "rack": ["labels.rack", "rack"]})
    assert fields["node"] == ("my.node",)
    assert fields["rack"] == ("labels.rack", "rack")
    assert fields["message"] == DEFAULT_FIELDS["message"]
