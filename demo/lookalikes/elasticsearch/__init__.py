"""The demo's Elasticsearch: the shape of its log documents, and a look-alike of the server."""
