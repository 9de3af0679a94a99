//! The options of spectators, and those that need a feature of the library. Without it they are refused.

#[cfg(not(feature = "nat"))]
use super::options::Relay;
#[cfg(feature = "nat")]
use super::options::choice;
use super::options::{COptions, narrow, switch};
use crate::safe::fault::Fault;
use rebout::{BroadcastConfig, ConnectOptions};
use std::time::Duration;

/// Who may watch.
pub(super) fn spectators_of(given: &COptions) -> Result<Option<BroadcastConfig>, Fault> {
    let delay = Duration::from_millis(given.watch_delay_ms.into());
    if delay > BroadcastConfig::MAX_DELAY {
        let most = BroadcastConfig::MAX_DELAY.as_millis();
        return Err(Fault::invalid(format_args!(
            "options->watch_delay_ms is {}, more than {most}",
            delay.as_millis()
        )));
    }
    let config = BroadcastConfig {
        max_spectators: narrow::<u8>(given.max_spectators, "max_spectators")?.into(),
        delay,
        bits_per_second: given.watch_bits_per_second,
        chat: switch(given.watch_messages, "watch_messages")?,
        ..BroadcastConfig::default()
    };
    Ok((config.max_spectators > 0).then_some(config))
}

/// The ways through routers.
#[cfg(feature = "nat")]
pub(super) fn routers_of(mut connect: ConnectOptions, given: &COptions) -> Result<ConnectOptions, Fault> {
    let policies = [rebout::RelayPolicy::Allow, rebout::RelayPolicy::Never, rebout::RelayPolicy::Only];
    connect = connect.relay(choice(given.relay, &policies, "relay")?);
    connect = connect.port_mapping(switch(given.port_mapping, "port_mapping")?);
    if switch(given.leave_addresses_out, "leave_addresses_out")? {
        connect = connect.leave_addresses_out();
    }
    Ok(connect)
}

/// A relay is never used, and no router is asked for a port; wishes that need more are refused.
#[cfg(not(feature = "nat"))]
pub(super) fn routers_of(connect: ConnectOptions, given: &COptions) -> Result<ConnectOptions, Fault> {
    if given.relay == Relay::Only as u32 || given.leave_addresses_out != 0 {
        return Err(unsupported("nat"));
    }
    Ok(connect)
}

#[cfg(feature = "nat")]
pub(super) fn asking(connect: ConnectOptions, server: &str) -> Result<ConnectOptions, Fault> {
    Ok(connect.stun(server))
}

#[cfg(not(feature = "nat"))]
pub(super) fn asking(_: ConnectOptions, _: &str) -> Result<ConnectOptions, Fault> {
    Err(unsupported("nat"))
}

#[cfg(not(feature = "tls"))]
fn unsupported(feature: &str) -> Fault {
    let text = format_args!("this library was built without the feature {feature}");
    Fault::new(crate::safe::codes::Status::Unsupported, text)
}

#[cfg(feature = "tls")]
pub(super) fn trusting(connect: ConnectOptions, file: &str) -> Result<ConnectOptions, Fault> {
    Ok(connect.trust_authorities_in(file))
}

#[cfg(not(feature = "tls"))]
pub(super) fn trusting(_: ConnectOptions, _: &str) -> Result<ConnectOptions, Fault> {
    Err(unsupported("tls"))
}
