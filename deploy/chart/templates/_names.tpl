{{/* The name of everything that the chart makes. */}}
{{- define "name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "serviceAccount" -}}
{{- default (include "name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/component: node-proxy
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end -}}
{{- end -}}

{{/* The KubeProxyConfiguration: the fields that the chart has values for, and those of `config` on top. */}}
{{- define "configuration" -}}
{{- $own := dict "apiVersion" "kubeproxy.config.k8s.io/v1alpha1" "kind" "KubeProxyConfiguration" -}}
{{- $_ := set $own "clientConnection" (dict "kubeconfig" "/var/lib/kube-proxy/kubeconfig.conf") -}}
{{- with .Values.clusterCIDR }}{{ $_ := set $own "clusterCIDR" . }}{{ end -}}
{{- with .Values.mode }}{{ $_ := set $own "mode" . }}{{ end -}}
{{- toYaml (mustMergeOverwrite $own (deepCopy .Values.config)) -}}
{{- end -}}
