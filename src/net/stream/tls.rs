//! Whom TLS trusts: the authorities and the name of servers on this side, the certificate of a server on the other.

use super::frames::Framing;
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The trust of a client: the servers that it connects to have a certificate for one name.
#[derive(Clone, Debug)]
pub(crate) struct Trust {
    config: ClientConfig,
    name: ServerName<'static>,
}

impl Trust {
    /// Servers have to prove that they are `name`, a host name or an IP address, by a certificate that one of the authorities in a
    /// file has signed, or one of Mozilla's list if there is no file.
    ///
    /// # Errors
    /// If the file cannot be read or has no certificate, or if this is no name.
    pub(crate) fn new(name: &str, authorities: Option<&Path>) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        match authorities {
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Some(path) => {
                for certificate in certificates(path)? {
                    roots.add(certificate).map_err(|error| unusable(path, &error))?;
                }
            }
        }
        let name = ServerName::try_from(name.to_owned())
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "this is no name of a machine"))?;
        let mut config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        Ok(Self { config, name })
    }

    pub(super) fn session(&self, framing: Framing) -> io::Result<rustls::Connection> {
        let mut config = self.config.clone();
        config.alpn_protocols = vec![framing.protocol().to_vec()];
        let session = ClientConnection::new(Arc::new(config), self.name.clone());
        session.map(rustls::Connection::Client).map_err(io::Error::other)
    }
}

/// The certificate of a server and its key.
#[derive(Debug)]
pub(super) struct Identity(Arc<ServerConfig>);

impl Identity {
    /// Reads a chain of certificates and a key, both in PEM.
    ///
    /// # Errors
    /// If a file cannot be read, or if the key is not that of the certificate.
    pub(super) fn read(certificate: &Path, key: &Path) -> io::Result<Self> {
        let chain = certificates(certificate)?;
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(key, &error))?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .map_err(|error| unusable(certificate, &error))?;
        config.alpn_protocols = vec![Framing::Prefixed.protocol().to_vec()];
        // Clients reconnect seldom, and a server without tickets keeps nothing of them.
        config.send_tls13_tickets = 0;
        Ok(Self(Arc::new(config)))
    }

    pub(super) fn session(&self) -> io::Result<rustls::Connection> {
        let session = ServerConnection::new(Arc::clone(&self.0));
        session.map(rustls::Connection::Server).map_err(io::Error::other)
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn certificates(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(path).map_err(|error| unusable(path, &error))?;
    let found: Result<Vec<_>, _> = read.collect();
    let found = found.map_err(|error| unusable(path, &error))?;
    if found.is_empty() {
        return Err(unusable(path, &"it has no certificate"));
    }
    Ok(found)
}

fn unusable(path: &Path, why: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {why}", path.display()))
}
