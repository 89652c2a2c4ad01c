#!/bin/sh
# Builds the container image from Debian packages and the bundle: a root file system, and from it an OCI archive.
#   deploy/image/build.sh ROOT [ARCHIVE]
# ROOT: a folder to be made, with those above it. ARCHIVE: a file to be made, for `podman load -i`, `ctr image import` or `skopeo copy oci-archive:…`.
# Needs root and mmdebstrap; DEBIAN_MIRROR names another mirror.
set -eu
root=$(realpath -m "$1")
archive=${2:+$(realpath -m "$2")}
cd "$(dirname "$0")/../.."
suite=trixie # the first Debian with the Node that this project needs
packages=nodejs,iptables,nftables,ipset,kmod

say() { echo "image: $*" >&2; }
[ ! -e "$root" ] || { say "$root exists already"; exit 1; }
command -v mmdebstrap >/dev/null || { say 'mmdebstrap is missing: apt-get install mmdebstrap'; exit 1; }
[ -e dist/kubeproxy.js ] || npm run --silent build

mkdir -p "$(dirname "$root")" ${archive:+"$(dirname "$archive")"}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Files of the packages alone: no shell, no package manager, no set-up scripts.
mmdebstrap --quiet --variant=extract --include="$packages" "$suite" "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$log" 2>&1 || {
  cat "$log" >&2
  exit 1
}
for folder in bin sbin lib lib64; do
  [ -e "$root/$folder" ] || ln -s "usr/$folder" "$root/$folder"
done
# What runs needs neither documentation nor Node's own tools; a few of its modules stand in /usr/share/nodejs.
rm -rf "$root"/usr/share/doc "$root"/usr/share/man "$root"/usr/share/locale "$root"/usr/share/lintian \
  "$root"/usr/share/bash-completion "$root"/usr/share/gdb "$root"/usr/share/nodejs/corepack "$root"/usr/include \
  "$root"/var/cache "$root"/var/log "$root"/var/lib/apt "$root"/dev/* "$root"/usr/bin/corepack "$root"/usr/bin/acorn

app=$root/opt/kube-proxy
# Folders that a read-only file system must have for what is mounted into it.
mkdir -p "$app/node_modules/@koromix" "$root/usr/local/bin" "$root/var/lib/kube-proxy" "$root/usr/lib/modules" \
  "$root/run" "$root/proc" "$root/sys" "$root/dev" "$root/tmp"
[ -e "$root/var/run" ] || ln -s /run "$root/var/run"
cp -R dist bin package.json LICENSE "$app/"
rm -f "$app"/dist/*.map
# The one package that is not in the bundle, because it brings a shared library.
cp -R node_modules/koffi "$app/node_modules/"
cp -R node_modules/@koromix/koffi-linux-"$(node -p process.arch)" "$app/node_modules/@koromix/"
# Where DaemonSets of kube-proxy look for it.
printf '#!/usr/bin/node --max-semi-space-size=2\nawait import("/opt/kube-proxy/bin/kubeproxy");\n' >"$root/usr/local/bin/kube-proxy.mjs"
chmod 755 "$root/usr/local/bin/kube-proxy.mjs"
ln -s kube-proxy.mjs "$root/usr/local/bin/kube-proxy"
say "root file system: $(du -sm "$root" | cut -f1) MB in $root"

if [ -n "$archive" ]; then
  node deploy/image/archive.mjs "$root" "$archive"
  say "archive: $(du -m "$archive" | cut -f1) MB in $archive"
fi
