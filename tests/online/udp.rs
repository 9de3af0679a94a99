//! Whole matches over UDP on loopback, and in memory, driven by `wait`.

use crate::game::{Machine, Sums};
use core::time::Duration;
use rebout::net::{Datagrams, Memory};
use rebout::{Config, ConnectOptions, Connection, Finish, Now, Online, Options, Verdict};
use std::thread;
use std::time::Instant;

fn options() -> Options {
    let config = Config::new(0xB0).with(|config| {
        config.game.frame_rate = 480;
        config.rollback.delay_frames = Some(1);
    });
    Options::with_config(config).connect(local())
}

fn local() -> ConnectOptions {
    ConnectOptions::new().bind("127.0.0.1:0".parse().unwrap())
}

/// Plays a match to its end in the thread that calls.
fn play<D: Datagrams>(online: Online<Sums, D>, mut at_frame: impl FnMut(&mut Machine<D>)) -> Finish {
    let mut machine = Machine::new(online);
    loop {
        let now = machine.online.wait().unwrap();
        if matches!(now, Now::Frame) {
            at_frame(&mut machine);
        }
        machine.act(now);
        if let Some(finish) = &machine.finish {
            let finish = finish.clone();
            machine.online.close().unwrap();
            return finish;
        }
    }
}

fn agrees(one: &Finish, two: &Finish) {
    assert!(matches!(one, Finish::Played(Verdict::Agreed { .. })), "{one:?}");
    assert_eq!(one, two);
}

#[test]
fn invited_match_is_played_over_udp() {
    let host = Online::host(options()).unwrap();
    let invite = host.share().to_owned();
    let there = thread::spawn(move || play(Online::join(options(), &invite).unwrap(), |_| ()));
    agrees(&play(host, |_| ()), &there.join().unwrap());
}

#[test]
fn match_goes_on_after_a_new_socket() {
    let host = Online::host(options()).unwrap();
    let invite = host.share().to_owned();
    let there = thread::spawn(move || {
        let mut moved = false;
        play(Online::join(options(), &invite).unwrap(), |machine| {
            if !moved && machine.game.as_ref().is_some_and(|game| game.state.frame == 20) {
                machine.online.connection_mut().rebind("127.0.0.1:0".parse().unwrap()).unwrap();
                moved = true;
            }
        })
    });
    agrees(&play(host, |_| ()), &there.join().unwrap());
}

#[test]
fn match_is_played_in_memory() {
    let begun = Instant::now();
    let [here, there] = Memory::pair(move || begun.elapsed());
    let address = here.local_addr();
    let host = Connection::host_on(&ConnectOptions::new(), here, &[address]).unwrap();
    let invite = host.share().to_owned();
    let other = thread::spawn(move || {
        let connection = Connection::join_on(&ConnectOptions::new(), there, &[], &invite).unwrap();
        play(Online::on(options(), connection).unwrap(), |_| ())
    });
    agrees(&play(Online::on(options(), host).unwrap(), |_| ()), &other.join().unwrap());
}

#[cfg(feature = "reach")]
#[test]
fn match_is_played_through_a_rendezvous_on_this_machine() {
    use rebout::net::udp::UdpDriver;
    use rebout::rendezvous::{Server, ServerConfig};
    use rebout::seal::Randomness;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    let mut udp = UdpDriver::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let server = udp.local_addr().to_string();
    let done = Arc::new(AtomicBool::new(false));
    let is_done = Arc::clone(&done);
    let serving = thread::spawn(move || {
        let mut server = Server::new(ServerConfig::default(), Randomness::System).unwrap();
        while !is_done.load(Ordering::Relaxed) {
            let deadline = udp.now() + Duration::from_millis(5);
            udp.run_until(&mut server, deadline).unwrap();
        }
    });
    let mut host = Online::host(options().rendezvous(&server)).unwrap();
    // A joiner that comes earlier asks again after some seconds.
    while !matches!(host.wait().unwrap(), Now::Connecting(text) if text.starts_with("registered")) {}
    let invite = host.share().to_owned();
    let there = thread::spawn(move || play(Online::join(options(), &invite).unwrap(), |_| ()));
    agrees(&play(host, |_| ()), &there.join().unwrap());
    done.store(true, Ordering::Relaxed);
    serving.join().unwrap();
}
