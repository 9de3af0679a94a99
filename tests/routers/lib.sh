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
#
# With NAT_FAMILY=6 there is no IPv4, and no gateway translates: cone and symmetric are firewalls that let in whom the
# machine has sent to.

NAT_KINDS="open cone symmetric blocked"
NAT_FAMILY=${NAT_FAMILY:-4}
# Where the server listens: STUN and TURN, and the rendezvous.
NAT_TURN_PORT=3478
NAT_RENDEZVOUS_PORT=3479
nat_server() { case $NAT_FAMILY in 6) echo 2001:db8:5::10 ;; *) echo 198.51.100.10 ;; esac; }
# An address with a port.
nat_at() { case $1 in *:*) echo "[$1]:$2" ;; *) echo "$1:$2" ;; esac; }

# Names of namespaces are global, so they carry the number of the process.
nat_ns() { printf 'nat%s_%s' "$$" "$1"; }
nat_in() { local ns=$1; shift; ip netns exec "$(nat_ns "$ns")" "$@"; }
# The same in the background, where the number of the process is that of the command.
nat_exec() { local ns=$1; shift; exec ip netns exec "$(nat_ns "$ns")" "$@"; }

# The first thing that is missing here, or nothing. Its arguments are further programs that are needed.
nat_missing() {
    local tool
    [ "$(id -u)" = 0 ] || { echo "needs root"; return; }
    for tool in ip nft conntrack sysctl "$@"; do
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
    local tool missing=false
    # Each by itself: `command -v` with several names is content with one of them.
    for tool in ip nft conntrack sysctl turnserver python3; do command -v "$tool" >/dev/null || missing=true; done
    $missing && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    local packages=(iproute2 nftables conntrack procps coturn python3-minimal)
    export DEBIAN_FRONTEND=noninteractive
    timeout 300 apt-get install -y -qq "${packages[@]}" >/dev/null 2>&1 ||
        { timeout 60 apt-get update -qq && timeout 300 apt-get install -y -qq "${packages[@]}"; } >/dev/null 2>&1 || true
}

# The number of a side, which is in all its addresses.
nat_number() { case $1 in host) echo 1 ;; join) echo 2 ;; esac; }

# The address of a machine, as it knows it.
nat_inside() {
    local n; n=$(nat_number "$1")
    case $NAT_FAMILY$2 in 6*) echo "2001:db8:$n::2" ;; 4open) echo "203.0.$n.2" ;; *) echo "10.0.$n.2" ;; esac
}

# The address that others see.
nat_outside() {
    local n; n=$(nat_number "$1")
    case $NAT_FAMILY$2 in 4open | 6*) nat_inside "$1" "$2" ;; *) nat_wan "$n" 2 ;; esac
}

# The addresses of a cable between the gateway of a side, 2, and the wan, 1.
nat_wan() { case $NAT_FAMILY in 6) echo "2001:db8:1$1::$2" ;; *) echo "198.51.100.$(($1 * 16 + $2))" ;; esac; }

# A cable from a namespace to another: its two names, and the addresses of its two ends.
nat_cable() {
    local from=$1 from_name=$2 from_ip=$3 to=$4 to_name=$5 to_ip=$6 length=30
    ip link add "$from_name" netns "$(nat_ns "$from")" type veth peer name "$to_name" netns "$(nat_ns "$to")"
    [ "$NAT_FAMILY" = 4 ] || length=64
    # shellcheck disable=SC2086
    { nat_in "$from" ip addr add $from_ip/$length dev "$from_name"; nat_in "$to" ip addr add $to_ip/$length dev "$to_name"; }
    nat_in "$from" ip link set "$from_name" up
    nat_in "$to" ip link set "$to_name" up
}

nat_forward() { nat_in "$1" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1; }

nat_space() {
    ip netns add "$(nat_ns "$1")"
    nat_in "$1" ip link set lo up
    # An address of IPv6 would otherwise wait for a second in which nobody else claims it.
    nat_in "$1" sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
}

# The rules of a gateway. What it drops on its way in from outside matters: an unexpected datagram that reached the
# gateway itself would take the port in its table, and the NAT would give the machine behind it another one.
nat_rules() {
    local gateway=$1 kind=$2 masquerade='masquerade' out='accept' family=ip
    [ "$NAT_FAMILY" = 4 ] || family=ip6
    case $kind in
        open) return ;;
        symmetric) masquerade='masquerade fully-random' ;;
        blocked)
            masquerade='masquerade fully-random'
            out="$family daddr $(nat_server) udp dport { $NAT_TURN_PORT, $NAT_RENDEZVOUS_PORT } accept"
            ;;
    esac
    [ "$NAT_FAMILY" = 6 ] || nat_in "$gateway" nft -f - <<RULES
table ip nat {
    chain postrouting {
        type nat hook postrouting priority srcnat
        oifname "wan" meta l4proto udp $masquerade
    }
}
RULES
    nat_in "$gateway" nft -f - <<RULES
table $family filter {
    chain input {
        type filter hook input priority filter
        iifname "wan" meta l4proto != ipv6-icmp drop
    }
    chain forward {
        type filter hook forward priority filter; policy drop
        ct state established,related accept
        iifname "lan*" $out
    }
}
RULES
}

# Builds one side: its machine, and the gateway of this kind.
nat_side() {
    local side=$1 kind=$2 n inside router
    n=$(nat_number "$side")
    inside=$(nat_inside "$side" "$kind")
    router=${inside%2}1
    nat_space "$side"
    nat_space "${side}_gw"
    nat_cable "$side" eth0 "$inside" "${side}_gw" lan "$router"
    nat_cable "${side}_gw" wan "$(nat_wan "$n" 2)" wan "$side" "$(nat_wan "$n" 1)"
    nat_in "$side" ip route add default via "$router"
    nat_in "${side}_gw" ip route add default via "$(nat_wan "$n" 1)"
    nat_forward "${side}_gw"
    if [ "$NAT_FAMILY" = 6 ]; then
        nat_in wan ip route add "${inside%2}/64" via "$(nat_wan "$n" 2)"
    elif [ "$kind" = open ]; then
        nat_in wan ip route add "${inside%2}0/30" via "$(nat_wan "$n" 2)"
    fi
    nat_rules "${side}_gw" "$kind"
}

# Puts the joiner behind the gateway of the host. It has no hairpin: the machines reach each other by their own addresses alone.
nat_neighbour() {
    local inside; inside=$(nat_inside join "$1")
    nat_space join
    nat_cable join eth0 "$inside" host_gw lan2 "${inside%2}1"
    nat_in join ip route add default via "${inside%2}1"
}

# Counts the datagrams between the outside addresses of both sides.
nat_count_direct() {
    local family=ip; [ "$NAT_FAMILY" = 4 ] || family=ip6
    nat_in wan nft -f - <<RULES
table $family direct {
    chain forward {
        type filter hook forward priority filter
        $family saddr $(nat_outside host "$1") $family daddr $(nat_outside join "$2") counter
        $family saddr $(nat_outside join "$2") $family daddr $(nat_outside host "$1") counter
    }
}
RULES
}

nat_direct_packets() {
    nat_in wan nft list ruleset | awk '/counter packets/ { for (i = 1; i < NF; i++) if ($i == "packets") sum += $(i + 1) } END { print sum + 0 }'
}

# Builds everything: the kind of the host's gateway, and that of the joiner's, or "same" for one gateway.
nat_build() {
    local server
    nat_space wan
    nat_forward wan
    nat_side host "$1"
    if [ "$2" = same ]; then nat_neighbour "$1"; else nat_side join "$2"; nat_count_direct "$1" "$2"; fi
    # A TURN server sends from its own addresses to others that it must have a route to.
    nat_space server
    server=$(nat_server)
    nat_cable server eth0 "$server" wan server "${server%10}9"
    nat_in server ip route add default via "${server%10}9"
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

# Starts the TURN server of docs/NAT.md in the server's namespace, with a secret of its own and the addresses there. To be
# started in the background.
nat_turn() {
    local config=$1 page=$2 secret=$3
    sed -n '/^```conf turnserver/,/^```/p' "$page" | grep -v '^```' |
        sed "s/^static-auth-secret=.*/static-auth-secret=$secret/; s/^listening-ip=.*/listening-ip=$(nat_server)/
             s/^relay-ip=.*/relay-ip=$(nat_server)/; /^external-ip=/d; /^proc-/d; s/^log-file=.*/log-file=stdout/
             s/^listening-port=.*/listening-port=$NAT_TURN_PORT/" >"$config"
    # The addresses of this network are those of documentation, which a real server has no peers at.
    nat_exec server turnserver -c "$config" --no-stdout-log --pidfile "$config.pid"
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
