# Network namespaces with real NATs between them, for `run` and `check`. To be sourced by bash.
#
#   host --- host_gw --- wan --- join_gw --- join
#                         |
#                       server          a rendezvous or a TURN server, reached from everywhere
#
# Kinds of a gateway:
#   open       forwards everything; the machine behind it has a public address
#   cone       a port-restricted NAT, as most routers at home: keeps the port where it can, and lets in whom it has sent to
#   symmetric  a NAT with another port for each destination
#   blocked    a symmetric NAT that lets out UDP to the server only

NAT_KINDS="open cone symmetric blocked"
# Where the server listens: STUN and TURN, and the rendezvous.
NAT_SERVER=198.51.100.10
NAT_SERVER_PORTS="3478, 3479"

# Names of namespaces are global, so they carry the number of the process.
nat_ns() { printf 'nat%s_%s' "$$" "$1"; }
nat_in() { local ns=$1; shift; ip netns exec "$(nat_ns "$ns")" "$@"; }
# The same in the background, where the number of the process is that of the command.
nat_exec() { local ns=$1; shift; exec ip netns exec "$(nat_ns "$ns")" "$@"; }

# The first thing that is missing here, or nothing.
nat_missing() {
    local tool
    [ "$(id -u)" = 0 ] || { echo "needs root"; return; }
    for tool in ip nft conntrack; do
        command -v "$tool" >/dev/null || { echo "needs $tool"; return; }
    done
    if ! ip netns add "$(nat_ns probe)" 2>/dev/null; then
        echo "needs the right to make network namespaces"
        return
    fi
    nat_in probe nft add table ip probe 2>/dev/null || echo "needs nftables in the kernel"
    ip netns del "$(nat_ns probe)"
}

# Installs what is missing, where there is apt and it may be used.
nat_install() {
    command -v ip nft conntrack >/dev/null && return
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    local packages=(iproute2 nftables conntrack)
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq "${packages[@]}" >/dev/null 2>&1 ||
        { apt-get update -qq && apt-get install -y -qq "${packages[@]}"; } >/dev/null 2>&1 || true
}

# The number of a side, which is in all its addresses.
nat_number() { case $1 in host) echo 1 ;; join) echo 2 ;; esac; }

# The address of a machine, as it knows it.
nat_inside() {
    local n; n=$(nat_number "$1")
    case $2 in open) echo "203.0.$n.2" ;; *) echo "10.0.$n.2" ;; esac
}

# The address that others see.
nat_outside() {
    local n; n=$(nat_number "$1")
    case $2 in open) echo "203.0.$n.2" ;; *) echo "198.51.100.$((n * 16 + 2))" ;; esac
}

# A cable from a namespace to another: its two names, and the addresses of its two ends in a /30.
nat_cable() {
    local from=$1 from_name=$2 from_ip=$3 to=$4 to_name=$5 to_ip=$6
    ip link add "$from_name" netns "$(nat_ns "$from")" type veth peer name "$to_name" netns "$(nat_ns "$to")"
    nat_in "$from" ip addr add "$from_ip/30" dev "$from_name"
    nat_in "$to" ip addr add "$to_ip/30" dev "$to_name"
    nat_in "$from" ip link set "$from_name" up
    nat_in "$to" ip link set "$to_name" up
}

nat_space() {
    ip netns add "$(nat_ns "$1")"
    nat_in "$1" ip link set lo up
}

# The rules of a gateway. What it drops on its way in from outside matters: an unexpected datagram that reached the
# gateway itself would take the port in its table, and the NAT would give the machine behind it another one.
nat_rules() {
    local gateway=$1 kind=$2 masquerade='masquerade' out='accept'
    case $kind in
        open) return ;;
        symmetric) masquerade='masquerade fully-random' ;;
        blocked)
            masquerade='masquerade fully-random'
            out="ip daddr $NAT_SERVER udp dport { $NAT_SERVER_PORTS } accept"
            ;;
    esac
    nat_in "$gateway" nft -f - <<RULES
table ip nat {
    chain postrouting {
        type nat hook postrouting priority srcnat
        oifname "wan" meta l4proto udp $masquerade
    }
}
table ip filter {
    chain input {
        type filter hook input priority filter
        iifname "wan" drop
    }
    chain forward {
        type filter hook forward priority filter; policy drop
        ct state established,related accept
        iifname "lan" $out
    }
}
RULES
}

# Builds one side: its machine, and the gateway of this kind.
nat_side() {
    local side=$1 kind=$2 n inside router wan
    n=$(nat_number "$side")
    inside=$(nat_inside "$side" "$kind")
    router=${inside%.*}.1
    wan=198.51.100.$((n * 16 + 1))
    nat_space "$side"
    nat_space "${side}_gw"
    nat_cable "$side" eth0 "$inside" "${side}_gw" lan "$router"
    nat_cable "${side}_gw" wan "198.51.100.$((n * 16 + 2))" wan "$side" "$wan"
    nat_in "$side" ip route add default via "$router"
    nat_in "${side}_gw" ip route add default via "$wan"
    nat_in "${side}_gw" sysctl -qw net.ipv4.ip_forward=1
    [ "$kind" != open ] || nat_in wan ip route add "${inside%.*}.0/30" via "198.51.100.$((n * 16 + 2))"
    nat_rules "${side}_gw" "$kind"
}

# Builds everything: the kind of the host's gateway, and that of the joiner's.
nat_build() {
    nat_space wan
    nat_in wan sysctl -qw net.ipv4.ip_forward=1
    nat_side host "$1"
    nat_side join "$2"
    # A TURN server sends from its own addresses to others that it must have a route to.
    nat_space server
    nat_cable server eth0 "$NAT_SERVER" wan server 198.51.100.9
    nat_in server ip route add default via 198.51.100.9
}

# The outside ports that a gateway has mapped for the machine behind it, in order.
nat_ports() {
    nat_in "$1_gw" conntrack -L -p udp 2>/dev/null |
        sed -n 's/.*dport=[0-9]* .*dport=\([0-9]*\).*/\1/p' | sort -nu | paste -sd, -
}

# Makes a gateway forget its mappings. One that keeps ports would give out the same again, so it is told another.
nat_forget() {
    local gateway=$1_gw kind=$2 port=${3:-61234}
    if [ "$kind" = cone ]; then
        nat_in "$gateway" nft -f - <<RULES
flush chain ip nat postrouting
add rule ip nat postrouting oifname "wan" meta l4proto udp masquerade to :$port
RULES
    fi
    nat_in "$gateway" conntrack -F 2>/dev/null
}

# Watches the datagrams that reach a machine, and prints the longest time between two of them in milliseconds when it is
# ended. The first hundred do not count: before a match there are pauses. To be started in the background.
nat_watch_gaps() {
    nat_exec "$1" bash -c '
        trap "echo \$((longest / 1000)); exit" TERM
        longest=0 before=0 last=${EPOCHREALTIME/./}
        # A builtin that waits: reading from a pipe that nobody writes to.
        exec 3<> <(:)
        while true; do
            while read -r name _ packets _; do [ "$name" != eth0: ] || break; done </proc/net/dev
            now=${EPOCHREALTIME/./}
            if [ "${packets:-0}" != "$before" ]; then
                if [ "$before" -ge 100 ] && [ $((now - last)) -gt "$longest" ]; then longest=$((now - last)); fi
                before=$packets last=$now
            fi
            read -r -t 0.002 -u 3
        done'
}

# Takes everything down. Processes inside are the caller's to end.
nat_remove() {
    local name
    for name in host host_gw join join_gw server wan; do
        ip netns del "$(nat_ns "$name")" 2>/dev/null || true
    done
}
