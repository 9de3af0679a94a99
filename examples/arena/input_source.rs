//! Where the commands of a player come from: a terminal or a bot.

use games::arena::{SHOOT, bot_command};
use rebout::authority::Command;
use std::io::Read;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// Where the commands of a player come from.
pub(crate) enum InputSource {
    Bot(u64),
    Keys(Keys),
}

/// Keys of a terminal, which says nothing of a key that is let go: one counts as held for a moment.
pub(crate) struct Keys {
    bytes: Receiver<u8>,
    held: [Duration; 5],
    pub(crate) raw: bool,
    pub(crate) quit: bool,
}

const HELD_FOR: Duration = Duration::from_millis(250);

impl Keys {
    pub(crate) fn listen() -> Self {
        let (sender, bytes) = mpsc::channel();
        thread::spawn(move || {
            for byte in std::io::stdin().lock().bytes().map_while(Result::ok) {
                if sender.send(byte).is_err() {
                    return;
                }
            }
        });
        Self { bytes, held: [Duration::ZERO; 5], raw: true, quit: false }
    }

    pub(crate) fn command(&mut self, now: Duration) -> Command {
        while let Ok(byte) = self.bytes.try_recv() {
            match byte {
                b'r' => self.raw = !self.raw,
                b'q' | 3 => self.quit = true,
                _ => {
                    if let Some(at) = b"adws ".iter().position(|key| *key == byte) {
                        self.held[at] = now + HELD_FOR;
                    }
                }
            }
        }
        let [left, right, up, down, shoot] = self.held.map(|until| f32::from(u8::from(until > now)));
        Command::new(right - left, down - up, shoot as u8 * SHOOT)
    }
}

impl InputSource {
    pub(crate) fn command(&mut self, now: Duration) -> Command {
        match self {
            Self::Bot(seed) => bot_command(*seed, now),
            Self::Keys(keys) => keys.command(now),
        }
    }
}
