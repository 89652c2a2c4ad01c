#!/bin/sh
# Builds the container image from Debian packages, Node.js from npm, and the bundle: a root file system, and from it an OCI archive.
#   [ARCH=amd64|arm64] deploy/image/build.sh ROOT [ARCHIVE]
# ROOT: a new folder. ARCHIVE: a new file, for `podman load -i`, `ctr -n k8s.io image import` or `skopeo copy oci-archive:…`.
# Requires root and mmdebstrap; DEBIAN_MIRROR sets another mirror. A machine can build for each architecture: no program of the image is run.
set -eu
root=$(realpath -m "$1")
archive=${2:+$(realpath -m "$2")}
cd "$(dirname "$0")/../.."
suite=trixie
packages=iptables,ipset,kmod,libstdc++6

print() { echo "image: $*" >&2; }
[ ! -e "$root" ] || { print "$root already exists: choose another folder or remove it"; exit 1; }
command -v mmdebstrap >/dev/null || { print 'mmdebstrap is not installed: run apt-get install mmdebstrap'; exit 1; }
case ${ARCH:=$(node -p 'process.arch.replace("x64", "amd64")')} in
amd64) cpu=x64 ;;
arm64) cpu=arm64 ;;
*) print "there is no image for $ARCH: set ARCH to amd64 or arm64"; exit 1 ;;
esac
[ -e dist/kubeproxy.js ] || npm run --silent build

mkdir -p "$(dirname "$root")" ${archive:+"$(dirname "$archive")"}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() {
  "$@" >"$work/log" 2>&1 </dev/null || { cat "$work/log" >&2; exit 1; }
}

# Only the files of the packages: no shell, no package manager, no maintainer scripts.
quietly mmdebstrap --quiet --variant=extract --architectures="$ARCH" --include="$packages" \
  --extract-hook="ls \"\$1\"/var/cache/apt/archives >$work/debian" "$suite" "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"}
for folder in bin sbin lib lib64; do
  [ -e "$root/$folder" ] || ln -s "usr/$folder" "$root/$folder"
done
# Programs need no documentation; the licenses stay.
find "$root/usr/share/doc" -type f ! -name copyright -delete
find "$root/usr/share/doc" -mindepth 2 -type l ! -name copyright -delete
find "$root/usr/share/doc" -type d -empty -delete
rm -rf "$root"/usr/share/man "$root"/usr/share/locale "$root"/usr/share/lintian "$root"/usr/share/bash-completion \
  "$root"/usr/share/gdb "$root"/usr/share/zsh "$root"/usr/share/fish "$root"/usr/share/initramfs-tools "$root"/usr/include \
  "$root"/var/cache "$root"/var/log "$root"/var/lib/apt "$root"/var/lib/dpkg "$root"/dev/*
# mmdebstrap copies these from this machine; the container runtime provides its own.
rm -rf "$root"/etc/apt "$root"/etc/dpkg "$root"/etc/fstab
for file in hostname hosts resolv.conf; do
  : >"$root/etc/$file"
done

# Node.js, and koffi, which is not in the bundle because it has a shared library.
npm=$work/npm
mkdir "$npm"
cp deploy/image/package.json deploy/image/package-lock.json "$npm/"
quietly npm ci --prefix "$npm" --os=linux --cpu="$cpu" --libc=glibc --ignore-scripts --no-audit --no-fund
app=$root/opt/kube-proxy
# Mount points, which a read-only file system must already have.
mkdir -p "$app/node_modules/@koromix" "$root/usr/local/bin" "$root/var/lib/kube-proxy" "$root/usr/lib/modules" \
  "$root/run" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/usr/share/doc/node"
[ -e "$root/var/run" ] || ln -s /run "$root/var/run"
install -m 755 "$npm/node_modules/node-linux-$cpu/bin/node" "$root/usr/bin/node"
cp "$npm/node_modules/node-linux-$cpu/LICENSE" "$root/usr/share/doc/node/copyright"
cp -R dist bin package.json LICENSE "$app/"
rm -f "$app"/dist/*.map
cp -R "$npm/node_modules/koffi" "$app/node_modules/"
cp -R "$npm/node_modules/@koromix/koffi-linux-$cpu" "$app/node_modules/@koromix/"
# kube-proxy is the path in DaemonSets of kube-proxy; commands and the kubectl plugin have names of their own.
printf '#!/usr/bin/node --max-semi-space-size=2\nawait import("/opt/kube-proxy/bin/kubeproxy");\n' >"$root/usr/local/bin/kube-proxy.mjs"
chmod 755 "$root/usr/local/bin/kube-proxy.mjs"
for program in kube-proxy kubeproxy kubectl-kubeproxy; do
  ln -s kube-proxy.mjs "$root/usr/local/bin/$program"
done
doc=$root/usr/share/doc/kube-proxy-ts
mkdir -p "$doc"
mv "$app/LICENSE" "$doc/copyright"
mv "$app/dist/THIRD-PARTY-NOTICES" "$doc/"
# No program in the image shows man pages; they can be copied out of it.
node scripts/man.mjs "$root/usr/share/man"
node deploy/image/bill-of-materials.mjs "$root" "$work/debian" "$npm"
print "root file system: $(du -sm "$root" | cut -f1) MB in $root"

if [ -n "$archive" ]; then
  node deploy/image/archive.mjs "$root" "$archive" "$ARCH"
  print "archive: $(du -m "$archive" | cut -f1) MB in $archive"
fi
