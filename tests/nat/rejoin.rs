//! A machine behind a router whose program ends in the middle of a match, and that comes back into it through the rendezvous.

use super::connected::{Mail, Mailbox};
use super::internet::{HOST, Internet, JOINER, Node, Plan, Router, ms, rendezvous_addr};
use super::moving::{Move, move_player};
use core::time::Duration;
use rebout::lab::sim::Recording;
use rebout::lab::wire::rendezvous::{Packet, decode};
use rebout::{
    Buttons, Config, ConnectOptions, Connection, Cues, Event, Finish, Game, Inputs, Now, Online, Options,
    Player, Protocol, Randomness, RelayPolicy, Verdict, fields,
};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

const LAST: u32 = 400;

#[derive(Clone, Copy, Debug)]
struct Sums {
    frame: u32,
    sums: [u32; 2],
}
fields!(Sums { frame, sums });

impl Sums {
    fn new(seed: u32) -> Self {
        Self { frame: 0, sums: [seed; 2] }
    }

    /// Both players press the same buttons in a frame, whenever it is stepped.
    fn input(&self) -> Buttons {
        Buttons((self.frame / 7 % 32) as u16)
    }
}

impl Game for Sums {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for player in Player::BOTH {
            let sum = &mut self.sums[player.index()];
            *sum = sum.wrapping_mul(31).wrapping_add(u32::from(inputs[player].buttons().0));
        }
        self.frame += 1;
    }

    fn finished(&self) -> bool {
        self.frame >= LAST
    }
}

/// The checksum with which the match ends if nothing happens to it.
fn unbroken(seed: u32) -> u32 {
    let mut game = Sums::new(seed);
    while !game.finished() {
        let input = game.input();
        game.step(Inputs::from([input; 2]), &mut Cues::new());
    }
    rebout::checksum(&game)
}

/// The program of a player.
struct Program {
    online: Online<Sums, Mailbox>,
    game: Sums,
    events: Vec<Event>,
    finish: Option<Finish>,
}

impl Program {
    fn turn(&mut self) {
        loop {
            match self.online.poll().unwrap() {
                Now::Begin { seed, .. } => {
                    self.game = Sums::new(seed);
                    self.online.start(&self.game);
                }
                Now::Frame => {
                    let input = self.game.input();
                    self.online.advance(&mut self.game, input);
                }
                Now::Event(event) => self.events.push(event),
                Now::Notice(_) => {}
                Now::Finished(finish) => {
                    self.finish = Some(finish);
                    return;
                }
                _ => return,
            }
        }
    }
}

type Running = Rc<RefCell<Option<Program>>>;

/// A machine of the internet, on which a program runs or none.
struct Machine {
    mail: Rc<RefCell<Mail>>,
    program: Running,
}

impl Protocol for Machine {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let mut mail = self.mail.borrow_mut();
        mail.now = now;
        if self.program.borrow().is_some() {
            mail.inbox.push_back((from, datagram.to_vec()));
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.mail.borrow_mut().now = now;
        if self.mail.borrow().outbox.is_empty() {
            self.program.borrow_mut().as_mut()?.turn();
        }
        let (to, datagram) = self.mail.borrow_mut().outbox.pop_front()?;
        buf[..datagram.len()].copy_from_slice(&datagram);
        Some((to, datagram.len()))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        Some(self.mail.borrow().now + ms(4))
    }
}

/// A match through routers whose programs can be killed.
struct Broken {
    internet: Internet,
    plan: Plan,
    mails: [Rc<RefCell<Mail>>; 2],
    programs: [Running; 2],
    folders: [PathBuf; 2],
    /// Programs so far.
    started: u64,
}

impl Drop for Broken {
    fn drop(&mut self) {
        for folder in &self.folders {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

fn options(folder: &Path, entropy: u64) -> Options {
    let config = Config::new(0xB0).with(|config| {
        config.game.content_hash = 1;
        config.lobby.entropy = Some(entropy);
        (config.rollback.delay_frames, config.rollback.kept_buttons) = (Some(0), Buttons::NONE);
        config.timeouts.countdown = ms(300);
    });
    Options::with_config(config).rejoin_in(folder.join("ticket")).record_to(folder)
}

impl Broken {
    fn new(name: &str, plan: Plan) -> Self {
        let mut internet = Internet::new(plan);
        let folders = [HOST, JOINER].map(|id| {
            let name = format!("rebout-nat-{name}-{}-{id}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            let _ = std::fs::remove_dir_all(&folder);
            folder
        });
        let mails = [HOST, JOINER].map(|_| Rc::new(RefCell::new(Mail::default())));
        let [here, there] = mails.each_ref().map(|mail| Mailbox(Rc::clone(mail)));
        let [host, join] = [HOST, JOINER].map(|id| connect(plan, id, id as u64));
        let host = host.rendezvous(&rendezvous_addr().to_string()).leave_addresses_out();
        let host = Connection::host_on(&host, here, &[plan.inside(HOST)]).unwrap();
        let joiner = Connection::join_on(&join, there, &[plan.inside(JOINER)], host.share()).unwrap();
        let mut connections = [host, joiner].into_iter();
        let programs = [HOST, JOINER].map(|id| {
            let options = options(&folders[id], id as u64 + 1);
            running(Online::on(options, connections.next().unwrap()).unwrap())
        });
        for id in [HOST, JOINER] {
            let machine = Machine { mail: Rc::clone(&mails[id]), program: Rc::clone(&programs[id]) };
            *internet.world.machine_mut(id) = Node::Other(Box::new(machine));
        }
        let mut broken = Self { internet, plan, mails, programs, folders, started: 2 };
        broken.run("a match", |programs| programs.iter().all(|one| one.game.frame >= 100));
        broken
    }

    fn of<T>(&self, id: usize, of: impl Fn(&Program) -> T) -> T {
        of(self.programs[id].borrow().as_ref().expect("a program runs"))
    }

    fn run(&mut self, what: &str, done: impl Fn([&Program; 2]) -> bool) {
        let programs = &self.programs;
        let is_done = |_: &Internet| {
            let [one, two] = programs.each_ref().map(|program| program.borrow());
            one.as_ref().zip(two.as_ref()).is_some_and(|(one, two)| done([one, two]))
        };
        let told = |programs: &[Running; 2]| {
            programs.each_ref().map(|one| {
                let one = one.borrow();
                let one = one.as_ref().unwrap();
                (one.online.progress(), one.game.frame, one.finish.clone(), one.events.clone())
            })
        };
        assert!(self.internet.run_until(ms(40_000), is_done), "{what}: {:#?}", told(programs));
    }

    /// The program of a player is killed.
    fn kill(&mut self, id: usize) {
        *self.programs[id].borrow_mut() = None;
        let mut mail = self.mails[id].borrow_mut();
        mail.inbox.clear();
        mail.outbox.clear();
    }

    fn ticket(&self, id: usize) -> PathBuf {
        Options::unfinished_in(self.folders[id].join("ticket")).expect("a ticket")
    }

    /// Another program of a player comes back by its ticket.
    fn come_back(&mut self, id: usize, ticket: &Path) {
        self.started += 1;
        let connect = connect(self.plan, id, 16 * self.started);
        let options = options(&self.folders[id], 16 * self.started).connect(connect);
        let mailbox = Mailbox(Rc::clone(&self.mails[id]));
        let online = Online::rejoin_on(options, ticket, mailbox, &[self.plan.inside(id)]).unwrap();
        *self.programs[id].borrow_mut() = running(online).take();
    }

    fn ends_unbroken(&mut self, what: &str) {
        self.run(what, |programs| programs.iter().all(|one| one.finish.is_some()));
        let seed = self.of(HOST, |one| one.online.agreed().unwrap().seed);
        for id in [HOST, JOINER] {
            let finish = self.of(id, |one| one.finish.clone());
            let Some(Finish::Played(Verdict::Agreed { checksum, .. })) = finish else {
                panic!("{what}, {id}: {finish:?}")
            };
            assert_eq!(checksum, unbroken(seed), "{what}, {id}");
        }
    }
}

fn connect(plan: Plan, id: usize, seed: u64) -> ConnectOptions {
    ConnectOptions::new().relay(plan.relays[id]).randomness(Randomness::Seeded(plan.seed << 32 | seed))
}

fn running(online: Online<Sums, Mailbox>) -> Running {
    let program = Program { online, game: Sums::new(0), events: Vec::new(), finish: None };
    Rc::new(RefCell::new(Some(program)))
}

fn rejoined(program: &Program) -> bool {
    program.events.iter().any(|event| matches!(event, Event::Rejoined { .. }))
}

/// Host or joiner, directly or through the relay, with the mappings of its router, without them, and behind another router.
#[test]
fn machine_behind_a_router_comes_back_through_the_rendezvous() {
    let pairs = [
        (Router::Cone, Router::Cone, false),
        (Router::Symmetric, Router::Symmetric, true),
        (Router::Symmetric, Router::Blocked, true),
        (Router::Open, Router::Symmetric, false),
    ];
    for (host, joiner, is_relayed) in pairs {
        for gone in [HOST, JOINER] {
            for moves in [None, Some(Move::Rebind), Some(Move::NewAddress)] {
                let plan = Plan { loss_percent: 3, ..Plan::new(host, joiner) };
                let what = format!("{host:?} {joiner:?}, {gone} is gone, {moves:?}");
                let mut broken = Broken::new("routers", plan);
                // A relay keeps the allocation of an address, and a program comes back from another port, which only a NAT has here.
                if broken.internet.nats[gone].is_none() && (is_relayed || moves.is_some()) {
                    continue;
                }
                broken.kill(gone);
                if let Some(how) = moves {
                    move_player(&mut broken.internet, gone, how);
                }
                broken.internet.run_for(ms(2_000));
                let ticket = broken.ticket(gone);
                broken.come_back(gone, &ticket);
                broken.run(&what, |programs| programs.into_iter().all(rejoined));
                broken.run(&what, |programs| programs.iter().all(|one| one.online.peer().addr.is_some()));
                broken.ends_unbroken(&what);
                let stays_relayed = is_relayed && moves != Some(Move::NewAddress);
                for id in [HOST, JOINER] {
                    let peer = broken.of(id, |one| one.online.peer());
                    assert!(peer.is_verified && (peer.is_relayed || !stays_relayed), "{what}: {peer:?}");
                    assert!(!peer.is_relayed || is_relayed, "{what}: {peer:?}");
                }
                assert!(!ticket.exists(), "{what}: deleted at the verdict");
            }
        }
    }
}

/// A machine that hides behind the relay sends nothing to the other one when it comes back, whatever its options say.
#[test]
fn hidden_machine_stays_hidden_when_it_comes_back() {
    let plan =
        Plan { relays: [RelayPolicy::Allow, RelayPolicy::Only], ..Plan::new(Router::Cone, Router::Cone) };
    let mut broken = Broken::new("hidden", plan);
    broken.internet.world.network_mut().record(Recording::Full);
    broken.kill(JOINER);
    move_player(&mut broken.internet, JOINER, Move::Rebind);
    broken.internet.run_for(ms(1_000));
    let ticket = broken.ticket(JOINER);
    broken.plan.relays = [RelayPolicy::Allow; 2];
    broken.come_back(JOINER, &ticket);
    broken.ends_unbroken("hidden");
    let host = broken.internet.outside(HOST).ip();
    assert!(broken.internet.said(JOINER).count() > 0);
    assert!(
        broken.internet.said(JOINER).all(|entry| entry.to.ip() != host),
        "nothing goes to the host itself"
    );
}

/// Both machines come back in turn: the rooms of their keys are others each time.
#[test]
fn machines_behind_routers_come_back_one_after_the_other() {
    let mut broken = Broken::new("turns", Plan::new(Router::Symmetric, Router::Cone));
    for gone in [HOST, JOINER, HOST] {
        broken.kill(gone);
        move_player(&mut broken.internet, gone, Move::Rebind);
        broken.internet.run_for(ms(1_500));
        let ticket = broken.ticket(gone);
        broken.come_back(gone, &ticket);
        broken.run("back", |programs| programs.into_iter().all(rejoined));
        for program in &broken.programs {
            program.borrow_mut().as_mut().unwrap().events.clear();
        }
    }
    broken.ends_unbroken("turns");
}

/// A path that is lost after a machine has come back is found again through the room in which it did.
#[test]
fn path_after_coming_back_is_found_again() {
    for gone in [HOST, JOINER] {
        let mut broken = Broken::new("again", Plan::new(Router::Cone, Router::Cone));
        broken.kill(gone);
        broken.internet.run_for(ms(1_000));
        let ticket = broken.ticket(gone);
        broken.come_back(gone, &ticket);
        broken.run("back", |programs| programs.into_iter().all(|one| rejoined(one) && one.game.frame > 150));
        for id in [HOST, JOINER] {
            move_player(&mut broken.internet, id, Move::NewAddress);
        }
        broken.ends_unbroken("again");
    }
}

/// Somebody on the way sends everything again, in the next outage, by which a machine came back: to the rendezvous, and to the other machine.
#[test]
fn recorded_signals_of_a_rejoiner_bring_nobody_back() {
    let mut broken = Broken::new("recorded", Plan::new(Router::Cone, Router::Open));
    broken.internet.world.network_mut().record(Recording::Full);
    broken.kill(HOST);
    broken.internet.run_for(ms(1_000));
    let ticket = broken.ticket(HOST);
    broken.come_back(HOST, &ticket);
    broken.run("back", |programs| programs.into_iter().all(|one| rejoined(one) && one.game.frame > 200));
    let said: Vec<(SocketAddr, Vec<u8>)> =
        broken.internet.said(HOST).map(|entry| (entry.to, entry.datagram.to_vec())).collect();
    assert!(said.iter().any(|(to, _)| *to == rendezvous_addr()));
    broken.kill(HOST);
    broken.programs[JOINER].borrow_mut().as_mut().unwrap().events.clear();
    broken.internet.run_for(ms(2_000));
    for (to, datagram) in &said {
        broken.mails[HOST].borrow_mut().outbox.push_back((*to, datagram.clone()));
        broken.internet.run_for(ms(5));
    }
    broken.internet.run_for(ms(1_000));
    assert!(!broken.of(JOINER, rejoined), "from its own address, with the mappings of its router");
    let ticket = broken.ticket(HOST);
    broken.come_back(HOST, &ticket);
    broken.ends_unbroken("recorded");
}

/// The joiner has its host again, in another room: it posts nothing more to the first one.
#[test]
fn joiner_posts_nothing_more_once_its_host_came_back() {
    let mut broken = Broken::new("posts", Plan::new(Router::Cone, Router::Cone));
    broken.kill(HOST);
    move_player(&mut broken.internet, HOST, Move::Rebind);
    broken.internet.run_for(ms(4_000));
    let ticket = broken.ticket(HOST);
    broken.come_back(HOST, &ticket);
    broken.run("back", |programs| programs.into_iter().all(rejoined));
    broken.internet.run_for(ms(1_000));
    broken.internet.world.network_mut().record(Recording::Full);
    broken.ends_unbroken("posts");
    broken.internet.run_for(ms(10_000));
    let is_post = |bytes: &[u8]| matches!(decode(bytes), Ok(Packet::Post(_)));
    let posts = broken.internet.said(JOINER).filter(|entry| is_post(&entry.datagram)).count();
    assert_eq!(posts, 0);
    assert!(broken.internet.said(JOINER).count() > 0);
}
