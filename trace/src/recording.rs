//! What the pool's recorder needs: the form of an event in a ring, the names, and a place to tell where the recorder is.

use crate::{AlreadyRunning, Trace};
use std::sync::OnceLock;

pub use crate::event::{Kind, beside, block_payload, decode, encode};
pub use crate::names::{Name, number_of};

/// The functions that start and stop a recording. They are the pool's, and the pool depends on this crate.
#[derive(Clone, Copy, Debug)]
pub struct Recorder {
    /// Begins to record.
    pub start: fn() -> Result<(), AlreadyRunning>,
    /// Ends the recording that `start` has begun, and returns it.
    pub stop: fn() -> Option<Trace>,
}

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// Notes the program's recorder. Called before a pool is made and before a recording starts; later calls do nothing.
pub fn set_recorder(recorder: Recorder) {
    RECORDER.get_or_init(|| recorder);
}

/// Returns the program's recorder; `None` while the program has made no pool and no recording.
#[cfg(feature = "pictures")]
pub(crate) fn recorder() -> Option<Recorder> {
    RECORDER.get().copied()
}
