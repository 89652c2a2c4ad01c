#!/bin/sh
# Builds a Debian package of the proxy from the bundle: deploy/debian/build.sh FOLDER
# Prints the path of the new package in FOLDER. Requires dpkg-deb; installs nothing.
set -eu
mkdir -p "$1"
folder=$(realpath "$1")
cd "$(dirname "$0")/../.."
[ -e dist/kubeproxy.js ] || npm run --silent build

name=kube-proxy-ts
version=$(node -p 'require("./package.json").version')
cpu=$(node -p process.arch)
architecture=$(node -p 'process.arch.replace("x64", "amd64")')
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

app=$root/usr/lib/$name
mkdir -p "$app/node_modules/@koromix" "$root/usr/bin" "$root/usr/lib/systemd/system" "$root/usr/share/doc/$name" \
  "$root/etc/$name/manifests" "$root/DEBIAN"
cp -R dist bin package.json "$app/"
rm -f "$app"/dist/*.map "$app/dist/THIRD-PARTY-NOTICES"
cp -R node_modules/koffi "$app/node_modules/"
cp -R "node_modules/@koromix/koffi-linux-$cpu" "$app/node_modules/@koromix/"
for program in kubeproxy kubectl-kubeproxy; do
  ln -s "../lib/$name/bin/$program" "$root/usr/bin/$program"
done
node scripts/man.mjs "$root/usr/share/man"
find "$root/usr/share/man" -type f -exec gzip -9n {} +
cp deploy/systemd/$name.service "$root/usr/lib/systemd/system/"
cp deploy/systemd/config.yaml "$root/etc/$name/"
cp deploy/systemd/node.yaml "$root/etc/$name/manifests/"
cp README.md CHANGELOG.md "$root/usr/share/doc/$name/"
cp -R examples/one-machine "$root/usr/share/doc/$name/"
{
  echo 'Copyright: the kube-proxy-ts authors'
  echo 'License: Apache-2.0'
  echo ' The text of the license is in /usr/share/common-licenses/Apache-2.0.'
  echo
  cat dist/THIRD-PARTY-NOTICES
} >"$root/usr/share/doc/$name/copyright"

# As Debian policy defines it, independent of the file system: files in whole KiB, 1 KiB for each other entry.
installed_size=$(find "$root" -type f -printf '%s\n' -o -printf '1\n' | awk '{ kib += int(($1 + 1023) / 1024) } END { print kib }')

cat >"$root/DEBIAN/control" <<CONTROL
Package: $name
Version: $version
Architecture: $architecture
Maintainer: The $name authors <noreply@example.com>
Section: net
Priority: optional
Depends: nodejs (>= 20.19)
Suggests: iptables, ipset, conntrack, nftables
Installed-Size: $installed_size
Homepage: https://kubernetes.io/docs/reference/networking/virtual-ips/
Description: Kubernetes node service proxy, for one machine or a cluster
 Programs Services into nftables, iptables or IPVS, from manifests in a folder or
 from an API server: a drop-in replacement for kube-proxy whose updates write only
 what changed. Removing the package removes its rules.
CONTROL
(cd "$root" && find etc -type f | LC_ALL=C sort | sed 's|^|/|') >"$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do
  install -m 755 "deploy/debian/$script" "$root/DEBIAN/$script"
done
find "$root" -exec touch -h -d "@${SOURCE_DATE_EPOCH:-0}" {} +
package=$folder/${name}_${version}_$architecture.deb
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0} dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "$package"
