//! `FURCATE_TRACE=path`: the trace of a whole program.

use super::Trace;
#[cfg(unix)]
use super::recorder::of_program_so_far;
use super::recorder::{RECORDER, Settings, stop_for};
use crate::process::report;
use furcate_trace::recording::set_recorder;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Mutex, Once, OnceLock, PoisonError};

/// The variable that names the file.
const VARIABLE: &str = "FURCATE_TRACE";

/// The variables by which launchers of MPI programs tell a process its rank.
const RANKS: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"];

static PATH: OnceLock<OsString> = OnceLock::new();

/// Begins to record the whole program if `FURCATE_TRACE` names a file. Called when a pool is made; later calls do nothing.
pub(crate) fn record_if_asked() {
    static ASKED: Once = Once::new();
    ASKED.call_once(|| {
        set_recorder(RECORDER);
        let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) else { return };
        let path = of_this_rank(path);
        // The program may change its directory before it ends, and a file that cannot be written is to be known now.
        let path = std::path::absolute(&path).map_or(path, Into::into);
        if let Err(error) = File::create(&path) {
            report_failure(&path, &error);
            return;
        }
        if PATH.set(path).is_err() || !call_at_exit() {
            return;
        }
        if Settings::new().start_for(true).is_err() {
            report(format_args!("{VARIABLE} has no effect: the program has started a trace of its own"));
        } else {
            #[cfg(unix)]
            super::signals::call_at_signals(|signal| {
                // First: to write the trace may take as long as its file's device likes.
                if signal == libc::SIGQUIT {
                    report(format_args!("who waits for what:\n{}", super::dump()));
                }
                write_trace(of_program_so_far);
            });
        }
    });
}

/// Returns the file of this process: `trace.3.json` for `trace.json` if it is the rank 3 of an MPI program, whose ranks have the same environment.
fn of_this_rank(path: OsString) -> OsString {
    let rank = RANKS.iter().find_map(|name| std::env::var(name).ok()?.parse::<u32>().ok());
    let Some(rank) = rank else { return path };
    let mut extension = OsString::from(rank.to_string());
    if let Some(own) = Path::new(&path).extension() {
        extension.push(".");
        extension.push(own);
    }
    Path::new(&path).with_extension(extension).into()
}

/// Has [`write_whole_trace`] called when the program ends. Returns whether that is possible.
fn call_at_exit() -> bool {
    #[cfg(unix)]
    {
        // SAFETY: the function is there as long as the program, takes nothing, and lets no panic out (an `extern "C"` function aborts).
        unsafe { libc::atexit(write_whole_trace) == 0 }
    }
    #[cfg(not(unix))]
    {
        report(format_args!(
            "{VARIABLE} is for Unix systems; call `furcate::trace::start` and `stop` instead"
        ));
        false
    }
}

#[cfg_attr(not(unix), allow(dead_code, reason = "it is called at exit"))]
extern "C" fn write_whole_trace() {
    let write = || write_trace(|| stop_for(true));
    #[cfg(unix)]
    super::signals::without_signals(write);
    #[cfg(not(unix))]
    write();
}

/// Writes the trace, if that has not been done.
#[cfg_attr(not(unix), allow(dead_code, reason = "it is called at exit"))]
fn write_trace(trace: impl FnOnce() -> Option<Trace>) {
    static IS_WRITTEN: Mutex<bool> = Mutex::new(false);
    let mut is_written = IS_WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::replace(&mut *is_written, true) {
        return;
    }
    let (Some(path), Some(trace)) = (PATH.get(), trace()) else { return };
    match write(&trace, path.as_ref()) {
        Ok(()) => {
            let events: usize = trace.threads().iter().map(|thread| thread.events().len()).sum();
            let (path, lost) = (Path::new(path).display(), trace.lost());
            report(format_args!(
                "{events} events are in {path} ({lost} older ones were lost); open it in https://ui.perfetto.dev\n{}",
                trace.summary()
            ));
        }
        Err(error) => report_failure(path, &error),
    }
}

fn write(trace: &Trace, path: &Path) -> io::Result<()> {
    trace.write_chrome(File::create(path)?)
}

fn report_failure(path: &OsString, error: &io::Error) {
    let path = Path::new(path).display();
    report(format_args!(
        "cannot write the trace to {path}: {error}; set {VARIABLE} to a file that can be written"
    ));
}
