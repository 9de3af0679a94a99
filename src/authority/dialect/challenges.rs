//! The numbers of the packets by which a newcomer shows that it receives.

/// The most numbers that are kept: the proof, and challenges every 25 ms for as long as a round trip of 575 ms.
const KEPT: usize = 24;

/// The number of the proof and those of the challenges after it, oldest first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Challenges {
    numbers: [u16; KEPT],
    /// Bit k: number k was acknowledged.
    acknowledged: u32,
    len: usize,
}

impl Challenges {
    /// No numbers: a connection that began without challenges.
    pub(crate) const NONE: Self = Self { numbers: [0; KEPT], acknowledged: 0, len: 0 };

    /// The number of the proof, which is acknowledged.
    pub(crate) fn after(proof: u16) -> Self {
        let mut this = Self::NONE;
        this.push(proof);
        this.acknowledge(proof);
        this
    }

    fn numbers(&self) -> &[u16] {
        &self.numbers[..self.len]
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len == KEPT
    }

    /// The number that was sent last.
    pub(crate) fn last(&self) -> u16 {
        self.numbers().last().copied().unwrap_or(0)
    }

    /// Notes a challenge; the oldest makes room.
    pub(crate) fn push(&mut self, number: u16) {
        if self.is_full() {
            self.numbers.copy_within(1.., 0);
            (self.acknowledged, self.len) = (self.acknowledged >> 1, self.len - 1);
        }
        self.numbers[self.len] = number;
        self.len += 1;
    }

    pub(crate) fn contains(&self, number: u16) -> bool {
        self.numbers().contains(&number)
    }

    /// Takes in an ack. `None` if no such number was sent, otherwise whether this is its first ack.
    pub(crate) fn acknowledge(&mut self, number: u16) -> Option<bool> {
        let at = self.numbers().iter().position(|sent| *sent == number)?;
        let is_first = self.acknowledged & 1 << at == 0;
        self.acknowledged |= 1 << at;
        Some(is_first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_challenge_counts_once_and_the_proof_never() {
        let mut challenges = Challenges::after(65_000);
        challenges.push(300);
        assert_eq!(challenges.acknowledge(65_000), Some(false), "the proof");
        assert_eq!(
            [300, 300, 301].map(|number| challenges.acknowledge(number)),
            [Some(true), Some(false), None]
        );
        assert_eq!(challenges.last(), 300);
        assert!(challenges.contains(65_000) && !challenges.contains(301));
    }

    #[test]
    fn oldest_challenge_makes_room() {
        let mut challenges = Challenges::after(0);
        (1..24).for_each(|number| challenges.push(number));
        assert!(challenges.is_full());
        assert_eq!(challenges.acknowledge(5), Some(true));
        challenges.push(24);
        assert_eq!(
            [0, 1, 5, 24].map(|number| challenges.acknowledge(number)),
            [None, Some(true), Some(false), Some(true)]
        );
    }
}
