//! The messages between ranks, and their encoding.
//!
//! A message is an envelope (the number of the call, and the [digest](crate::handshake) of the caller) and a content. The encoding is
//! postcard's, of the tuple (version, call, digest, kind, number, bytes).

use std::fmt;
use std::time::Duration;

/// A message with the call that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Number of the collective call, counted by every rank for itself.
    pub call: u64,
    /// Digest of the chain, the terminal and the program.
    pub digest: u64,
    /// The content.
    pub message: Message,
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message {
    /// To rank 0, at the beginning of a call.
    Hello {
        /// The [build](crate::Transport::build) of the sender's program.
        build: u64,
        /// The caller in words.
        caller: String,
    },
    /// The sender is out of work.
    Request,
    /// The sender does not wait for a share any longer. If no reply to its last request is under way, it is to be refused.
    Withdrawal,
    /// Reply to a request: there is nothing to give away.
    Refusal {
        /// Whether the sender is working. If not, it is itself out of work.
        works: bool,
        /// Time in which the sender will be out of work; zero if that is unknown, or longer than two centuries.
        rest: Duration,
    },
    /// Reply to a request: a part of the sender's share. Its output goes to the sender's gap.
    Share {
        /// Number of the gap.
        gap: u64,
        /// The part.
        description: Vec<u8>,
    },
    /// The output of a share, for a gap of the receiver.
    Output {
        /// Number of the gap.
        gap: u64,
        /// The output, and the reason of an interruption.
        bytes: Vec<u8>,
    },
    /// A long output of a share, for a gap of the receiver: the sender keeps it until it is fetched.
    Held {
        /// Number of the gap.
        gap: u64,
        /// The output's place, and the reason of an interruption.
        bytes: Vec<u8>,
    },
    /// A join node that is complete, to be reduced by the receiver.
    Node(Vec<u8>),
    /// The sender needs an output that the receiver keeps.
    Fetch {
        /// Number of the output.
        id: u64,
        /// Number of the fetch.
        ticket: u64,
    },
    /// Reply to a fetch.
    Fetched {
        /// Number of the fetch.
        ticket: u64,
        /// The output, and the reason of an interruption.
        bytes: Vec<u8>,
    },
    /// Nothing that begins at this position or behind it is needed any more.
    Stop {
        /// The position.
        bound: u64,
        /// Code of the reason of an interruption; 0 for a hit.
        reason: u8,
    },
    /// The call has failed.
    Abort(String),
    /// The call has ended: its result.
    End(Vec<u8>),
    /// A frame, an output of a frame, or a taker of a [future](crate::frame::Future).
    Frame(Vec<u8>),
}

impl Message {
    /// Whether the message shows that a rank has work, or has had some. Thieves that find none show nothing.
    pub(crate) fn shows_work(&self) -> bool {
        !matches!(self, Message::Request | Message::Withdrawal | Message::Refusal { works: false, .. })
    }
}

/// A message that cannot be decoded: it is damaged, or from another version of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message that cannot be decoded: it is damaged, or another version of furcate-cluster has sent it")
    }
}

impl std::error::Error for Malformed {}

/// Greatest length of what precedes the bytes: two numbers of one byte, and four of up to ten.
const HEADER: usize = 2 + 4 * 10;

/// Version of the encoding.
const VERSION: u8 = 2;

impl Envelope {
    /// Encodes the message.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let fixed;
        let (kind, number, bytes): (u8, u64, &[u8]) = match &self.message {
            Message::Hello { build, caller } => (0, *build, caller.as_bytes()),
            Message::Request => (1, 0, &[]),
            Message::Refusal { works, rest } => {
                let rest = u64::try_from(rest.as_nanos()).ok().filter(|rest| rest >> 63 == 0);
                (2, u64::from(*works) | rest.unwrap_or_default() << 1, &[])
            }
            Message::Share { gap, description } => (3, *gap, description),
            Message::Output { gap, bytes } => (4, *gap, bytes),
            Message::Stop { bound, reason } => (5, *bound, std::slice::from_ref(reason)),
            Message::Abort(reason) => (6, 0, reason.as_bytes()),
            Message::End(bytes) => (7, 0, bytes),
            Message::Withdrawal => (8, 0, &[]),
            Message::Frame(bytes) => (9, 0, bytes),
            Message::Held { gap, bytes } => (10, *gap, bytes),
            Message::Node(bytes) => (11, 0, bytes),
            Message::Fetch { id, ticket } => {
                fixed = ticket.to_le_bytes();
                (12, *id, &fixed)
            }
            Message::Fetched { ticket, bytes } => (13, *ticket, bytes),
        };
        // Serde would encode the bytes one by one.
        let header = (VERSION, self.call, self.digest, kind, number, bytes.len());
        let room = Vec::with_capacity(HEADER + bytes.len());
        let mut encoded = postcard::to_extend(&header, room).expect("numbers can be encoded");
        encoded.extend_from_slice(bytes);
        encoded
    }

    /// Decodes a message.
    ///
    /// # Errors
    ///
    /// If the bytes are anything but one message of this version.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        type Parts<'b> = (u8, u64, u64, u8, u64, &'b [u8]);
        let ((version, call, digest, kind, number, content), rest): (Parts<'_>, _) =
            postcard::take_from_bytes(bytes).map_err(|_| Malformed)?;
        if version != VERSION || !rest.is_empty() {
            return Err(Malformed);
        }
        let text = || String::from_utf8(content.to_vec()).map_err(|_| Malformed);
        let message = match kind {
            0 => Message::Hello { build: number, caller: text()? },
            1 => Message::Request,
            2 => Message::Refusal { works: number & 1 > 0, rest: Duration::from_nanos(number >> 1) },
            3 => Message::Share { gap: number, description: content.to_vec() },
            4 => Message::Output { gap: number, bytes: content.to_vec() },
            5 => match content {
                &[reason] => Message::Stop { bound: number, reason },
                _ => return Err(Malformed),
            },
            6 => Message::Abort(text()?),
            7 => Message::End(content.to_vec()),
            8 => Message::Withdrawal,
            9 => Message::Frame(content.to_vec()),
            10 => Message::Held { gap: number, bytes: content.to_vec() },
            11 => Message::Node(content.to_vec()),
            12 => {
                let ticket = content.try_into().map_err(|_| Malformed)?;
                Message::Fetch { id: number, ticket: u64::from_le_bytes(ticket) }
            }
            13 => Message::Fetched { ticket: number, bytes: content.to_vec() },
            _ => return Err(Malformed),
        };
        Ok(Envelope { call, digest, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages() -> Vec<Message> {
        vec![
            Message::Hello { build: 1 << 60, caller: "sum of a map".into() },
            Message::Request,
            Message::Refusal { works: true, rest: Duration::ZERO },
            Message::Refusal { works: false, rest: Duration::from_nanos(u64::MAX / 2) },
            Message::Share { gap: 300, description: vec![1, 2, 3] },
            Message::Output { gap: u64::MAX, bytes: vec![0; 1000] },
            Message::Stop { bound: 7, reason: 2 },
            Message::Abort("panicked".into()),
            Message::End(vec![]),
            Message::Withdrawal,
            Message::Frame(vec![4, 5]),
            Message::Held { gap: 3, bytes: vec![1; 9] },
            Message::Node(vec![6, 7]),
            Message::Fetch { id: 8, ticket: u64::MAX },
            Message::Fetched { ticket: 9, bytes: vec![2; 300] },
        ]
    }

    #[test]
    fn every_message_is_decoded_as_it_was() {
        for message in messages() {
            let envelope = Envelope { call: 5, digest: u64::MAX / 3, message };
            assert_eq!(Envelope::decode(&envelope.encode()), Ok(envelope));
        }
    }

    #[test]
    fn an_envelope_is_a_tuple_of_postcard() {
        for bytes in [vec![], vec![7; 3], vec![200; 100_000]] {
            let encoded = Envelope {
                call: 300,
                digest: u64::MAX,
                message: Message::Output { gap: 1 << 40, bytes: bytes.clone() },
            }
            .encode();
            let tuple = (VERSION, 300_u64, u64::MAX, 4_u8, 1_u64 << 40, &bytes[..]);
            assert_eq!(encoded, postcard::to_allocvec(&tuple).unwrap());
        }
    }

    #[test]
    fn damaged_messages_are_refused() {
        for message in messages() {
            let bytes = Envelope { call: 5, digest: 9, message }.encode();
            for len in 0..bytes.len() {
                assert_eq!(Envelope::decode(&bytes[..len]), Err(Malformed), "a message that was cut");
            }
            let longer = [&bytes[..], &[0]].concat();
            assert_eq!(Envelope::decode(&longer), Err(Malformed), "a message that is too long");
            let other = [&[VERSION + 1], &bytes[1..]].concat();
            assert_eq!(Envelope::decode(&other), Err(Malformed), "a message of another version");
        }
    }
}
