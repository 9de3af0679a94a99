//! UPnP-IGD: the router is searched for by SSDP, describes itself in XML, and takes SOAP requests over HTTP.

use super::http::{self, Response};
use super::{Dialogue, Granted, Step, is_private, is_public};
use crate::net::router::{Request, Route};
use core::time::Duration;
use std::net::{Ipv4Addr, SocketAddrV4};

const SSDP: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(239, 255, 255, 250), 1_900);
/// The services that forward ports.
const SERVICES: [&str; 3] = [
    "urn:schemas-upnp-org:service:WANIPConnection:2",
    "urn:schemas-upnp-org:service:WANIPConnection:1",
    "urn:schemas-upnp-org:service:WANPPPConnection:1",
];
/// The most services of a description that are looked at, and the most that are asked.
const MAX_LISTED: usize = 32;
const MAX_ASKED: usize = 4;
/// The port outside is another machine's: this many ports are tried.
const MAX_PORTS: u16 = 4;
const CONFLICT: &str = "718";
const NOT_FOUND: &str = "714";

/// A service of the router.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Service {
    kind: &'static str,
    path: String,
}

/// The question that is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Question {
    Search,
    Description { path: String },
    Address,
    Map { ip: Ipv4Addr, tried: u16 },
    Unmap,
}

/// A mapping by UPnP-IGD.
#[derive(Debug)]
pub(super) struct Igd {
    route: Route,
    port: u16,
    question: Question,
    lifetime: u32,
    /// The router's HTTP server.
    at: SocketAddrV4,
    /// The service that is asked is the last one.
    services: Vec<Service>,
    /// The port outside of our own mapping.
    outside: Option<u16>,
}

impl Igd {
    pub(super) fn new(route: Route, port: u16) -> Self {
        let at = SocketAddrV4::new(route.gateway, 80);
        let (question, services) = (Question::Search, Vec::new());
        Self { route, port, question, lifetime: 0, at, services, outside: None }
    }

    /// The external port to request: the local one, and others if that one is taken.
    fn outside(&self, tried: u16) -> u16 {
        self.outside.unwrap_or(self.port.wrapping_add(tried.wrapping_mul(1_009)).max(1_024))
    }

    /// A SOAP request to the service in question.
    fn call(&self, action: &str, arguments: &str) -> Request {
        let (kind, path) = self.services.last().map_or(("", "/"), |one| (one.kind, one.path.as_str()));
        let body = format!(
            "<?xml version=\"1.0\"?>\r\n<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\" \
             s:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\"><s:Body><u:{action} xmlns:u=\"{kind}\">\
             {arguments}</u:{action}></s:Body></s:Envelope>\r\n"
        );
        let len = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: text/xml; charset=\"utf-8\"\r\n\
             SOAPAction: \"{kind}#{action}\"\r\nContent-Length: {len}\r\n\r\n{body}",
            self.at
        );
        Request::Stream(self.at, request.into_bytes())
    }

    /// Takes the answer to the search. The router describes itself, not another machine.
    fn found(&mut self, from: SocketAddrV4, answer: &[u8]) -> Step {
        let ip = *from.ip();
        let is_router = if self.route.is_known { ip == self.route.gateway } else { is_private(ip.into()) };
        let text = core::str::from_utf8(answer).ok().filter(|text| http::status(text) == Some(200));
        let location = text.and_then(|text| http::header(text, "Location")).and_then(http::url);
        match location {
            Some((at, path)) if is_router && *at.ip() == ip && ip != self.route.own => {
                (self.at, self.question) = (at, Question::Description { path });
                Step::Next
            }
            _ => Step::Ignored,
        }
    }

    /// Takes the description.
    fn described(&mut self, xml: &str) -> Step {
        let mut rest = xml;
        let listed = core::iter::from_fn(|| {
            let (service, after) = http::element(rest, "service")?;
            rest = after;
            Some(service)
        });
        let services = listed.take(MAX_LISTED).filter_map(|service| {
            let named = http::element(service, "serviceType")?.0.trim();
            let kind = SERVICES.into_iter().find(|kind| *kind == named)?;
            let control = http::element(service, "controlURL")?.0.trim();
            let path = match http::url(control) {
                Some((at, path)) => Some(path).filter(|_| at == self.at),
                None => http::path(control).filter(|_| !control.contains("://")),
            };
            Some(Service { kind, path: path? })
        });
        self.services = services.take(MAX_ASKED).collect();
        // The first one is asked first.
        self.services.reverse();
        self.ask_service()
    }

    fn ask_service(&mut self) -> Step {
        self.question = Question::Address;
        if self.services.is_empty() { Step::Over } else { Step::Next }
    }

    /// The service has no public address: another one may have.
    fn next_service(&mut self) -> Step {
        self.services.pop();
        self.ask_service()
    }

    fn answered(&mut self, response: &Response) -> Step {
        let value = |name| http::element(&response.body, name).map(|(text, _)| text.trim());
        let is_done = response.status == 200;
        match self.question.clone() {
            Question::Description { .. } if is_done => self.described(&response.body),
            Question::Address => match value("NewExternalIPAddress").and_then(|text| text.parse().ok()) {
                Some(ip) if is_done && is_public(SocketAddrV4::new(ip, self.port)) => {
                    self.question = Question::Map { ip, tried: 0 };
                    Step::Next
                }
                _ => self.next_service(),
            },
            Question::Map { ip, tried } if is_done => {
                let port = self.outside(tried);
                self.outside = Some(port);
                // The answer has no lifetime: the router has granted the one that was asked for.
                Step::Granted(Granted { outside: SocketAddrV4::new(ip, port), lifetime: self.lifetime })
            }
            Question::Map { ip, tried } if value("errorCode") == Some(CONFLICT) && tried + 1 < MAX_PORTS => {
                (self.outside, self.question) = (None, Question::Map { ip, tried: tried + 1 });
                Step::Next
            }
            Question::Unmap if is_done || value("errorCode") == Some(NOT_FOUND) => {
                self.outside = None;
                Step::Over
            }
            _ => Step::Over,
        }
    }
}

impl Dialogue for Igd {
    fn begin(&mut self, lifetime: u32) -> bool {
        self.lifetime = lifetime;
        self.question = match (lifetime, self.outside) {
            // A mapping that is not our own is left alone.
            (0, None) => return false,
            (0, Some(_)) => Question::Unmap,
            (_, Some(_)) => Question::Address,
            (_, None) => Question::Search,
        };
        true
    }

    fn request(&self) -> Request {
        match &self.question {
            Question::Search => {
                let search = "M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\nMX: 1\r\n\
                              ST: urn:schemas-upnp-org:device:InternetGatewayDevice:1\r\n\r\n";
                Request::Datagram(SSDP, search.as_bytes().to_vec())
            }
            Question::Description { path } => {
                let get = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.at);
                Request::Stream(self.at, get.into_bytes())
            }
            Question::Address => self.call("GetExternalIPAddress", ""),
            Question::Map { tried, .. } => {
                let (outside, inside, own) = (self.outside(*tried), self.port, self.route.own);
                let lease = self.lifetime;
                let arguments = format!(
                    "<NewRemoteHost></NewRemoteHost><NewExternalPort>{outside}</NewExternalPort>\
                     <NewProtocol>UDP</NewProtocol><NewInternalPort>{inside}</NewInternalPort>\
                     <NewInternalClient>{own}</NewInternalClient><NewEnabled>1</NewEnabled>\
                     <NewPortMappingDescription>rebout</NewPortMappingDescription>\
                     <NewLeaseDuration>{lease}</NewLeaseDuration>"
                );
                self.call("AddPortMapping", &arguments)
            }
            Question::Unmap => {
                let outside = self.outside(0);
                let arguments = format!(
                    "<NewRemoteHost></NewRemoteHost><NewExternalPort>{outside}</NewExternalPort>\
                     <NewProtocol>UDP</NewProtocol>"
                );
                self.call("DeletePortMapping", &arguments)
            }
        }
    }

    fn patience(&self) -> Duration {
        match self.question {
            // Routers answer a search after up to a second.
            Question::Search => Duration::from_millis(1_200),
            _ => Duration::from_millis(250),
        }
    }

    fn take(&mut self, from: SocketAddrV4, answer: &[u8]) -> Step {
        if self.question == Question::Search {
            return self.found(from, answer);
        }
        if from != self.at {
            return Step::Ignored;
        }
        http::response(answer).map_or(Step::Over, |response| self.answered(&response))
    }
}
