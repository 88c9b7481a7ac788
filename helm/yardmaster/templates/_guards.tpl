{{/*
Values that must never be installed. The schema refuses them too, but `helm template | kubectl apply` may skip it.
*/}}
{{- define "yardmaster.guards" -}}
{{- if gt (int .Values.replicaCount) 1 }}
{{- fail "replicaCount: at most one replica. The store is SQLite on one volume and there is no leader election yet, so two would post and run everything twice." }}
{{- end }}
{{- if not .Values.image.repository }}
{{- fail "image.repository: set the image's repository (build the image with the Dockerfile)." }}
{{- end }}
{{- if not .Values.secret.name }}
{{- fail "secret.name: set the name of an existing Secret with the tokens, at least the key `http-token`." }}
{{- end }}
{{- if not .Values.http.tokens }}
{{- fail "http.tokens: set at least one, because the server listens beyond loopback." }}
{{- end }}
{{- range $key := list "http" "store" }}
{{- if hasKey $.Values.settings $key }}
{{- fail (printf "settings.%s is set by the chart: use the value `http.tokens` or `persistence`." $key) }}
{{- end }}
{{- end }}
{{- include "yardmaster.no-secrets" (dict "at" "settings" "value" .Values.settings) }}
{{- $rights := .Files.Get "files/rights.yaml" | fromYaml }}
{{- range .Values.enabledCommands }}
{{- if not (hasKey $rights.act .) }}
{{- fail (printf "enabledCommands: `%s` is not a command that needs rights. Choose from: %s." . (keys $rights.act | sortAlpha | join ", ")) }}
{{- end }}
{{- end }}
{{- end }}

{{/* A ConfigMap must not hold a secret: each of these keys has a counterpart that names a file. */}}
{{- define "yardmaster.no-secrets" -}}
{{- $at := .at }}
{{- if kindIs "map" .value }}
{{- range $key, $value := .value }}
{{- if and (has $key (list "bot_token" "app_token" "signing_secret" "password" "credentials" "api_key" "token")) (kindIs "string" $value) }}
{{- fail (printf "%s.%s: secrets are not allowed in the values. Put it into the Secret and set `%s_file: /etc/yardmaster/secrets/<key>`." $at $key $key) }}
{{- end }}
{{- include "yardmaster.no-secrets" (dict "at" (printf "%s.%s" $at $key) "value" $value) }}
{{- end }}
{{- else if kindIs "slice" .value }}
{{- range $number, $value := .value }}
{{- include "yardmaster.no-secrets" (dict "at" (printf "%s[%d]" $at $number) "value" $value) }}
{{- end }}
{{- end }}
{{- end }}
