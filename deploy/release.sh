#!/bin/sh
# Pushes the image of a release, one index for all processors, and the chart, whose default image it is.
#   deploy/release.sh REGISTRY ARCHIVE…
# REGISTRY: such as ghcr.io/NAME, the one in deploy/chart/values.yaml (`npm run address`). ARCHIVE: from deploy/image/build.sh, for each processor.
# The image becomes REGISTRY/kube-proxy-ts:VERSION, the chart oci://REGISTRY/charts/kube-proxy-ts:VERSION. Prints each with its digest.
# Requires skopeo and helm, logged in to the registry. PLAIN_HTTP=1: a registry without TLS. HELM: the program.
set -eu
registry=$1
shift
cd "$(dirname "$0")/.."
helm=${HELM:-helm}
version=$(node -p 'require("./package.json").version')
image=$registry/kube-proxy-ts

fail() { echo "release: $*" >&2; exit 1; }
grep -qx "  repository: $image" deploy/chart/values.yaml ||
  fail "the default image of the chart is not $image: run npm run address -- NAME $registry"
grep -qx "version: $version" deploy/chart/Chart.yaml && grep -qx "appVersion: $version" deploy/chart/Chart.yaml ||
  fail "the version of package.json, $version, is not that of deploy/chart/Chart.yaml"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
node deploy/image/join.mjs "$work/image.tar" "$@"
skopeo copy --quiet --all --digestfile "$work/digest" ${PLAIN_HTTP:+--dest-tls-verify=false} "oci-archive:$work/image.tar" "docker://$image:$version"
$helm package deploy/chart --destination "$work" >/dev/null
$helm push "$work/kube-proxy-ts-$version.tgz" "oci://$registry/charts" ${PLAIN_HTTP:+--plain-http} 2>&1 | tee "$work/pushed" >&2
echo "image $image@$(cat "$work/digest")"
echo "chart $registry/charts/kube-proxy-ts@$(sed -n 's/^Digest: //p' "$work/pushed")"
