# The first process of a machine: mounts a root whose changes stay in memory, and becomes systemd in it. Runs in its own
# namespaces. Arguments: the directory to mount it at, the root below it, the unit to start.
set -e
at=$1 below=$2 unit=$3
mount -t tmpfs machine "$at"
mkdir "$at/upper" "$at/work" "$at/root"
mount -t overlay machine -o "lowerdir=$below,upperdir=$at/upper,workdir=$at/work" "$at/root"
cd "$at/root"
mount -t proc proc proc
# Read-only: systemd then leaves the devices alone.
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup sys/fs/cgroup
for fresh in dev run tmp; do mount -t tmpfs -o mode=755 "$fresh" "$fresh"; done
chmod 1777 tmp
# Its own device nodes: the owners of this system's nodes do not matter.
while read -r device numbers; do
    # shellcheck disable=SC2086
    mknod -m 666 "dev/$device" c $numbers
done <<NODES
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
NODES
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
# An image for containers forbids packages to start and stop services; this is no container.
rm -f usr/sbin/policy-rc.d
mkdir -p old
pivot_root . old
umount -l /old
rmdir /old
# As a container's manager does for its systemd: credentials of a unit are mounted beside it and must be seen here.
mount --make-rshared /
exec env -i container=oci PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd "--unit=$unit"
