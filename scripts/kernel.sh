#!/bin/sh
# Boots a Debian kernel in qemu, without KVM, and runs a command in it as root, in the current folder. The guest sees this machine's
# files. What it writes stays in its memory and is lost with it, except in the folder EXCHANGE.
#   scripts/kernel.sh fetch SERIES…         downloads the newest Debian package of each series, such as 6.12
#   scripts/kernel.sh run SERIES COMMAND…   exit code: that of the command, or 99 if the guest did not end by itself
# KERNELS: where kernels and qemu are kept, by default build/kernels. EXCHANGE: an existing folder. SECONDS_MAX: the time limit of a
# run. MEGABYTES: the memory of a guest. ARCH=arm64: a kernel and a Debian 13 of that processor; the guest sees these, and of this
# machine only the current folder. DEBIAN_MIRROR: another mirror. Requires root, and the Debian packages mmdebstrap, kmod and xz-utils;
# for arm64 also npm.
set -eu
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
export PATH
kernels=$(realpath -m "${KERNELS:-$(dirname "$0")/../build/kernels}")
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
arch=${ARCH:-amd64}
tools=$kernels/tools-$arch
case $arch in
amd64)
  emulator=x86_64
  machine='-machine q35 -cpu max,la57=off,pku=off'
  console=ttyS0
  ;;
arm64)
  emulator=aarch64
  machine='-machine virt -cpu cortex-a72'
  console=ttyAMA0
  ;;
*)
  echo "kernel: ARCH is amd64 or arm64, not $arch" >&2
  exit 98
  ;;
esac

die() {
  echo "kernel: $*" >&2
  exit 98
}

quietly() {
  log=$(mktemp)
  if "$@" >"$log" 2>&1 </dev/null; then
    rm -f "$log"
  else
    cat "$log" >&2
    rm -f "$log"
    die "command failed: $*"
  fi
}

# unpack ARCH FOLDER PACKAGES: a folder with packages of Debian 13 and what they depend on. No program of them is run.
unpack() {
  [ ! -e "$2" ] || return 0
  rm -rf "$2.part"
  quietly mmdebstrap --quiet --variant=extract --architectures="$1" --include="$3" trixie "$2.part" "$mirror"
  for folder in bin sbin lib lib64; do
    [ -e "$2.part/$folder" ] || ln -s "usr/$folder" "$2.part/$folder"
  done
  (cd "$2.part" && mkdir -p proc sys run root guest exchange kernel)
  mv "$2.part" "$2"
}

# The guest's Node, and the package that brings a shared library for its processor, as in the image.
add_node() {
  [ ! -e "$guest_root/usr/bin/node" ] || return 0
  packages=$kernels/npm-$arch
  mkdir -p "$packages"
  cp "$(dirname "$0")/../deploy/image/package.json" "$(dirname "$0")/../deploy/image/package-lock.json" "$packages/"
  quietly npm ci --prefix "$packages" --os=linux --cpu="$arch" --libc=glibc --ignore-scripts --no-audit --no-fund
  mkdir -p "$guest_root/opt"
  cp -R "$packages/node_modules" "$guest_root/opt/"
  ln "$guest_root/opt/node_modules/node-linux-$arch/bin/node" "$guest_root/usr/bin/node"
  rm -rf "$packages"
}

# An apt with sources and lists of its own.
own_apt() {
  program=$1
  shift
  "$program" -o Dir::State::lists="$kernels/apt-$arch/lists" -o Dir::Cache="$kernels/apt-$arch/cache" -o Dir::Etc::sourcelist="$kernels/apt-$arch/sources" \
    -o Dir::Etc::sourceparts=/dev/null -o Dir::State::status=/dev/null -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
    -o APT::Sandbox::User=root "$@"
}

fetch_lists() {
  [ -z "${has_lists:-}" ] || return 0
  has_lists=1
  mkdir -p "$kernels/apt-$arch/lists/partial" "$kernels/apt-$arch/cache/archives/partial"
  {
    for suite in trixie trixie-backports sid; do echo "deb $mirror $suite main"; done
    for suite in bullseye bookworm trixie; do echo "deb $mirror-security $suite-security main"; done
  } >"$kernels/apt-$arch/sources"
  quietly own_apt apt-get -qq update
}

fetch() {
  folder=$kernels/kernel-$arch-$1
  [ ! -e "$folder" ] || return 0
  fetch_lists
  package=$(own_apt apt-cache search --names-only "^linux-image-$1\.[0-9.+~a-z-]*cloud-$arch\$" | cut -d ' ' -f 1 | sort -V | tail -n 1)
  [ -n "$package" ] || die "Debian has no kernel $1 for $arch"
  echo "kernel: fetching $package" >&2
  rm -rf "$folder.part"
  mkdir -p "$folder.part/debs" "$folder.part/usr/lib"
  (
    cd "$folder.part/debs"
    # The files of newer kernels are in packages that this one depends on.
    parts=$(own_apt apt-cache depends --important "$package" | awk '/Depends: linux-(base|binary|modules)-[0-9]/ { print $2 }')
    # shellcheck disable=SC2086 # a list of words
    quietly own_apt apt-get -qq download "$package" $parts
    for deb in ./*.deb; do dpkg-deb -x "$deb" ..; done
  )
  rm -rf "$folder.part/debs"
  if [ -d "$folder.part/lib" ]; then
    mv "$folder.part/lib/modules" "$folder.part/usr/lib/"
    rm -rf "$folder.part/lib"
  fi
  ln -s usr/lib "$folder.part/lib"
  version=$(ls "$folder.part/usr/lib/modules")
  depmod -b "$folder.part" "$version"
  make_initrd "$folder.part" "$folder.part/usr/lib/modules/$version"
  mv "$folder.part" "$folder"
}

# make_initrd FOLDER MODULES: an initial RAM disk that mounts the files of this machine, with a layer in memory over them.
make_initrd() {
  initrd=$1/initrd
  mkdir -p "$initrd/bin" "$initrd/modules"
  cp "$guest_root/usr/bin/busybox" "$initrd/bin/"
  number=10
  for module in virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci fuse virtiofs overlay; do
    file=$(find "$2/kernel" -name "$module.ko" -o -name "$module.ko.xz" | head -n 1)
    number=$((number + 1))
    case $file in
    '') ;; # built in, or a part of another one
    *.xz) xz -dc "$file" >"$initrd/modules/$number-$module.ko" ;;
    *) cp "$file" "$initrd/modules/$number-$module.ko" ;;
    esac
  done
  cat >"$initrd/init" <<'INIT'
#!/bin/busybox sh
busybox() { /bin/busybox "$@"; }
fail() {
  echo "init: $*"
  busybox poweroff -f
}
# Which of them needs which differs between kernels: the second time all are there.
for module in /modules/*.ko /modules/*.ko; do busybox insmod "$module" 2>/dev/null; done
busybox mkdir -p /proc /machine /memory /root
busybox mount -t proc proc /proc
busybox mount -t virtiofs machine /machine || fail 'no virtiofs'
busybox mount -t tmpfs -o size=90% tmpfs /memory
busybox mkdir /memory/written /memory/work
busybox mount -t overlay -o lowerdir=/machine,upperdir=/memory/written,workdir=/memory/work overlay /root || fail 'no overlay'
guest=$(busybox sed 's/.*guest=\([^ ]*\).*/\1/' /proc/cmdline)
busybox mkdir -p "/root$guest/exchange" /root/usr/lib/modules
busybox mount --bind "/machine$guest/exchange" "/root$guest/exchange" || fail 'no folder for results'
busybox mount --bind "/machine$guest/modules" /root/usr/lib/modules || fail 'no modules'
exec busybox switch_root /root /bin/sh "$guest/start"
INIT
  chmod +x "$initrd/init"
  (cd "$initrd" && find . | "$tools/usr/bin/busybox" cpio -o -H newc 2>/dev/null | gzip) >"$1/initrd.gz"
  rm -rf "$initrd"
}

# run SERIES COMMAND…
run() {
  folder=$kernels/kernel-$arch-$1
  shift
  work=$(mktemp -d "$kernels/run.XXXXXX")
  trap 'kill -KILL ${guest:-} 2>/dev/null || true; rm -rf "$work"' EXIT
  trap 'exit 98' INT TERM
  mkdir "$work/exchange" "$work/modules" "$work/exchange.own"
  exchange=$(realpath "${EXCHANGE:-$work/exchange.own}")
  cat >"$work/start" <<START
PATH=$PATH
HOME=/root
NODE_PATH=/opt/node_modules
export PATH HOME NODE_PATH
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mkdir -p /run/netns
hostname guest
ip link set lo up
mkdir -p '$exchange'
mount --bind '$work/exchange' '$exchange'
cd '$PWD'
sh '$exchange/command' >'$exchange/output' 2>&1 </dev/null
echo \$? >'$exchange/status'
sync
echo o >/proc/sysrq-trigger
sleep 60
START
  for word in "$@"; do printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"; done >"$exchange/command"
  # A kernel that does not come as far as the command is started again: qemu crashes one now and then.
  for _ in 1 2 3; do
    rm -f "$exchange/output" "$exchange/status"
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child "$0" boot "$folder" "$work" "$exchange" >"$work/console" 2>&1 </dev/null &
    guest=$!
    wait "$guest" || true
    [ ! -e "$exchange/output" ] || break
  done
  [ ! -e "$exchange/output" ] || cat "$exchange/output"
  if [ -e "$exchange/status" ]; then
    status=$(cat "$exchange/status")
  else
    status=99
    echo 'kernel: the guest did not end by itself; its console:' >&2
    tail -n 30 "$work/console" >&2
  fi
  exit "$status"
}

# boot FOLDER WORK EXCHANGE: in a mount namespace of its own, in which qemu's folder has all that it needs.
boot() {
  mount --make-rprivate /
  mount --bind "$3" "$2/exchange"
  mount --bind "$1/usr/lib/modules" "$2/modules"
  mount --bind "$1" "$tools/kernel"
  mount --bind /dev "$tools/dev"
  mount -t proc proc "$tools/proc"
  if [ "$arch" = amd64 ]; then
    mount --rbind / "$tools/guest"
  else
    mount --bind "$guest_root" "$tools/guest"
    for seen in "$PWD" "$2"; do
      mkdir -p "$tools/guest$seen"
      mount --rbind "$seen" "$tools/guest$seen"
    done
  fi
  chroot "$tools" /usr/libexec/virtiofsd --socket-path="/guest$2/socket" --shared-dir /guest --cache auto --sandbox none --no-announce-submounts &
  until [ -S "$2/socket" ]; do sleep 0.1; done
  image=$(cd "$1" && ls boot/vmlinuz-* usr/lib/modules/*/vmlinuz 2>/dev/null | head -n 1)
  # shellcheck disable=SC2086 # lists of words
  exec timeout "${SECONDS_MAX:-3600}" chroot "$tools" "/usr/bin/qemu-system-$emulator" $machine -accel tcg -icount shift=1 -smp 1 -m "${MEGABYTES:=3072}" \
    -L /usr/share/qemu -L /usr/share/seabios -object "memory-backend-memfd,id=memory,size=${MEGABYTES}M,share=on" -numa node,memdev=memory \
    -chardev "socket,id=files,path=/guest$2/socket" -device vhost-user-fs-pci,chardev=files,tag=machine -net none -nographic -no-reboot \
    -kernel "/kernel/$image" -initrd /kernel/initrd.gz -append "console=$console quiet panic=-1 mitigations=off nokaslr guest=$2"
}

[ "$(id -u)" = 0 ] || die 'run this as root'
if [ "${1:-}" = boot ]; then
  shift
  guest_root=$kernels/root-$arch
  boot "$@"
fi
[ $# -ge 2 ] || die 'usage: kernel.sh fetch SERIES… | run SERIES COMMAND…'
command=$1
shift
mkdir -p "$kernels"
if [ "$arch" = amd64 ]; then
  unpack amd64 "$tools" qemu-system-x86,virtiofsd,busybox-static
  guest_root=$tools
else
  unpack amd64 "$tools" qemu-system-arm,virtiofsd,busybox-static
  guest_root=$kernels/root-$arch
  unpack "$arch" "$guest_root" \
    bash,busybox-static,conntrack,coreutils,dash,grep,iproute2,ipset,iptables,kmod,libstdc++6,mount,nftables,procps,sed,util-linux
  add_node
fi
case $command in
fetch)
  for series in "$@"; do fetch "$series"; done
  ;;
run)
  fetch "$1"
  run "$@"
  ;;
*) die "unknown command $command" ;;
esac
