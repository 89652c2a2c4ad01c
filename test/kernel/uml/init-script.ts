/** What the first process of a guest does, as a shell script. */
export const INIT_SCRIPT = `#!/bin/sh
# The first process of a guest. Its root is the host's files, read-only, below a layer in memory that takes all writes;
# only the folder $1 of the host is writable, at /exchange. Runs /exchange/command, leaves its exit status there, and
# powers off.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
HOME=/root
export PATH HOME

die() {
  echo "init: $*"
  poweroff -f
}

modules=/usr/lib/uml/modules/$(uname -r)
mount -t tmpfs tmpfs /run || die 'no tmpfs'
insmod "$modules/kernel/fs/overlayfs/overlay.ko" || die 'no overlayfs'
mkdir /run/layer /run/work /run/root
mount -t overlay overlay -o lowerdir=/,upperdir=/run/layer,workdir=/run/work /run/root || die 'no writable root'
cd /run/root || die 'no root'
mkdir -p host exchange usr/lib/modules
# Where modprobe, and the kernel through it, looks for modules.
ln -s "$modules" usr/lib/modules/
pivot_root . host || die 'the root cannot be changed'
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mount -t hostfs -o "$1" hostfs /exchange || die "no folder $1"
# Before anything asks for one of its modules.
modprobe ipv6 || die 'no IPv6'
ip link set lo up

sh /exchange/command
echo "$?" >/exchange/status
poweroff -f
`;
