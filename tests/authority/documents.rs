//! Peers written from the document's bytes alone: a client that counts its inputs from 1 and sends each three times, and a
//! server that knows nothing beyond the nine types.

use crate::lab::{FRAME, HEIGHT, Lab, Node, SPEED, WIDTH, bad_link, ms, server_addr};
use rebout::Frame;
use rebout::Protocol;
use rebout::authority::Body;
use rebout::authority::GameWire;
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::Machine;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

/// The header of the document, written and read by hand.
#[derive(Clone, Copy, Default)]
struct Numbers {
    sequence: u16,
    ack: u16,
    bits: u32,
    heard: bool,
}

impl Numbers {
    fn packet(&mut self, kind: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x47, 0x41, 0x4D, 0x45];
        bytes.extend_from_slice(&self.sequence.to_be_bytes());
        bytes.extend_from_slice(&self.ack.to_be_bytes());
        bytes.extend_from_slice(&self.bits.to_be_bytes());
        bytes.push(kind);
        bytes.extend_from_slice(&(payload.len() as u16).to_be_bytes());
        bytes.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
        bytes
    }

    fn received(&mut self, datagram: &[u8]) {
        let sequence = u16::from_be_bytes([datagram[4], datagram[5]]);
        let ahead = sequence.wrapping_sub(self.ack).cast_signed();
        if !self.heard {
            (self.heard, self.ack) = (true, sequence);
        } else if ahead > 0 {
            let shifted = self.bits.checked_shl(ahead as u32).unwrap_or(0);
            self.bits = shifted | 1_u32.checked_shl(ahead as u32 - 1).unwrap_or(0);
            self.ack = sequence;
        } else if (-32..0).contains(&ahead) {
            self.bits |= 1 << (-ahead - 1);
        }
    }
}

/// Everything that a client of the document has seen.
#[derive(Default)]
struct Seen {
    id: Option<u8>,
    bodies: Vec<(u32, f32, Option<u32>)>,
    pongs: Vec<f64>,
    events: u32,
    inputs: u32,
}

/// A client by the document: CONNECT_REQ, then three redundant inputs a packet that count from 1, and a PING a second.
struct DocumentClient {
    numbers: Numbers,
    due: Duration,
    out: VecDeque<Vec<u8>>,
    seen: Rc<RefCell<Seen>>,
    /// How many inputs it makes in each of its frames: one if it is honest.
    inputs_a_frame: u32,
}

fn input(number: u32) -> [u8; 13] {
    let mut bytes = [0; 13];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    bytes[4..8].copy_from_slice(&1.0_f32.to_be_bytes());
    bytes
}

impl Protocol for DocumentClient {
    fn handle_datagram(&mut self, now: Duration, _: SocketAddr, datagram: &[u8]) {
        self.numbers.received(datagram);
        let (kind, payload) = (datagram[12], &datagram[15..]);
        let mut seen = self.seen.borrow_mut();
        match kind {
            2 => seen.id = Some(payload[0]),
            5 => {
                let tick = u32::from_be_bytes(payload[..4].try_into().unwrap());
                let count = usize::from(payload[4]);
                let applied = payload[5 + 21 * count..].try_into().ok().map(u32::from_be_bytes);
                let own = payload[5..5 + 21 * count].chunks(21).find(|entity| Some(entity[0]) == seen.id);
                if let Some(entity) = own {
                    let x = f32::from_be_bytes(entity[1..5].try_into().unwrap());
                    seen.bodies.push((tick, x, applied));
                }
            }
            7 => {
                let sent = f64::from_be_bytes(payload.try_into().unwrap());
                seen.pongs.push(now.as_secs_f64() - sent);
            }
            8 => seen.events += 1,
            _ => {}
        }
    }

    fn poll_transmit(&mut self, _: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let bytes = self.out.pop_front()?;
        buf[..bytes.len()].copy_from_slice(&bytes);
        Some((server_addr(), bytes.len()))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        None
    }
}

impl Machine for DocumentClient {
    fn next_frame_at(&self) -> Option<Duration> {
        Some(self.due)
    }

    fn frame(&mut self, now: Duration) {
        self.due = now + FRAME;
        let mut seen = self.seen.borrow_mut();
        if seen.id.is_none() {
            self.out.push_back(self.numbers.packet(1, &[]));
            self.due = now + ms(250);
            return;
        }
        seen.inputs += self.inputs_a_frame;
        let count = 3.max(self.inputs_a_frame).min(seen.inputs);
        let mut payload = vec![count as u8];
        (seen.inputs - count + 1..=seen.inputs).for_each(|number| payload.extend_from_slice(&input(number)));
        self.out.push_back(self.numbers.packet(4, &payload));
        if seen.inputs % 60 == 1 {
            self.out.push_back(self.numbers.packet(6, &now.as_secs_f64().to_be_bytes()));
        }
    }
}

fn document_client(inputs_a_frame: u32) -> (Rc<RefCell<Seen>>, Node<GameWire>) {
    let seen = Rc::new(RefCell::new(Seen::default()));
    let client = DocumentClient {
        numbers: Numbers::default(),
        due: Duration::ZERO,
        out: VecDeque::new(),
        seen: Rc::clone(&seen),
        inputs_a_frame,
    };
    (seen, Node::Other(Box::new(client)))
}

#[test]
fn client_of_the_document_alone_plays_on_our_server() {
    let mut lab = Lab::new(1, bad_link());
    let (seen, node) = document_client(1);
    lab.machine(ms(200), node);
    let ours = lab.client(ms(200));
    lab.run_until(ms(10_000));
    let seen = seen.borrow();
    let id = seen.id.expect("a seat");
    let stats = lab.server().server.input_stats(id).unwrap();
    println!("{} snapshots, {} inputs applied, {} held", seen.bodies.len(), stats.applied, stats.held);
    assert!(seen.bodies.len() > 150 && seen.pongs.len() >= 7 && seen.events >= 2);
    assert!(seen.pongs.iter().all(|rtt| (0.2..0.28).contains(rtt)), "{:?}", seen.pongs);
    assert!(stats.applied > 500 && stats.held < 60, "{stats:?}");
    // It sees itself where the server has it, and the number of its last input.
    for (tick, x, applied) in &seen.bodies {
        let truth = lab.server().body(Frame(*tick), id).unwrap();
        assert!((truth.x - x).abs() < f32::EPSILON);
        assert!(applied.is_some_and(|applied| applied <= seen.inputs));
    }
    let last = seen.bodies.last().unwrap();
    assert!(last.2.unwrap() + 60 > seen.inputs, "{last:?} of {}", seen.inputs);
    assert_eq!(lab.client_at(ours).client.others().map(|seen| seen.id).collect::<Vec<_>>(), [id]);
}

/// How far somebody has moved in four seconds, in steps of the rule.
fn steps_in_four_seconds(inputs_a_frame: u32) -> f32 {
    let mut lab = Lab::new(2, LinkConfig::new(ms(30)));
    let (seen, node) = document_client(inputs_a_frame);
    lab.machine(ms(200), node);
    lab.run_until(ms(2_000));
    let id = seen.borrow().id.unwrap();
    let before = lab.server().server.body(id).unwrap().x;
    lab.run_until(ms(6_000));
    (lab.server().server.body(id).unwrap().x - before) / SPEED
}

#[test]
fn redundant_and_surplus_inputs_give_no_speed() {
    let honest = steps_in_four_seconds(1);
    let greedy = steps_in_four_seconds(3);
    println!(
        "steps in 240 frames: {honest:.1} with each input three times, {greedy:.1} with three inputs a frame"
    );
    assert!((239.0..=241.0).contains(&honest) && greedy <= 241.0);
}

/// A server by the document: steps and broadcasts at 20 Hz, applies the newest input, and sends no more than the nine
/// types say.
struct DocumentServer {
    numbers: Numbers,
    due: Duration,
    tick: u32,
    client: Option<SocketAddr>,
    out: VecDeque<Vec<u8>>,
    queue: VecDeque<(u32, f32, f32)>,
    newest: u32,
    applied: u32,
    body: Body,
    /// Whether the four bytes that the document forgot are sent.
    says_applied: bool,
    history: Rc<RefCell<Vec<(u32, Body)>>>,
}

impl Protocol for DocumentServer {
    fn handle_datagram(&mut self, _: Duration, from: SocketAddr, datagram: &[u8]) {
        self.numbers.received(datagram);
        let (kind, payload) = (datagram[12], &datagram[15..]);
        match kind {
            1 => {
                self.client = Some(from);
                self.out.push_back(self.numbers.packet(2, &[1]));
            }
            4 => {
                let entries = if payload.len() == 13 { payload } else { &payload[1..] };
                for entry in entries.chunks(13) {
                    let float = |at: usize| f32::from_be_bytes(entry[at..at + 4].try_into().unwrap());
                    let number = u32::from_be_bytes(entry[..4].try_into().unwrap());
                    if number > self.newest {
                        self.newest = number;
                        self.queue.push_back((number, float(4), float(8)));
                    }
                }
            }
            6 => self.out.push_back(self.numbers.packet(7, payload)),
            _ => {}
        }
    }

    fn poll_transmit(&mut self, _: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let bytes = self.out.pop_front()?;
        buf[..bytes.len()].copy_from_slice(&bytes);
        Some((self.client?, bytes.len()))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        None
    }
}

impl Machine for DocumentServer {
    fn next_frame_at(&self) -> Option<Duration> {
        Some(self.due)
    }

    fn frame(&mut self, now: Duration) {
        self.due = now + ms(50);
        self.tick += 1;
        // All that has come is applied at once, each once.
        while let Some((number, x, y)) = self.queue.pop_front() {
            let length = (x * x + y * y).sqrt().max(1.0);
            self.body.x = (self.body.x + x / length * SPEED).clamp(0.0, WIDTH);
            self.body.y = (self.body.y + y / length * SPEED).clamp(0.0, HEIGHT);
            self.applied = number;
        }
        self.history.borrow_mut().push((self.applied, self.body));
        if self.client.is_none() {
            return;
        }
        let mut payload = self.tick.to_be_bytes().to_vec();
        payload.extend_from_slice(&[2, 1]);
        for value in [self.body.x, self.body.y, 0.0, 0.0, 1.0] {
            payload.extend_from_slice(&value.to_be_bytes());
        }
        payload.push(2);
        for value in [self.tick as f32, 0.0, 20.0, 0.0, 1.0] {
            payload.extend_from_slice(&value.to_be_bytes());
        }
        if self.says_applied {
            payload.extend_from_slice(&self.applied.to_be_bytes());
        }
        self.out.push_back(self.numbers.packet(5, &payload));
    }
}

#[test]
fn our_client_plays_on_a_server_of_the_document_alone() {
    for says_applied in [true, false] {
        let history = Rc::new(RefCell::new(Vec::new()));
        let server = DocumentServer {
            numbers: Numbers::default(),
            due: Duration::ZERO,
            tick: 0,
            client: None,
            out: VecDeque::new(),
            queue: VecDeque::new(),
            newest: 0,
            applied: 0,
            body: Body::at(100.0, 60.0),
            says_applied,
            history: Rc::clone(&history),
        };
        let link = LinkConfig { jitter: ms(10), ..LinkConfig::new(ms(40)) };
        let mut lab = Lab::<GameWire>::on(3, link, Node::Other(Box::new(server)));
        let client = lab.client_with(ms(200), |config| {
            (config.frame_rate, config.broadcast_rate) = (20, 20);
        });
        lab.run_until(ms(20_000));
        let node = lab.client_at(client);
        assert_eq!(node.client.id(), Some(1));
        let stats = node.client.stats();
        println!("says applied: {says_applied}; {stats:?}");
        // The history by numbers of inputs: the first is 1, after what was here before the first step.
        let before = node.predicted[0].0;
        let (mut compared, mut exact) = (0, 0);
        for (step, body) in &node.predicted {
            let number = step.since(before);
            let history = history.borrow();
            let Some((_, truth)) = history.iter().find(|(applied, _)| *applied == number) else { continue };
            compared += 1;
            exact += u32::from((truth.x, truth.y) == (body.x, body.y));
        }
        println!("{exact} of {compared} predictions exact");
        assert!(compared > 200 && exact * 100 > compared * 95, "{exact} of {compared}");
        let other = node.client.others().next().expect("the other entity");
        assert_eq!((other.id, other.kind), (2, 0));
        let render = node.client.render_frame().unwrap().since(Frame::ZERO);
        assert!((f64::from(other.body.x) - render).abs() < 0.01, "{other:?} at {render}");
        assert_eq!(node.client.over(), None);
        assert!(stats.refused.total() == 0, "{:?}", stats.refused);
    }
}
