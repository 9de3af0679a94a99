//! PAUSE and RESUME: two machines agree on the frame at which a match stops, and on the moment at which it goes on.

use super::bytes::{Reader, Writer};
use super::message::{Kind, Message, Ordered};
use super::message_error::DecodeError;
use super::numbering::WireFrame;

/// A step towards a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PauseStep {
    /// The sender asks, and does not step the frame before it has an answer.
    Asks = 1,
    /// The sender agrees. The frame is that of the request, or a later one that it has come to.
    Agrees = 2,
    /// The sender refuses: the other player has paused often enough.
    Refuses = 3,
}

/// The content of a PAUSE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The step.
    pub step: PauseStep,
    /// The first frame that is not stepped.
    pub frame: WireFrame,
    /// How long the sender lets the other player pause.
    pub limit_secs: u16,
}

/// The content of a RESUME.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The token of the match.
    pub token: u64,
    /// The frame at which the match is paused.
    pub frame: WireFrame,
    /// The time until the sender steps it.
    pub left_millis: u16,
}

pub(super) fn put_pause(writer: &mut Writer<'_>, pause: &Pause) {
    writer.u8(pause.step as u8);
    writer.u32(pause.frame.0);
    writer.u16(pause.limit_secs);
}

pub(super) fn put_resume(writer: &mut Writer<'_>, resume: &Resume) {
    writer.u64(resume.token);
    writer.u32(resume.frame.0);
    writer.u16(resume.left_millis);
}

/// Reads a whole PAUSE.
pub(super) fn read_pause(payload: &[u8]) -> Result<Message<'_>, DecodeError> {
    let read = |mut reader: Reader<'_>| {
        reader.u8()?;
        let fields = (reader.u16()?, reader.u8()?, reader.u32()?, reader.u16()?);
        reader.end()?;
        Some(fields)
    };
    let (number, step, frame, limit_secs) =
        read(Reader(payload)).ok_or(DecodeError::Length { kind: Kind::Pause, len: payload.len() })?;
    let step = match step {
        1 => PauseStep::Asks,
        2 => PauseStep::Agrees,
        3 => PauseStep::Refuses,
        step => return Err(DecodeError::Pause { step }),
    };
    let body = Ordered::Pause(Pause { step, frame: WireFrame(frame), limit_secs });
    Ok(Message::Ordered { number, body })
}

pub(super) fn read_resume(payload: &[u8]) -> Result<Resume, DecodeError> {
    let read = |mut reader: Reader<'_>| {
        reader.u8()?;
        let fields = (reader.u64()?, reader.u32()?, reader.u16()?);
        reader.end()?;
        Some(fields)
    };
    let (token, frame, left_millis) =
        read(Reader(payload)).ok_or(DecodeError::Length { kind: Kind::Resume, len: payload.len() })?;
    Ok(Resume { token, frame: WireFrame(frame), left_millis })
}
