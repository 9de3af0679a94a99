//! The rendezvous over TLS, for players whose network lets out no UDP.

use rebout::net::udp::UdpDriver;
use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct TlsArgs {
    /// Also accept clients over TLS at this address, such as `[::]:443`: for players whose network blocks UDP.
    #[arg(long, value_name = "ADDRESS", requires_all = ["tls_cert", "tls_key"])]
    tls_bind: Option<SocketAddr>,
    /// A PEM file with the certificate chain. The certificate must be for the name by which players know the rendezvous.
    #[arg(long, value_name = "FILE", requires = "tls_bind")]
    tls_cert: Option<PathBuf>,
    /// A PEM file with the key of the certificate.
    #[arg(long, value_name = "FILE", requires = "tls_bind")]
    tls_key: Option<PathBuf>,
    /// The maximum number of clients over TLS.
    #[arg(long, default_value_t = 1_024)]
    max_streams: usize,
}

impl TlsArgs {
    /// Listens, if that was asked for. Returns where.
    pub(crate) fn listen(&self, udp: &mut UdpDriver) -> Result<Option<SocketAddr>, Box<dyn Error>> {
        let (Some(addr), Some(cert), Some(key)) = (self.tls_bind, &self.tls_cert, &self.tls_key) else {
            return Ok(None);
        };
        let listening = udp.listen_tls(addr, cert, key, self.max_streams);
        Ok(Some(listening.map_err(|error| format!("cannot accept TLS on {addr}: {error}"))?))
    }
}
