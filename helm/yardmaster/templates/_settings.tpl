{{/* The settings file: the user's settings, with the chart's store, port, tokens and rule files. */}}
{{- define "yardmaster.settings" -}}
{{- $tokens := list }}
{{- range .Values.http.tokens }}
{{- $tokens = append $tokens (dict "actor" .actor "token_file" (printf "/etc/yardmaster/secrets/%s" .key) "teams" (.teams | default list)) }}
{{- end }}
{{- $settings := deepCopy .Values.settings }}
{{- $_ := set $settings "http" (dict "listen" "0.0.0.0:9099" "auth" (dict "tokens" $tokens)) }}
{{- $_ = set $settings "store" (dict "url" "sqlite+aiosqlite:////var/lib/yardmaster/yard.db") }}
{{- $files := list }}
{{- range $name, $_ := include "yardmaster.rules" . | fromYaml }}
{{- $files = append $files (printf "/etc/yardmaster/rules/%s" $name) }}
{{- end }}
{{- if $files }}
{{- $rules := $settings.rules | default dict }}
{{- $_ = set $rules "files" (concat ($rules.files | default list) $files) }}
{{- $_ = set $settings "rules" $rules }}
{{- end }}
{{- toYaml $settings }}
{{- end }}

{{/* The rule files with a text: an empty one removes a file that an earlier upgrade added. */}}
{{- define "yardmaster.rules" -}}
{{- $rules := dict }}
{{- range $name, $text := .Values.rules }}
{{- if $text }}{{ $_ := set $rules $name $text }}{{ end }}
{{- end }}
{{- toYaml $rules }}
{{- end }}
