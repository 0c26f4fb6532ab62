#!/bin/bash
# The first process of a guest: two rails with an rxe device each, then a loop that runs what the host sends. The kernel's
# command line has the number of the guest, `guest=1`, that of all, `guests=2`, and the interface of each rail, `nics=eth0,eth1`:
# `NIC.VLAN` is a VLAN of it, `bond1` a bond of eth1 and eth2.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LANG=C
for point in /tmp /run; do mount -t tmpfs tmpfs $point; done
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
for word in $(cat /proc/cmdline); do
    case $word in
    guest=*) N=${word#guest=} ;;
    guests=*) GUESTS=${word#guests=} ;;
    nics=*) IFS=, read -r -a NICS <<< "${word#nics=}" ;;
    esac
done
export N
hostname guest$N
modprobe -a virtio_console virtio_net ib_core ib_uverbs rdma_ucm ib_umad rdma_rxe
ip link set lo up
sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.accept_ra=0 \
    net.ipv6.conf.default.router_solicitations=0
# All NICs are in one segment. What leaves through a NIC for the other one of this guest takes the wire: the table of
# local addresses comes after one for each NIC, and packets that arrive may have a source of this guest.
ip rule add pref 100 lookup local
for rail in 0 1; do
    nic=${NICS[$rail]}
    device=${nic%.*} # that of RDMA: the address of a VLAN is one of its NIC's device
    case $device in
    bond*)
        ip link add "$device" type bond mode active-backup miimon 100
        for member in 1 2; do ip link set eth$member master "$device"; done
        ;;
    esac
    ip link set "$device" up
    [ "$nic" = "$device" ] || ip link add "$nic" link "$device" type vlan id "${nic#*.}"
    echo 0 > "/proc/sys/net/ipv4/conf/$nic/rp_filter"
    echo 1 > "/proc/sys/net/ipv4/conf/$nic/accept_local"
    ip link set "$nic" up
    ip addr add 10.77.$rail.$N/24 dev "$nic"
    ip -6 addr add fd77:$rail::$N/64 dev "$nic" nodad
    ip route add 10.77.0.0/16 dev "$nic" src 10.77.$rail.$N table $((1000 + rail))
    ip rule add pref $((10 + rail)) oif "$nic" lookup $((1000 + rail))
    for to in 0 1; do
        for guest in $(seq "$GUESTS"); do
            ip neigh replace 10.77.$to.$guest lladdr 52:54:00:77:0$to:0$guest nud permanent dev "$nic"
            [ $to = $rail ] &&
                ip -6 neigh replace fd77:$to::$guest lladdr 52:54:00:77:0$to:0$guest nud permanent dev "$nic"
        done
    done
    rdma link add rxe$rail type rxe netdev "$device"
done
sysctl -qw net.ipv4.conf.all.rp_filter=0
ip rule del pref 0
ulimit -l unlimited
# The second disk is an archive of the product: the program, or its package.
mkdir -p /tmp/bin
tar -xf /dev/vdb -C /tmp/bin
export PATH=/tmp/bin:$PATH
for package in /tmp/bin/*.deb; do
    [ -e "$package" ] || continue
    apt-get install -q -y --no-install-recommends "$package" > /tmp/install.txt 2>&1 || cat /tmp/install.txt > /dev/console
done
tries=0
until control=$(ls /dev/vport*p1 2>/dev/null) || [ $tries -ge 100 ]; do sleep 0.1; tries=$((tries + 1)); done
exec 3<>"$control"
# To the guest: the length of a script, and the script. From it: the exit status, the length of the output, and that.
answer() { printf '%s %s\n' "$1" "$(stat -c %s "$2")" >&3; cat "$2" >&3; }
cd /tmp
uname -r > output
answer 0 output
while IFS= read -r -u 3 length; do
    head -c "$length" <&3 > script
    bash script > output 2>&1 < /dev/null 3>&-
    answer $? output
done
