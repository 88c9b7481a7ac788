{{/* The settings file: the user's, with the chart's own store, port, tokens and rule files. */}}
{{- define "yardmaster.settings" -}}
{{- $tokens := list }}
{{- range .Values.http.tokens }}
{{- $tokens = append $tokens (dict "actor" .actor "token_file" (printf "/etc/yardmaster/secrets/%s" .key) "teams" (.teams | default list)) }}
{{- end }}
{{- $settings := deepCopy .Values.settings }}
{{- $_ := set $settings "http" (dict "listen" "0.0.0.0:9099" "auth" (dict "tokens" $tokens)) }}
{{- $_ = set $settings "store" (dict "url" "sqlite+aiosqlite:////var/lib/yardmaster/yard.db") }}
{{- if .Values.rules }}
{{- $rules := $settings.rules | default dict }}
{{- $files := $rules.files | default list }}
{{- range $name, $_ := .Values.rules }}
{{- $files = append $files (printf "/etc/yardmaster/rules/%s" $name) }}
{{- end }}
{{- $_ = set $rules "files" $files }}
{{- $_ = set $settings "rules" $rules }}
{{- end }}
{{- toYaml $settings }}
{{- end }}
