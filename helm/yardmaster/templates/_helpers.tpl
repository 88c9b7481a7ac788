{{/* Names and labels. */}}
{{- define "yardmaster.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "yardmaster.account" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "yardmaster.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "yardmaster.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "yardmaster.labels" -}}
{{ include "yardmaster.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The namespace of Jobs that run on nodes. */}}
{{- define "yardmaster.jobs-namespace" -}}
{{- ((.Values.settings).node_jobs).namespace | default "yardmaster-jobs" -}}
{{- end }}

{{/* What is looked at, or acted on, for kinds of training that are not used, as `group/plural`. */}}
{{- define "yardmaster.unused-kinds" -}}
{{- $kinds := get (.root.Files.Get "files/rights.yaml" | fromYaml).kinds .for }}
{{- $used := ((.root.Values.settings).commands).training_kinds }}
{{- $on := list }}
{{- $off := list }}
{{- range $kind, $resources := $kinds }}
{{- if or (not $used) (has $kind $used) }}{{ $on = concat $on $resources }}{{ end }}
{{- end }}
{{- range $kind, $resources := $kinds }}
{{- range $resources }}
{{- if not (has . $on) }}{{ $off = append $off . }}{{ end }}
{{- end }}
{{- end }}
{{- toYaml $off }}
{{- end }}

{{/* Rules without these resources. A rule is of one group. */}}
{{- define "yardmaster.without" -}}
{{- $kept := list }}
{{- $off := .off }}
{{- range $rule := .rules }}
{{- $left := list }}
{{- range $rule.resources }}
{{- if not (has (printf "%s/%s" (first $rule.apiGroups) (first (splitList "/" .))) $off) }}{{ $left = append $left . }}{{ end }}
{{- end }}
{{- if $left }}{{ $kept = append $kept (set (deepCopy $rule) "resources" $left) }}{{ end }}
{{- end }}
{{- toYaml $kept }}
{{- end }}
