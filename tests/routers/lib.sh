# Network namespaces with real NATs between them, for `run` and `check`. To be sourced by bash.
#
#   host --- host_gw --- wan --- join_gw --- join
#                         |
#                       server          a rendezvous and a TURN server, reached from everywhere
#
# A machine has an uplink of its own name, and may change to another one: host_phone, join_phone. Each uplink has a gateway of a
# kind, which `nat_rules` defines; that of a provider's NAT has a second router above it, such as host_cgn.
#
# NAT_FAMILIES is "4", "6" for a network without IPv4, or "4 6". No gateway translates IPv6: all kinds but `open` are firewalls
# there, which let in whom the machine has sent to.

# What `nat_rules` defines.
NAT_KINDS="open full address cone cgn upnp igd symmetric blocked tcp"
NAT_FAMILIES=${NAT_FAMILIES:-4}
# Where the server listens: STUN and TURN, and the rendezvous.
NAT_TURN_PORT=3478
NAT_RENDEZVOUS_PORT=3479
# The kind of each uplink.
declare -A NAT_KIND=()

# The address of the server, in the first family if none is named.
nat_server() { case ${1:-${NAT_FAMILIES%% *}} in 6) echo 2001:db8:50::2 ;; *) echo 203.0.100.10 ;; esac; }
# Its second address: two programs share port 443 by two addresses.
nat_second() { case ${1:-${NAT_FAMILIES%% *}} in 6) echo 2001:db8:50::3 ;; *) echo 203.0.100.14 ;; esac; }
# An address with a port.
nat_at() { case $1 in *:*) echo "[$1]:$2" ;; *) echo "$1:$2" ;; esac; }

# Names of namespaces are global, so they carry the number of the process.
nat_ns() { printf 'nat%s_%s' "$$" "$1"; }
nat_in() { local ns=$1; shift; ip netns exec "$(nat_ns "$ns")" "$@"; }
# The same in the background, where the number of the process is that of the command. It runs before other work of this
# machine: a processor that is busy would look like a network that is silent.
nat_exec() { local ns=$1; shift; exec nice -n -15 ip netns exec "$(nat_ns "$ns")" "$@"; }

# The first thing that is missing here, or nothing. Its arguments are further programs that are needed.
nat_missing() {
    local tool
    [ "$(id -u)" = 0 ] || { echo "needs root"; return; }
    for tool in ip nft conntrack sysctl python3 "$@"; do
        command -v "$tool" >/dev/null || { echo "needs $tool"; return; }
    done
    if ! ip netns add "$(nat_ns probe)" 2>/dev/null; then
        echo "needs the right to make network namespaces"
        return
    fi
    nat_in probe nft add table inet probe 2>/dev/null || echo "needs nftables in the kernel"
    ip netns del "$(nat_ns probe)"
}

# Installs what is missing, where there is apt and it may be used.
nat_install() {
    local tool missing=false
    # Each by itself: `command -v` with several names is content with one of them.
    for tool in ip nft conntrack sysctl turnserver miniupnpd openssl python3; do command -v "$tool" >/dev/null || missing=true; done
    $missing && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    local packages=(iproute2 nftables conntrack procps coturn miniupnpd-nftables openssl python3-minimal)
    export DEBIAN_FRONTEND=noninteractive
    timeout 300 apt-get install -y -qq "${packages[@]}" >/dev/null 2>&1 ||
        { timeout 60 apt-get update -qq && timeout 300 apt-get install -y -qq "${packages[@]}"; } >/dev/null 2>&1 || true
}

# The number of an uplink, which is in all its addresses.
nat_number() { case $1 in host) echo 1 ;; join) echo 2 ;; host_phone) echo 3 ;; join_phone) echo 4 ;; watch) echo 5 ;; esac; }

# The addresses of an uplink in a family, each of the lower end of a cable: of the machine, as it knows it; of the gateway of a
# provider's customer; of the router that is connected to the wan.
nat_inside() {
    local n; n=$(nat_number "$1")
    case $2${NAT_KIND[$1]} in 6*) echo "2001:db8:$n::2" ;; 4open) echo "203.0.$n.2" ;; *) echo "10.0.$n.2" ;; esac
}
nat_shared() { local n; n=$(nat_number "$1"); case $2 in 6) echo "2001:db8:2$n::2" ;; *) echo "100.64.$n.2" ;; esac; }
nat_wan() { local n; n=$(nat_number "$1"); case $2 in 6) echo "2001:db8:1$n::2" ;; *) echo "203.0.100.$((n * 16 + 2))" ;; esac; }
# The address that others see.
nat_outside() { case $2${NAT_KIND[$1]} in 4open | 6*) nat_inside "$1" "$2" ;; *) nat_wan "$1" "$2" ;; esac; }

nat_space() {
    ip netns add "$(nat_ns "$1")"
    nat_in "$1" ip link set lo up
    # An address of IPv6 would otherwise wait for a second in which nobody else claims it.
    nat_in "$1" sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
}
nat_router() { nat_space "$1"; nat_in "$1" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1; }

# A cable from a namespace up to its router: the names of its two ends there, and the call that tells the address of the lower
# end in a family. The upper end has the address before it.
nat_cable() {
    local from=$1 from_name=$2 to=$3 to_name=$4 family address above length
    shift 4
    ip link add "$from_name" netns "$(nat_ns "$from")" type veth peer name "$to_name" netns "$(nat_ns "$to")"
    ip -n "$(nat_ns "$from")" link set "$from_name" up
    ip -n "$(nat_ns "$to")" link set "$to_name" up
    for family in $NAT_FAMILIES; do
        address=$("$@" "$family")
        case $family in
            6) above=${address%2}1 length=64 ;;
            *) above=${address%.*}.$((${address##*.} - 1)) length=30 ;;
        esac
        ip -n "$(nat_ns "$to")" addr add "$above/$length" dev "$to_name"
        ip -n "$(nat_ns "$from")" addr add "$address/$length" dev "$from_name"
        ip -n "$(nat_ns "$from")" route add default via "$above" dev "$from_name"
    done
}

# The way back to the machine of an uplink, from a router to that below it, where no NAT hides the machine.
nat_way() {
    local router=$1 uplink=$2 below=$3 family
    for family in $NAT_FAMILIES; do
        case $family${NAT_KIND[$uplink]} in
            4open | 6*) nat_in "$router" ip route add "$(nat_inside "$uplink" "$family")" via "$("$below" "$uplink" "$family")" ;;
        esac
    done
}

# The rules of a gateway of a kind, with the address of the machine behind it. What it drops on its way in from outside matters:
# an unexpected datagram that reached the gateway itself would take the port in its table, and the NAT would give the machine
# behind it another one.
#
#   open       forwards everything; the machine behind it has a public address
#   full       a full cone: keeps the port where it can, and lets in everybody at a port that it has mapped
#   address    an address-restricted cone: lets in whom it has sent to, from any port
#   cone       a port-restricted cone, as most routers at home: lets in whom it has sent to, from that port
#   cgn        a cone behind the cone of the provider
#   upnp       a cone with miniupnpd, which forwards ports when it is asked to
#   igd        the same by UPnP-IGD alone
#   symmetric  a NAT with another port for each destination
#   blocked    a symmetric NAT that lets out UDP to the server only
#   tcp        a NAT that lets out TCP to port 443 only
nat_rules() {
    local gateway=$1 kind=$2 inside=$3 masquerade='masquerade' out='iifname != "wan" accept' mapped='' key=''
    local udp='meta nfproto ipv4 meta l4proto udp'
    case $kind in
        open) return ;;
        cone | cgn | upnp | igd) ;;
        full) mapped='udp sport' key='udp dport' ;;
        address) mapped='udp sport . ip daddr' key='udp dport . ip saddr' ;;
        symmetric) masquerade='masquerade fully-random' ;;
        blocked)
            masquerade='masquerade fully-random'
            out="udp dport { $NAT_TURN_PORT, $NAT_RENDEZVOUS_PORT } ip daddr { $(nat_server 4), $(nat_second 4) } accept
        udp dport { $NAT_TURN_PORT, $NAT_RENDEZVOUS_PORT } ip6 daddr { $(nat_server 6), $(nat_second 6) } accept"
            ;;
        tcp) out='iifname != "wan" tcp dport 443 accept' ;;
    esac
    nat_in "$gateway" nft -f - <<RULES
table inet gateway {
    chain source {
        type nat hook postrouting priority srcnat
        oifname "wan" meta nfproto ipv4 $masquerade
    }
    chain input {
        type filter hook input priority filter
        iifname "wan" meta l4proto != ipv6-icmp drop
    }
    chain forward {
        type filter hook forward priority filter; policy drop
        ct state established,related accept
        ct status dnat accept
        $out
    }
}
RULES
    [ -z "$key" ] || nat_in "$gateway" nft -f - <<RULES
table inet gateway {
    map mapped { typeof $key : udp dport; flags dynamic, timeout; timeout 5m; }
    chain mapped {
        type filter hook postrouting priority srcnat + 1
        oifname "wan" $udp update @mapped { $mapped : ct original proto-src }
    }
    chain back {
        type nat hook prerouting priority dstnat
        iifname "wan" $udp dnat ip to $inside : $key map @mapped
    }
}
RULES
}

# A router between a machine and another router: its name, the one above, the call that tells its address, the uplink, the kind.
nat_hop() {
    local router=$1 above=$2 call=$3 uplink=$4 kind=$5
    nat_router "$router"
    nat_cable "$router" wan "$above" "$uplink" "$call" "$uplink"
    nat_way "$above" "$uplink" "$call"
    nat_rules "$router" "$kind" "$(nat_inside "$uplink" 4)"
}

# Builds the routers of an uplink. `nat_plug` connects its machine.
nat_uplink() {
    local uplink=$1 kind=$2 above=wan call=nat_wan
    NAT_KIND[$uplink]=$kind
    if [ "$kind" = cgn ]; then
        above=${uplink}_cgn call=nat_shared
        nat_hop "$above" wan nat_wan "$uplink" cone
    fi
    nat_hop "${uplink}_gw" "$above" "$call" "$uplink" "$kind"
}
nat_plug() { nat_cable "${1%_phone}" "eth_${1#*_}" "$1_gw" lan nat_inside "$1"; }

# Moves a machine to its other uplink, with another interface, address and gateway: from a Wi-Fi to a phone.
nat_move() { ip -n "$(nat_ns "$1")" link del "eth_$1"; nat_plug "$1_phone"; }

# Puts the joiner behind the gateway of the host. It has no hairpin: the machines reach each other by their own addresses alone.
nat_neighbour() {
    NAT_KIND[join]=${NAT_KIND[host]}
    nat_space join
    nat_cable join eth_join host_gw lan2 nat_inside join
}

# Counts the datagrams between the outside addresses of both sides.
nat_count_direct() {
    local family host join name=ip rules=
    for family in $NAT_FAMILIES; do
        [ "$family" = 4 ] || name=ip6
        host=$(nat_outside host "$family") join=$(nat_outside join "$family")
        rules+="$name saddr { $host, $join } $name daddr { $host, $join } counter"$'\n'
    done
    nat_in wan nft -f - <<RULES
table inet direct {
    chain forward {
        type filter hook forward priority filter
        $rules
    }
}
RULES
}
nat_direct_packets() {
    nat_in wan nft list table inet direct | awk '{ for (i = 1; i < NF; i++) if ($i == "packets") sum += $(i + 1) } END { print sum + 0 }'
}

# Drops so many percent of all packets on the wan.
nat_lose() {
    nat_in wan nft -f - <<RULES
table inet loss {
    chain forward {
        type filter hook forward priority filter
        numgen random mod 100 < $1 drop
    }
}
RULES
}

# Cuts the cable of an uplink, and mends it.
nat_cut() {
    nat_in wan nft -f - <<RULES
table inet cut_$1 {
    chain forward {
        type filter hook forward priority filter
        iifname "$1" drop
        oifname "$1" drop
    }
}
RULES
}
nat_mend() { nat_in wan nft delete table inet "cut_$1"; }

# Builds everything: the kind of the host's gateway, and that of the joiner's, or "same" for one gateway.
nat_build() {
    nat_router wan
    nat_space host
    nat_uplink host "$1"
    nat_plug host
    if [ "$2" = same ]; then
        nat_neighbour
    else
        nat_space join
        nat_uplink join "$2"
        nat_plug join
        nat_count_direct
    fi
    # A TURN server sends from its own addresses to others that it must have a route to.
    nat_space server
    nat_cable server eth_server wan server nat_server
    local family
    for family in $NAT_FAMILIES; do
        nat_in server ip addr add "$(nat_second "$family")" dev eth_server
        nat_in wan ip route add "$(nat_second "$family")" via "$(nat_server "$family")"
    done
}

# Makes the certificate of an authority of its own for an address: authority.pem, server.pem and server.key in a folder.
nat_certificate() {
    local folder=$1 address=$2 key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
    {
        openssl req -x509 "${key[@]}" -subj /CN=authority -days 2 -addext basicConstraints=critical,CA:TRUE \
            -keyout "$folder/authority.key" -out "$folder/authority.pem"
        openssl req "${key[@]}" -subj /CN=server -keyout "$folder/server.key" -out "$folder/server.csr"
        openssl x509 -req -in "$folder/server.csr" -CA "$folder/authority.pem" -CAkey "$folder/authority.key" -set_serial 1 -days 2 \
            -extfile <(printf 'subjectAltName=IP:%s\nbasicConstraints=CA:FALSE\n' "$address") -out "$folder/server.pem"
    } 2>/dev/null
}

# The outermost NAT of an uplink.
nat_outer() { if [ "${NAT_KIND[$1]}" = cgn ]; then echo "$1_cgn"; else echo "$1_gw"; fi; }

# The outside ports that the NAT of an uplink has mapped, in order.
nat_ports() {
    nat_in "$(nat_outer "$1")" conntrack -L -p udp 2>/dev/null |
        sed -n 's/.*dport=[0-9]* .*dport=\([0-9]*\).*/\1/p' | sort -nu | paste -sd, -
}

# Makes the NAT of an uplink forget its mappings. One that keeps ports would give out the same again, so it is told another.
nat_forget() {
    local router; router=$(nat_outer "$1")
    case ${NAT_KIND[$1]} in
        symmetric | blocked) ;;
        *) nat_in "$router" nft -f - <<RULES
flush chain inet gateway source
add rule inet gateway source oifname "wan" meta nfproto ipv4 meta l4proto udp masquerade to :61234
RULES
            ;;
    esac
    nat_in "$router" nft flush map inet gateway mapped 2>/dev/null || true
    nat_in "$router" conntrack -F 2>/dev/null
}

# Writes the published configuration of the TURN server, with a secret of its own and the addresses of this network; and with TLS, if
# there is a folder with a certificate.
nat_turn_config() {
    local folder=$1 secret=$2 certificate=$3 family off='^$'
    if [ -n "$certificate" ]; then
        off='^no-tls$'
        sed "s|^cert=.*|cert=$certificate/server.pem|; s|^pkey=.*|pkey=$certificate/server.key|" "$folder/turnserver-tls.conf"
    fi
    grep -v "$off" "$folder/turnserver.conf" |
        sed "s/^static-auth-secret=.*/static-auth-secret=$secret/; s/^log-file=.*/log-file=stdout/
             s/^listening-port=.*/listening-port=$NAT_TURN_PORT/; /^listening-ip=/d; /^relay-ip=/d; /^external-ip=/d; /^proc-/d"
    for family in $NAT_FAMILIES; do printf '%s=%s\n' listening-ip "$(nat_server "$family")" relay-ip "$(nat_server "$family")"; done
}

# Runs miniupnpd on the gateway of an uplink, with the name of its files. To be started in the background. It serves UPnP-IGD and, for
# `upnp`, NAT-PMP and PCP, and only where the address outside is a public one, which is why those of this network are not from the blocks for documentation.
nat_upnp() {
    local uplink=$1 files=$2 pcp=yes
    [ "${NAT_KIND[$uplink]}" = upnp ] || pcp=no
    nat_in "${uplink}_gw" nft -f - <<RULES
table inet upnp {
    chain forwarded { }
    chain mapped { }
    chain back { }
    chain prerouting {
        type nat hook prerouting priority dstnat
        jump mapped
    }
    chain postrouting {
        type nat hook postrouting priority srcnat - 1
        jump back
    }
}
RULES
    cat >"$files.conf" <<CONFIG
ext_ifname=wan
listening_ip=lan
enable_upnp=yes
enable_natpmp=$pcp
secure_mode=yes
uuid=00000000-0000-0000-0000-00000000000$(nat_number "$uplink")
upnp_table_name=upnp
upnp_nat_table_name=upnp
upnp_forward_chain=forwarded
upnp_nat_chain=mapped
upnp_nat_postrouting_chain=back
allow 1024-65535 10.0.0.0/8 1024-65535
deny 0-65535 0.0.0.0/0 0-65535
CONFIG
    nat_exec "${uplink}_gw" miniupnpd -d -f "$files.conf" -P "$files.pid"
}
# Whether the gateway of an uplink has it.
nat_has_upnp() { [[ ${NAT_KIND[$1]} = upnp || ${NAT_KIND[$1]} = igd ]]; }
# How many ports it forwards.
nat_forwarded() { nat_in "$1_gw" nft list chain inet upnp mapped | grep -c 'dnat' || true; }

# Takes everything down. Processes inside are the caller's to end. `ip netns list` would complain of those that others remove meanwhile.
nat_remove() {
    local file
    for file in /run/netns/"$(nat_ns '')"*; do [ ! -e "$file" ] || ip netns del "${file##*/}"; done
}
