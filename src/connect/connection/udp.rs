//! Connections on UDP.

use super::opening::Here;
use super::options::Access;
use super::ports::Ports;
use super::text::Named;
use super::{ConnectError, ConnectOptions, Connection};
use crate::net::local_addresses;
#[cfg(feature = "tls")]
use crate::net::stream::Trust;
#[cfg(feature = "tls")]
use crate::net::system;
use crate::net::udp::{Udp, UdpDriver};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

impl Connection<Udp> {
    /// Lets the clock jump, for tests of long waits.
    #[cfg(test)]
    pub(crate) fn skip(&mut self, time: core::time::Duration) {
        self.driver.transport_mut().skip(time);
    }

    /// A host at a UDP socket of its own. [`share`](Self::share) is the text for the guest.
    ///
    /// # Errors
    /// If the port is taken, the options contradict each other, a name or a file cannot be used, or there are no random
    /// bytes.
    pub fn host(options: &ConnectOptions) -> Result<Self, ConnectError> {
        let driver = bind(options, options.bind)?;
        let addresses = own(driver.local_addr());
        let ports = ports(options, &driver, &addresses);
        Self::open(options, driver, &addresses, None, ports)?.with_port().with_streams(options, None)
    }

    /// Joins a host from a UDP socket of its own. `text` is the host's invite, its offer, or its address.
    ///
    /// # Errors
    /// If the text cannot be used, the options contradict it, or there is no socket.
    pub fn join(options: &ConnectOptions, text: &str) -> Result<Self, ConnectError> {
        let named = Named::read(text)?;
        let driver = bind(options, options.bind)?;
        let addresses = own(driver.local_addr());
        let server = named.server_name();
        Self::open(options, driver, &addresses, Some(&named), None)?.with_port().with_streams(options, server)
    }

    fn with_port(self) -> Self {
        Self { port: self.driver.local_addr().port(), ..self }
    }

    /// Lets the rendezvous and the relay be reached over TLS, where there are any. Their certificate has to be that of the name by
    /// which the invite or the options know the rendezvous, or of its address if it has none.
    #[cfg(feature = "tls")]
    fn with_streams(mut self, options: &ConnectOptions, invited: Option<&str>) -> Result<Self, ConnectError> {
        let Some(paths) = self.layers.paths_mut() else { return Ok(self) };
        let Some(server) = paths.server() else { return Ok(self) };
        let name = certificate_name(options, invited, server);
        let failed = |error: io::Error| ConnectError::Trust { why: error.to_string() };
        let trust = Trust::new(&name, options.authorities.as_deref()).map_err(failed)?;
        self.driver.transport_mut().trust(trust).map_err(failed)?;
        paths.allow_streams();
        Ok(self)
    }

    #[cfg(not(feature = "tls"))]
    fn with_streams(self, _: &ConnectOptions, _: Option<&str>) -> Result<Self, ConnectError> {
        Ok(self)
    }

    /// Replaces the socket by a new one, for a machine that has changed networks. The peers find the new address by
    /// packets that only this machine can make.
    ///
    /// # Errors
    /// If the system cannot bind the address; the old socket then stays in use.
    pub fn rebind(&mut self, addr: SocketAddr) -> io::Result<()> {
        self.driver.rebind(addr)?;
        let own = own(self.driver.local_addr());
        let here = Here::new(&[], &own);
        if let Some(paths) = self.layers.paths_mut() {
            paths.moved(&here);
        }
        #[cfg(feature = "nat")]
        if let Some(before) = self.ports.take() {
            self.ports = before.moved(self.driver.now(), self.driver.local_addr(), &own);
        }
        Ok(())
    }

    /// The address that the socket is bound to.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.driver.local_addr()
    }
}

/// The name that the certificate of the rendezvous has to be for: that in the invite, else that in the options, else its address.
#[cfg(feature = "tls")]
fn certificate_name(options: &ConnectOptions, invited: Option<&str>, server: SocketAddr) -> String {
    let chosen = options.rendezvous.as_deref().map(|text| system::host_and_port(text, 0).0);
    invited.or(chosen).map_or_else(|| server.ip().to_string(), str::to_owned)
}

fn bind(options: &ConnectOptions, addr: SocketAddr) -> Result<UdpDriver, ConnectError> {
    if options.access == Access::Trusted {
        return Err(ConnectError::Options { why: "UDP does not encrypt: leave encrypted_by_transport out" });
    }
    UdpDriver::bind(addr).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::AddrInUse => "another program uses the port; take another one".to_owned(),
            _ => error.to_string(),
        };
        ConnectError::Socket { addr, why }
    })
}

#[cfg(feature = "nat")]
fn ports(options: &ConnectOptions, driver: &UdpDriver, own: &[SocketAddr]) -> Option<Ports> {
    Ports::open(options, driver.now(), driver.local_addr(), own)
}

#[cfg(not(feature = "nat"))]
fn ports(_: &ConnectOptions, _: &UdpDriver, _: &[SocketAddr]) -> Option<Ports> {
    None
}

/// The addresses under which others may reach a socket: its own, or those of all interfaces; loopback on a machine without
/// a network.
fn own(bound: SocketAddr) -> Vec<SocketAddr> {
    if !bound.ip().is_unspecified() {
        return vec![bound];
    }
    let mut addresses = local_addresses();
    if addresses.is_empty() {
        addresses.push(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    addresses.into_iter().map(|ip| SocketAddr::new(ip, bound.port())).collect()
}

#[cfg(feature = "tls")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::rendezvous::{Registration, RendezvousConfig, RendezvousEvent, RendezvousServer};
    use crate::connect::seal::Randomness;
    use crate::protocol::stream_addr::{is_stream, stream_addr};
    use crate::{Invite, Protocol, ServerName};
    use core::time::Duration;

    #[test]
    fn certificate_is_for_the_name_in_the_invite() {
        let server = "192.0.2.1:3479".parse().unwrap();
        let (none, named) = (ConnectOptions::new(), ConnectOptions::new().rendezvous("play.example.org:7"));
        let invite = Invite::with_named_rendezvous(
            [7; 32],
            [],
            ServerName::new("moved.example.org", 7).unwrap(),
            [7; 16],
        );
        let invited = Named::read(&invite.unwrap().to_string()).unwrap();
        let name = |options, named: Option<&Named>| {
            certificate_name(options, named.and_then(Named::server_name), server)
        };
        assert_eq!(name(&none, Some(&invited)), "moved.example.org");
        assert_eq!(name(&named, Some(&invited)), "moved.example.org");
        assert_eq!(name(&named, None), "play.example.org");
        assert_eq!(name(&none, None), "192.0.2.1");
    }

    #[test]
    fn loopback_is_shared_only_without_another_address() {
        let own = own("0.0.0.0:7000".parse().unwrap());
        let has_loopback = own.iter().any(|addr| addr.ip().is_loopback());
        assert_eq!(has_loopback, local_addresses().is_empty(), "{own:?}");
    }

    /// A host at the end of a stream.
    struct Host(Registration);

    impl Protocol for Host {
        fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
            self.0.handle_datagram(now, from, datagram);
        }

        fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
            self.0.poll_transmit(now, buf)
        }

        fn poll_timeout(&self) -> Option<Duration> {
            self.0.poll_timeout()
        }
    }

    #[test]
    fn host_registers_at_a_rendezvous_over_tls() {
        let any = "127.0.0.1:0".parse().unwrap();
        let file =
            |name: &str| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/net/certs").join(name);
        let [mut server_udp, mut host_udp] = [any, any].map(|any| UdpDriver::bind(any).unwrap());
        let at = server_udp.listen_tls(any, &file("server.pem"), &file("server.key"), 8).unwrap();
        let trust = Trust::new("play.test", Some(&file("authority.pem"))).unwrap();
        host_udp.transport_mut().trust(trust).unwrap();
        let mut server = RendezvousServer::new(RendezvousConfig::default(), Randomness::Seeded(1)).unwrap();
        let mut host = Host(Registration::new(stream_addr(at), &[7; 32], Randomness::Seeded(2)).unwrap());
        host.0.set_ticket(42);
        for _ in 0..20_000 {
            let until = server_udp.now() + Duration::from_millis(1);
            server_udp.run_until(&mut server, until).unwrap();
            host_udp.poll(&mut host).unwrap();
            if let Some(RendezvousEvent::Registered { observed, .. }) = host.0.poll_event() {
                assert!(is_stream(observed) && server.rooms() == 1);
                return;
            }
        }
        panic!("no room after 20 s");
    }
}
