//! The events, and their form in a ring: 56 bits of time and 8 of kind, then 64 bits that depend on the kind.

use std::time::Duration;

/// An event and its time since the start of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedEvent {
    /// The time since the start.
    pub at: Duration,
    /// The event.
    pub event: Event,
}

/// Names a job, a fork or a task while it exists; later jobs may have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(pub(super) u64);

impl JobId {
    /// Returns the number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }
}

/// Number of bits of an address that a payload has room for beside a number: all of a user's address, on the systems of today.
const ADDRESS: u32 = 48;

/// Puts a small number beside an address.
#[inline]
#[must_use]
pub fn beside(address: u64, number: usize) -> u64 {
    (address & ((1 << ADDRESS) - 1)) | (number.min(usize::from(u16::MAX)) as u64) << ADDRESS
}

fn parts(payload: u64) -> (JobId, usize) {
    (JobId(payload & ((1 << ADDRESS) - 1)), (payload >> ADDRESS) as usize)
}

/// Puts the size of a block beside the end that the block is cut off from. The highest bit of the size is lost: only an endless part has it.
#[inline]
#[must_use]
pub fn block_payload(size: u64, from_back: bool) -> u64 {
    size << 1 | u64::from(from_back)
}

/// Declares the kinds, the public events, and how an event is decoded.
macro_rules! events {
    ($($(#[$about:meta])* $name:ident $({ $($(#[$about_field:meta])* $field:ident: $type:ty),+ })? = $decode:expr,)*) => {
        /// Something that a thread did, or that happened to it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Event {
            $($(#[$about])* $name $({ $($(#[$about_field])* $field: $type),+ })?,)*
        }

        /// The kind of an event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$about])* $name,)*
        }

        impl Event {
            /// Returns the event of this kind and payload; `None` if there is no such kind.
            fn decode(kind: u8, payload: u64) -> Option<Event> {
                $(
                    if kind == Kind::$name as u8 {
                        let decode: fn(u64) -> Event = $decode;
                        return Some(decode(payload));
                    }
                )*
                None
            }

            /// Returns the name of the kind.
            pub(super) fn kind(self) -> &'static str {
                match self {
                    $(Event::$name { .. } => stringify!($name),)*
                }
            }

            /// Returns the event of a kind of this name, and with this payload, for readers of files; `None` if there is no such kind.
            #[doc(hidden)]
            #[must_use]
            pub fn of_kind(name: &str, payload: u64) -> Option<Event> {
                let kind = match name {
                    $(stringify!($name) => Kind::$name,)*
                    _ => return None,
                };
                Event::decode(kind as u8, payload)
            }
        }
    };
}

events! {
    /// A call of a thread from outside the pool begins: the thread is a worker until the call ends.
    CallBegin = |_| Event::CallBegin,
    /// The call has ended.
    CallEnd = |_| Event::CallEnd,
    /// The thread begins a job that it has taken from a deque or a queue: a stolen fork, a spawned job, a task, a call from outside.
    JobBegin {
        /// The job.
        job: JobId,
        /// The thread's number as a worker.
        worker: usize
    } = |payload| {
        let (job, worker) = parts(payload);
        Event::JobBegin { job, worker }
    },
    /// The job has ended.
    JobEnd = |_| Event::JobEnd,
    /// A fork: the right half can be stolen from now on, and the thread begins the left half.
    Fork {
        /// The right half.
        job: JobId
    } = |payload| Event::Fork { job: JobId(payload) },
    /// A task offers a part of itself to thieves. If no thief comes, the task takes the part back.
    Offer {
        /// The part.
        job: JobId
    } = |payload| Event::Offer { job: JobId(payload) },
    /// The left half of the fork has ended, and the right half was not stolen: the thread goes on with it.
    Right {
        /// The right half.
        job: JobId
    } = |payload| Event::Right { job: JobId(payload) },
    /// The right half has ended, and the thread goes on behind the fork.
    Joined {
        /// The right half.
        job: JobId
    } = |payload| Event::Joined { job: JobId(payload) },
    /// The left half of the fork has ended, and the right half was stolen.
    Stolen {
        /// The right half.
        job: JobId
    } = |payload| Event::Stolen { job: JobId(payload) },
    /// The thread has stolen a job.
    Steal {
        /// The job.
        job: JobId,
        /// The victim's slot.
        victim: usize
    } = |payload| {
        let (job, victim) = parts(payload);
        Event::Steal { job, victim }
    },
    /// The thread begins to fold a part of a chain that is not divided any more.
    LeafBegin {
        /// The size of the part, in the units of its producer: mostly items.
        size: u64
    } = |size| Event::LeafBegin { size },
    /// The leaf has ended.
    LeafEnd = |_| Event::LeafEnd,
    /// The thread begins to run a block of a chain, by `by_blocks` or in a search. It begins the next block when this one has ended.
    BlockBegin {
        /// The size of the block, in the units of its producer: mostly items.
        size: u64,
        /// Whether the block is cut off from the back of the rest, as in a search for the last hit. Else it is cut off from the front.
        from_back: bool
    } = |payload| Event::BlockBegin { size: payload >> 1, from_back: payload & 1 == 1 },
    /// The block has ended.
    BlockEnd = |_| Event::BlockEnd,
    /// The thread begins to fold items of a chain at the place of a `log` in it: a leaf, or a step of a task.
    LogBegin {
        /// The name that the chain gives to the place.
        name: &'static str
    } = |name| Event::LogBegin { name: crate::names::name(name) },
    /// The thread has folded these items.
    LogEnd = |_| Event::LogEnd,
    /// The thread begins to run a chain: it has called a terminal.
    ChainBegin {
        /// The place of the call in the source, as in `src/main.rs:12`.
        place: &'static str
    } = |place| Event::ChainBegin { place: crate::names::place(place) },
    /// The chain's terminal has returned.
    ChainEnd = |_| Event::ChainEnd,
    /// The thread begins to reduce the outputs of two parts.
    ReduceBegin = |_| Event::ReduceBegin,
    /// The reduction has ended.
    ReduceEnd = |_| Event::ReduceEnd,
    /// The thread begins to wait for something that another thread does: a stolen half, a scope's jobs, a future. It may run
    /// jobs meanwhile.
    WaitBegin = |_| Event::WaitBegin,
    /// The wait is over.
    WaitEnd = |_| Event::WaitEnd,
    /// The thread sleeps until another thread has work for it.
    ParkBegin {
        /// The thread's number as a worker.
        worker: usize
    } = |payload| Event::ParkBegin { worker: payload as usize },
    /// The thread was woken.
    ParkEnd = |_| Event::ParkEnd,
    /// The thread sleeps for a fraction of a millisecond between two looks for work.
    NapBegin {
        /// The thread's number as a worker.
        worker: usize
    } = |payload| Event::NapBegin { worker: payload as usize },
    /// The sleep is over.
    NapEnd = |_| Event::NapEnd,
    /// The thread gives its slot to another thread, because it waits, or because the other one has waited too long.
    Handover = |_| Event::Handover,
    /// A task is suspended: its future is pending.
    Suspend {
        /// The task.
        task: JobId
    } = |payload| Event::Suspend { task: JobId(payload) },
    /// A suspended task is woken. Any thread may do that, also one of the system's.
    Wake {
        /// The task.
        task: JobId
    } = |payload| Event::Wake { task: JobId(payload) },
    /// The thread runs the continuation of a task whose future is ready.
    Resume {
        /// The task.
        task: JobId
    } = |payload| Event::Resume { task: JobId(payload) },
    /// The thread takes a whole muggable deque over.
    Mug = |_| Event::Mug,
    /// All tasks of a computation are cancelled, suspended ones too: it has found its result, was stopped, has panicked, or is awaited no longer.
    /// If it was stopped by `stop_on` or `deadline`, there is a [`Stop`](Self::Stop), too.
    Cancel = |_| Event::Cancel,
    /// A call under `stop_on` or `deadline` ends early. The thread has seen that the token is cancelled or that the deadline is over, and leaves
    /// work out. There is one such event for each call that returns `Interrupted`.
    Stop {
        /// Whether it was the deadline.
        by_deadline: bool
    } = |payload| Event::Stop { by_deadline: payload == 1 },
    /// This rank of a cluster has got a share of another rank's work.
    RankSteal {
        /// The other rank.
        rank: usize
    } = |payload| Event::RankSteal { rank: payload as usize },
    /// This rank of a cluster has given a share of its work to another rank.
    RankGive {
        /// The other rank.
        rank: usize
    } = |payload| Event::RankGive { rank: payload as usize },
}

impl Event {
    /// Returns the payload; 0 for a log and a chain, whose numbers of names mean nothing to another program.
    pub(super) fn payload(self) -> u64 {
        match self {
            Event::JobBegin { job, worker: number } | Event::Steal { job, victim: number } => {
                beside(job.0, number)
            }
            Event::Fork { job: JobId(id) }
            | Event::Offer { job: JobId(id) }
            | Event::Right { job: JobId(id) }
            | Event::Joined { job: JobId(id) }
            | Event::Stolen { job: JobId(id) }
            | Event::Suspend { task: JobId(id) }
            | Event::Wake { task: JobId(id) }
            | Event::Resume { task: JobId(id) } => id,
            Event::LeafBegin { size } => size,
            Event::BlockBegin { size, from_back } => block_payload(size, from_back),
            Event::Stop { by_deadline } => by_deadline.into(),
            Event::RankSteal { rank } | Event::RankGive { rank } => rank as u64,
            Event::ParkBegin { worker } | Event::NapBegin { worker } => worker as u64,
            _ => 0,
        }
    }
}

/// The words of an event. `ticks` counts from the start of the recording.
#[inline]
#[must_use]
pub fn encode(ticks: u64, kind: Kind, payload: u64) -> [u64; 2] {
    [ticks << 8 | kind as u64, payload]
}

/// Returns the ticks since the start, and the event.
#[must_use]
pub fn decode([first, payload]: [u64; 2]) -> Option<(u64, Event)> {
    Event::decode(first as u8, payload).map(|event| (first >> 8, event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_the_ring() {
        let address = 0x7fff_1234_5678;
        let event = |kind, payload| decode(encode(77, kind, payload)).unwrap();
        assert_eq!(event(Kind::JobEnd, 0), (77, Event::JobEnd));
        assert_eq!(event(Kind::Fork, address), (77, Event::Fork { job: JobId(address) }));
        let stolen = Event::Steal { job: JobId(address), victim: 3 };
        assert_eq!(event(Kind::Steal, beside(address, 3)), (77, stolen));
        assert_eq!(event(Kind::LeafBegin, u64::MAX), (77, Event::LeafBegin { size: u64::MAX }));
        let block = Event::BlockBegin { size: 5, from_back: true };
        assert_eq!(event(Kind::BlockBegin, block_payload(5, true)), (77, block));
        assert_eq!(decode([255, 0]), None, "no kind has this number");
    }

    #[test]
    fn events_survive_a_file() {
        // Payloads that are in no event are 0; numbers of workers have the size of an address.
        for kind in 0..=u8::MAX {
            let Some(event) = Event::decode(kind, 7 << ADDRESS | 0x1234_5678) else { continue };
            let back = Event::of_kind(event.kind(), event.payload());
            assert!(back == Some(event) || matches!(event, Event::LogBegin { .. }), "{event:?}, {back:?}");
        }
        assert_eq!(Event::of_kind("Nothing", 0), None);
    }

    #[test]
    fn a_number_without_room_is_the_largest_one() {
        assert_eq!(parts(beside(u64::MAX, 1 << 20)), (JobId((1 << ADDRESS) - 1), 0xffff));
    }
}
