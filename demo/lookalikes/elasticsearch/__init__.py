"""The Elasticsearch of the cluster in a box: how its log documents look, and a look-alike of the server."""
