//! Tests that need a process of their own: they start their binary once more, for themselves alone.

use crate::time::LONG;
use std::io::Read;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Whether this process was started by [`child`] to play `role`.
pub fn plays(role: &str) -> bool {
    std::env::var("FURCATE_TEST_ROLE").is_ok_and(|played| played == role)
}

/// Runs the test of that name, `module::test`, in a process of its own that [plays] `role`; fails if it hangs.
#[track_caller]
pub fn child(test: &str, role: &str, environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("the test's binary"));
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command.env("FURCATE_TEST_ROLE", role).env_remove("FURCATE_NUM_THREADS").env_remove("RAYON_NUM_THREADS");
    command.envs(environment.iter().copied());
    output_within(command.stdin(Stdio::null()), LONG)
}

/// Runs a program to its end. Kills it, and fails, if it takes longer than `limit`.
#[track_caller]
pub fn output_within(command: &mut Command, limit: Duration) -> Output {
    let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut process = process.expect("the program starts");
    // Read while it runs: a full pipe would stop it.
    let stdout = read(process.stdout.take());
    let stderr = read(process.stderr.take());
    let since = Instant::now();
    let mut hangs = false;
    let status = loop {
        if let Some(status) = process.try_wait().expect("the program's state") {
            break status;
        }
        if !hangs && since.elapsed() > limit {
            hangs = true;
            process.kill().expect("the program can be killed");
        }
        thread::sleep(Duration::from_millis(1));
    };
    let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().expect("the program's output"));
    let output = Output { status, stdout, stderr };
    assert!(!hangs, "{command:?} hangs: {}", said(&output));
    output
}

/// Reads a pipe to its end, in a thread.
fn read(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut text = Vec::new();
        pipe.expect("a pipe").read_to_end(&mut text).expect("the pipe is read");
        text
    })
}

/// As [`child`]; the child must succeed, having played its role.
#[track_caller]
pub fn good_child(test: &str, role: &str, environment: &[(&str, &str)]) {
    let output = child(test, role, environment);
    assert!(output.status.success(), "the child process failed: {}", said(&output));
    assert!(said(&output).contains("1 passed"), "no such test: {}", said(&output));
}

/// As [`child`]; the child must be aborted, and print `why`.
#[cfg(unix)]
#[track_caller]
pub fn aborted_child(test: &str, role: &str, why: &str) {
    let output = child(test, role, &[]);
    assert_eq!(signal_of(&output), Some(SIGABRT), "not aborted: {}", said(&output));
    assert!(said(&output).contains(why), "{:?} is not said in {}", why, said(&output));
}

/// Signals by which a process may end.
#[cfg(unix)]
pub use libc::{SIGABRT, SIGINT, SIGQUIT, SIGTERM};

/// Ends this process by a signal.
#[cfg(unix)]
pub fn end_by(signal: i32) -> ! {
    if signal == SIGABRT {
        std::process::abort();
    }
    // SAFETY: it has no preconditions.
    unsafe { libc::raise(signal) };
    panic!("the signal {signal} has not ended the process");
}

/// The signal that has ended a process.
#[cfg(unix)]
pub fn signal_of(output: &Output) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&output.status)
}

/// Breaks this process's stderr, as in `program 2>&1 | head`: every write there fails.
#[cfg(unix)]
pub fn break_stderr() {
    use std::os::fd::AsRawFd;
    let (unread, written) = std::os::unix::net::UnixStream::pair().expect("a pair of sockets");
    drop(unread);
    // SAFETY: both descriptors are open.
    assert_eq!(unsafe { libc::dup2(written.as_raw_fd(), libc::STDERR_FILENO) }, libc::STDERR_FILENO);
}

pub fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The processor time that this process has used.
#[cfg(unix)]
pub fn processor_time() -> Duration {
    // SAFETY: all-zero is a valid timespec.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a timespec.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
