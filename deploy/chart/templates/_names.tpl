{{/* The name of all objects of the chart. */}}
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

{{/* The port of metrics on the node's address, or nothing. Fails if the configuration uses the same port. */}}
{{- define "scrapePort" -}}
{{- with .Values.metrics.port -}}
{{- if regexMatch (printf "^(0\\.0\\.0\\.0|\\[::\\]):%v$" .) (default "" $.Values.config.metricsBindAddress) -}}
{{- fail (printf "metrics.port: port %v is in use by config.metricsBindAddress (%s); choose another one" . $.Values.config.metricsBindAddress) -}}
{{- end -}}
{{ . }}
{{- end -}}
{{- end -}}

{{/*
The number of nodes on which kube-proxy runs. Fails if the installer has no right to get its DaemonSet. Helm cannot catch that,
but its error quotes this name.
*/}}
{{- define "look up kube-proxy; to skip it, use --set lookupKubeProxy=false" -}}
{{- dig "status" "desiredNumberScheduled" 0 (lookup "apps/v1" "DaemonSet" "kube-system" "kube-proxy") -}}
{{- end -}}

{{/* Fails if a value is missing that depends on others, which the schema cannot explain. */}}
{{- define "checkValues" -}}
{{- $_ := required "apiServer is required: the API server's address that works without a service proxy, for example https://10.0.0.10:6443" .Values.apiServer -}}
{{- $detection := default "ClusterCIDR" .Values.config.detectLocalMode -}}
{{- if and (eq $detection "ClusterCIDR") (not .Values.clusterCIDR) -}}
{{- fail "clusterCIDR is required while config.detectLocalMode is ClusterCIDR, the default: the pod network of the cluster, for example 10.244.0.0/16. For another detection of local traffic, set config.detectLocalMode to NodeCIDR, BridgeInterface or InterfaceNamePrefix" -}}
{{- end -}}
{{- end -}}

{{/* The KubeProxyConfiguration: the fields for which the chart has values, and those of `config`. The schema keeps them apart. */}}
{{- define "configuration" -}}
{{- $own := dict "apiVersion" "kubeproxy.config.k8s.io/v1alpha1" "kind" "KubeProxyConfiguration" -}}
{{- $_ := set $own "clientConnection" (dict "kubeconfig" "/var/lib/kube-proxy/kubeconfig.conf") -}}
{{- with .Values.clusterCIDR }}{{ $_ := set $own "clusterCIDR" . }}{{ end -}}
{{- $_ := set $own "mode" .Values.mode -}}
{{- if not (hasKey .Values.config "checkForwarding") }}{{ $_ := set $own "checkForwarding" true }}{{ end -}}
{{- toYaml (mustMergeOverwrite $own (deepCopy .Values.config)) -}}
{{- end -}}
