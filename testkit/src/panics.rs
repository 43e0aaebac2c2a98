//! Panics on purpose, and their texts.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The payload of a planned panic.
#[derive(Debug)]
pub struct Planned;

/// Panics with [`Planned`], and prints nothing.
pub fn planned_panic() -> ! {
    resume_unwind(Box::new(Planned))
}

/// Runs a closure that may panic as planned. Returns whether it returned.
pub fn survives(run: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(()) => true,
        Err(payload) if payload.is::<Planned>() => false,
        Err(payload) => resume_unwind(payload),
    }
}

/// Returns the payload of the panic of `f`, which must panic.
#[track_caller]
pub fn payload(f: impl FnOnce()) -> Box<dyn Any + Send> {
    quiet_panics();
    catch_unwind(AssertUnwindSafe(f)).expect_err("a panic")
}

/// Returns the text of a panic.
pub fn text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}

/// Suppresses the messages of panics whose text begins with "on purpose".
pub fn quiet_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let on_purpose = match payload.downcast_ref::<&str>() {
                Some(text) => text.starts_with("on purpose"),
                None => !payload.is::<String>(),
            };
            if !on_purpose {
                loud(info);
            }
        }));
    });
}
