//! Manual signalling through routers: a STUN server, two texts, and the words for both players.

use super::connected::{Machine, Mail, Mailbox, Shared};
use super::internet::{HOST, Internet, JOINER, Node, Plan, Router, ms, rendezvous_addr};
use core::time::Duration;
use rebout::lab::sim::Recording;
use rebout::{ConnectOptions, Connection, Finish, Now, Online, Options};
use std::cell::RefCell;
use std::rc::Rc;

/// Two players who send each other texts.
struct Texts {
    internet: Internet,
    matches: Vec<Shared>,
}

impl Texts {
    /// Both have written their texts. The host asks this STUN server, and the joiner the one that the offer names.
    fn written(routers: [Router; 2], stun: Option<&str>) -> Self {
        let plan = Plan { has_relay: false, ..Plan::new(routers[HOST], routers[JOINER]) };
        let (internet, inside) = (Internet::new(plan), [HOST, JOINER].map(|id| plan.inside(id)));
        let mut texts = Self { internet, matches: Vec::new() };
        texts.internet.world.network_mut().record(Recording::Full);
        let options = ConnectOptions::new().manual_signalling();
        let options = stun.map_or(options.clone(), |server| options.stun(server));
        texts.open(HOST, |mailbox| Connection::host_on(&options, mailbox, &[inside[HOST]]).unwrap());
        let offer = texts.text(HOST);
        texts.open(JOINER, |mailbox| {
            Connection::join_on(&ConnectOptions::new(), mailbox, &[inside[JOINER]], &offer).unwrap()
        });
        texts
    }

    fn open(&mut self, id: usize, connection: impl FnOnce(Mailbox) -> Connection<Mailbox>) {
        let mail = Rc::new(RefCell::new(Mail { now: self.internet.world.now(), ..Mail::default() }));
        let online = Online::on(Options::new(0xB0, 1), connection(Mailbox(Rc::clone(&mail)))).unwrap();
        self.matches.push(Rc::new(RefCell::new(online)));
        let machine = Machine::new(mail, Rc::clone(&self.matches[id]));
        *self.internet.world.machine_mut(id) = Node::Other(Box::new(machine));
    }

    /// The text of a player, once it is written.
    fn text(&mut self, id: usize) -> String {
        let online = Rc::clone(&self.matches[id]);
        assert!(self.internet.run_until(ms(4_000), |_| !online.borrow().share().is_empty()));
        online.borrow().share().to_owned()
    }

    /// The host's player pastes the answer.
    fn paste(&mut self) {
        let answer = self.text(JOINER);
        self.matches[HOST].borrow_mut().take_answer(&answer).unwrap();
    }

    fn progress(&self, id: usize) -> String {
        self.matches[id].borrow().progress()
    }

    /// The reason why a match has ended, if it has.
    fn failure(&self, id: usize) -> Option<String> {
        match self.matches[id].borrow_mut().poll().unwrap() {
            Now::Finished(Finish::Unreached(error)) => Some(error.to_string()),
            _ => None,
        }
    }

    fn begins_within(&mut self, limit: Duration) -> bool {
        let matches = self.matches.clone();
        self.internet.run_until(limit, |_| matches.iter().all(|online| online.borrow().session().is_some()))
    }
}

#[test]
fn two_ordinary_routers_meet_by_hand_directly() {
    for minutes in [0, 3] {
        let server = rendezvous_addr().to_string();
        let mut texts = Texts::written([Router::Cone, Router::Cone], Some(&server));
        texts.text(JOINER);
        texts.internet.run_for(ms(minutes * 60_000));
        texts.paste();
        assert!(texts.begins_within(ms(2_000)), "{} / {}", texts.progress(HOST), texts.progress(JOINER));
        for (id, other) in [(HOST, JOINER), (JOINER, HOST)] {
            let peer = texts.matches[id].borrow().peer();
            assert!(peer.is_verified && !peer.is_relayed, "{peer:?}");
            assert_eq!(peer.addr, Some(texts.internet.outside(other)), "the address outside of its router");
        }
    }
}

#[test]
fn symmetric_pair_by_hand_is_told_within_20_s() {
    let server = rendezvous_addr().to_string();
    let mut texts = Texts::written([Router::Symmetric, Router::Symmetric], Some(&server));
    texts.paste();
    texts.internet.run_for(ms(20_000));
    let told = texts.failure(HOST).expect("the host is told");
    assert!(told.starts_with("No path between the two routers was found, and there is no relay."), "{told}");
    // Nothing of the host reaches the joiner, who may also have to wait for a slow host.
    let told = texts.progress(JOINER);
    assert!(told.starts_with("no sign of the host's machine yet"), "{told}");
    assert_eq!(texts.failure(JOINER), None);
    texts.internet.run_for(ms(20_000));
    assert!(texts.failure(HOST).is_some() && texts.progress(HOST).starts_with("No path"), "it stays");
}

#[test]
fn joiner_that_hears_the_host_is_told_of_no_path() {
    // The host's datagrams arrive, and the joiner's do not.
    let server = rendezvous_addr().to_string();
    let mut texts = Texts::written([Router::Cone, Router::Cone], Some(&server));
    texts.internet.world.network_mut().set_down(JOINER, HOST, true);
    texts.paste();
    texts.internet.run_for(ms(20_000));
    for id in [HOST, JOINER] {
        let told = texts.failure(id).expect("both are told");
        assert!(told.starts_with("No path between the two routers was found"), "{told}");
    }
}

#[test]
fn routers_by_hand_without_a_stun_server_are_told_to_name_one() {
    let mut texts = Texts::written([Router::Cone, Router::Cone], None);
    assert_eq!(texts.internet.world.now(), ms(0), "the texts need no server");
    texts.paste();
    texts.internet.run_for(ms(20_000));
    let told = texts.failure(HOST).expect("the host is told");
    assert!(told.contains("Name a STUN server"), "{told}");
}

#[test]
fn texts_wait_three_seconds_for_a_silent_stun_server() {
    let mut texts = Texts::written([Router::Open, Router::Open], Some("192.0.2.99:3478"));
    let waited = texts.internet.world.now();
    assert!((ms(3_000)..ms(3_100)).contains(&waited), "{waited:?}");
    assert!(!texts.matches[JOINER].borrow().share().is_empty(), "the offer names no server that is silent");
    texts.paste();
    assert!(texts.begins_within(ms(2_000)), "{} / {}", texts.progress(HOST), texts.progress(JOINER));
}

#[test]
fn mapping_is_asked_for_until_there_is_a_match() {
    let server = rendezvous_addr().to_string();
    let mut texts = Texts::written([Router::Cone, Router::Cone], Some(&server));
    assert!(texts.matches[JOINER].borrow().share().is_empty());
    let joiner = Rc::clone(&texts.matches[JOINER]);
    let asking = format!("asking the STUN server at {server} for the address of this router");
    assert!(texts.internet.run_until(ms(600), |_| joiner.borrow().progress() == asking));
    texts.internet.run_for(ms(60_000));
    let asked = |texts: &Texts, id| texts.internet.said(id).filter(|one| one.to == rendezvous_addr()).count();
    assert_eq!([HOST, JOINER].map(|id| asked(&texts, id)), [5, 5], "every 15 s");
    texts.paste();
    assert!(texts.begins_within(ms(2_000)));
    let before = [HOST, JOINER].map(|id| asked(&texts, id));
    texts.internet.run_for(ms(40_000));
    assert_eq!([HOST, JOINER].map(|id| asked(&texts, id)), before);
}
