//! Shared code of the pool's tests.

#![allow(dead_code, unreachable_pub, unused_macros, unused_imports)]

pub mod detached;
pub mod suspended;

use furcate_pool::{Executor, ThreadPool, ThreadPoolBuilder, WaitRule};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Long enough for everything that a test waits for on a busy machine.
pub const LONG: Duration = Duration::from_secs(60);

pub const RULES: [WaitRule; 3] = [WaitRule::Descendants, WaitRule::Leapfrog, WaitRule::Any];

/// Runs `test` in a thread of its own and fails, instead of hanging, if it takes longer than `limit`.
#[track_caller]
pub fn within<R: Send + 'static>(limit: Duration, test: impl FnOnce() -> R + Send + 'static) -> R {
    let (send, receive) = mpsc::channel();
    let name = thread::current().name().unwrap_or("test").to_owned();
    let runner = thread::Builder::new()
        .name(name)
        .spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(test));
            let _ = send.send(outcome);
        })
        .expect("a thread for the test");
    match receive.recv_timeout(limit) {
        Ok(outcome) => {
            // The thread's thread-locals have been dropped, too.
            runner.join().expect("the test's panic was caught");
            outcome.unwrap_or_else(|payload| resume_unwind(payload))
        }
        Err(RecvTimeoutError::Timeout) => panic!("hangs: not done after {limit:?}"),
        Err(RecvTimeoutError::Disconnected) => panic!("the test's thread is gone"),
    }
}

/// Waits until `done` returns true, by an action of other threads.
#[track_caller]
pub fn until(mut done: impl FnMut() -> bool) {
    let since = Instant::now();
    while !done() {
        assert!(since.elapsed() < LONG, "waited for in vain");
        thread::sleep(Duration::from_micros(50));
    }
}

pub fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}

pub fn ruled(threads: usize, rule: WaitRule) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).wait_rule(rule).build().expect("a pool")
}

/// A join on `pool` in which the calling thread takes part, whether it is a worker or not.
pub fn take_part<A: Send, B: Send>(
    pool: &ThreadPool,
    left: impl FnOnce() -> A + Send,
    right: impl FnOnce() -> B + Send,
) -> (A, B) {
    Executor::join_context(&pool, |_| left(), |_| right())
}

/// Returns the payload of the panic of `f`, which must panic.
#[track_caller]
pub fn payload(f: impl FnOnce()) -> Box<dyn Any + Send> {
    quiet_panics();
    catch_unwind(AssertUnwindSafe(f)).expect_err("a panic")
}

/// Returns the text of a panic with a string.
pub fn message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<&'static str>() {
        Ok(text) => (*text).to_owned(),
        Err(payload) => *payload.downcast::<String>().expect("a message"),
    }
}

/// Suppresses the messages of tests that panic on purpose.
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

/// Whether this process was started by [`child`] to play `role`.
pub fn plays(role: &str) -> bool {
    std::env::var("FURCATE_TEST_ROLE").is_ok_and(|played| played == role)
}

/// Runs the test of that name once more, in a process of its own that [plays](plays) `role`; fails if it hangs.
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

/// Counts the threads that are inside a section of code at once.
#[derive(Debug, Default)]
pub struct Crowd {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Crowd {
    pub fn while_in<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Out<'a>(&'a AtomicUsize);
        impl Drop for Out<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, SeqCst);
            }
        }
        self.most.fetch_max(self.now.fetch_add(1, SeqCst) + 1, SeqCst);
        let _out = Out(&self.now);
        f()
    }

    pub fn most(&self) -> usize {
        self.most.load(SeqCst)
    }
}

/// Adds one.
pub fn add(count: &AtomicUsize) {
    count.fetch_add(1, SeqCst);
}

/// Adds `more`.
pub fn add_up(count: &AtomicUsize, more: usize) {
    count.fetch_add(more, SeqCst);
}

/// Computes for about this time, without blocking.
pub fn work_for(time: Duration) {
    let since = Instant::now();
    while since.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// A small deterministic generator (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// A flag that one thread sets and others wait for.
#[derive(Debug, Default)]
pub struct Flag(std::sync::atomic::AtomicBool);

impl Flag {
    pub fn set(&self) {
        self.0.store(true, SeqCst);
    }

    pub fn is_set(&self) -> bool {
        self.0.load(SeqCst)
    }

    #[track_caller]
    pub fn wait(&self) {
        until(|| self.is_set());
    }
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
