#!/bin/busybox sh
# The initramfs: finds the disk, and starts the guest from it. What the guest writes stays in its memory.
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
while read -r module; do /bin/busybox insmod "$module" 2>/dev/null; done < /modules
tries=0
while [ ! -b /dev/vda ] && [ $tries -lt 100 ]; do /bin/busybox usleep 50000; tries=$((tries + 1)); done
/bin/busybox mount -t ext4 -o ro /dev/vda /disk || exec /bin/busybox sh
/bin/busybox mount -t tmpfs changes /changes
/bin/busybox mkdir /changes/files /changes/work
layers=lowerdir=/disk,upperdir=/changes/files,workdir=/changes/work
/bin/busybox mount -t overlay -o $layers root /newroot || exec /bin/busybox sh
for point in dev proc sys; do /bin/busybox mount --move /$point /newroot/$point; done
exec /bin/busybox switch_root /newroot /guest-init
