{{/*
What must never be installed. The schema says the same, but `helm template | kubectl apply` may skip it.
*/}}
{{- define "yardmaster.guards" -}}
{{- if gt (int .Values.replicaCount) 1 }}
{{- fail "replicaCount: one replica at most. The store is SQLite on one volume and there is no leader election yet, so two would tell and do everything twice." }}
{{- end }}
{{- if not .Values.image.repository }}
{{- fail "image.repository: say where the image is (the Dockerfile of the repository builds it)." }}
{{- end }}
{{- if not .Values.secret.name }}
{{- fail "secret.name: name the existing Secret that holds the tokens; its key `http-token` at least." }}
{{- end }}
{{- if not .Values.http.tokens }}
{{- fail "http.tokens: at least one, for the server listens beyond loopback." }}
{{- end }}
{{- range $key := list "http" "store" }}
{{- if hasKey $.Values.settings $key }}
{{- fail (printf "settings.%s is the chart's own: use the value `http.tokens` or `persistence`." $key) }}
{{- end }}
{{- end }}
{{- include "yardmaster.no-secrets" (dict "at" "settings" "value" .Values.settings) }}
{{- $rights := .Files.Get "files/rights.yaml" | fromYaml }}
{{- range .Values.enabledCommands }}
{{- if not (hasKey $rights.act .) }}
{{- fail (printf "enabledCommands: there is no command `%s` that needs rights. There are: %s." . (keys $rights.act | sortAlpha | join ", ")) }}
{{- end }}
{{- end }}
{{- end }}

{{/* A ConfigMap is no place for a secret: each has a sister that names a file. */}}
{{- define "yardmaster.no-secrets" -}}
{{- $at := .at }}
{{- if kindIs "map" .value }}
{{- range $key, $value := .value }}
{{- if and (has $key (list "bot_token" "app_token" "signing_secret" "password" "credentials" "api_key" "token")) (kindIs "string" $value) }}
{{- fail (printf "%s.%s: a secret does not belong into the values. Put it into the Secret and write `%s_file: /etc/yardmaster/secrets/<key>`." $at $key $key) }}
{{- end }}
{{- include "yardmaster.no-secrets" (dict "at" (printf "%s.%s" $at $key) "value" $value) }}
{{- end }}
{{- else if kindIs "slice" .value }}
{{- range $number, $value := .value }}
{{- include "yardmaster.no-secrets" (dict "at" (printf "%s[%d]" $at $number) "value" $value) }}
{{- end }}
{{- end }}
{{- end }}
