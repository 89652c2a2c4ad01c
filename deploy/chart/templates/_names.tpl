{{/* The name of everything that the chart makes. */}}
{{- define "name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "serviceAccount" -}}
{{- default (include "name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "labels" -}}
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/component: node-proxy
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end -}}

{{- define "image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end -}}
{{- end -}}

{{/* The port of metrics on the node's own address, or nothing. An address of the configuration that takes the same port is refused. */}}
{{- define "scrapePort" -}}
{{- with .Values.metrics.port -}}
{{- if regexMatch (printf "^(0\\.0\\.0\\.0|\\[::\\]):%v$" .) (default "" $.Values.config.metricsBindAddress) -}}
{{- fail (printf "metrics.port: %v is taken by config.metricsBindAddress, %s" . $.Values.config.metricsBindAddress) -}}
{{- end -}}
{{ . }}
{{- end -}}
{{- end -}}

{{/* The KubeProxyConfiguration: the fields that the chart has values for, and those of `config`, which the schema keeps apart from them. */}}
{{- define "configuration" -}}
{{- $own := dict "apiVersion" "kubeproxy.config.k8s.io/v1alpha1" "kind" "KubeProxyConfiguration" -}}
{{- $_ := set $own "clientConnection" (dict "kubeconfig" "/var/lib/kube-proxy/kubeconfig.conf") -}}
{{- with .Values.clusterCIDR }}{{ $_ := set $own "clusterCIDR" . }}{{ end -}}
{{- with .Values.mode }}{{ $_ := set $own "mode" . }}{{ end -}}
{{- toYaml (mustMergeOverwrite $own (deepCopy .Values.config)) -}}
{{- end -}}
