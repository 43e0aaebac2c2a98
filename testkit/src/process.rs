//! Tests that need a process of their own: they start their binary once more, for themselves alone.

use crate::time::LONG;
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
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("a child process");
    let since = Instant::now();
    while process.try_wait().expect("the child's state").is_none() {
        if since.elapsed() > LONG {
            process.kill().expect("the child can be killed");
            let output = process.wait_with_output().expect("the child's output");
            panic!("the child process hangs: {}", said(&output));
        }
        thread::sleep(Duration::from_millis(2));
    }
    process.wait_with_output().expect("the child's output")
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
    use std::os::unix::process::ExitStatusExt;
    let output = child(test, role, &[]);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "not aborted: {}", said(&output));
    assert!(said(&output).contains(why), "{:?} is not said in {}", why, said(&output));
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
