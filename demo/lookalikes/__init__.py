"""Look-alikes of Slack, Kubernetes and Elasticsearch, under the same contract tests as the real ones."""
