//! The process and its threads: forks of the process, cores, processor time, and messages to its user.

use crate::sync::machine::{OnceLock, machine_static, thread};
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[cfg(not(furcate_sim))]
mod thread_clock;
pub(crate) mod topology;

#[cfg(furcate_sim)]
pub(crate) use furcate_sim::thread::ThreadClock;
#[cfg(not(furcate_sim))]
pub(crate) use thread_clock::ThreadClock;

/// Writes a message of the library to stderr. If stderr is closed, or is a pipe without a reader, the message is lost. (There `eprintln` would
/// panic: in a worker, or in a handler that must not unwind.)
pub(crate) fn report(message: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "furcate: {message}");
}

/// Returns the number of processors that the process may use, as it was at the first call.
pub(crate) fn processors() -> usize {
    machine_static! {
        static PROCESSORS: OnceLock<usize> = OnceLock::new();
    }
    *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Number of forks between this process and the one that called [`generation`] first.
static FORKS: AtomicUsize = AtomicUsize::new(0);

/// Returns the generation of this process. A forked child has another generation than its parent.
pub(crate) fn generation() -> usize {
    #[cfg(unix)]
    {
        extern "C" fn in_child() {
            FORKS.fetch_add(1, std::sync::atomic::Ordering::AcqRel);
        }
        static HANDLER: std::sync::Once = std::sync::Once::new();
        // SAFETY: the handler does nothing but an atomic addition, which is allowed in a forked child.
        HANDLER.call_once(|| unsafe {
            // If there is no memory for the handler, forked children are not told apart. Nothing else depends on it.
            libc::pthread_atfork(None, None, Some(in_child));
        });
    }
    known_generation()
}

/// Returns the generation of this process, for callers that know of an earlier call of [`generation`].
#[inline]
pub(crate) fn known_generation() -> usize {
    // Relaxed: the value changes only while the process has one thread.
    FORKS.load(Relaxed)
}

/// Pins the calling thread to a logical processor: number `number`, modulo their number, of those that the thread may use, one of each
/// core first. (Two threads of a pool on one core would share its units while another core is idle.) If that is not possible, the
/// system chooses the thread's processor.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn pin(number: usize) {
    #[cfg(furcate_sim)]
    if furcate_sim::is_simulated() {
        return;
    }
    const SIZE: usize = size_of::<libc::cpu_set_t>();
    // SAFETY: a set of cores is an array of integers, for which zeros are a value: the empty set.
    let mut cores: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a set of this size. Thread 0 is the calling thread.
    if unsafe { libc::sched_getaffinity(0, SIZE, &raw mut cores) } != 0 {
        return;
    }
    // SAFETY: the number of a processor is less than the number of bits of the set.
    let is_in = |&core: &usize| unsafe { libc::CPU_ISSET(core, &cores) };
    // The cores do not change, so the system is asked once, and not by each thread.
    static SIBLINGS: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    let siblings = SIBLINGS.get_or_init(|| {
        let list =
            |processor| format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
        (0..SIZE * 8).map(|it| std::fs::read_to_string(list(it)).unwrap_or_default()).collect()
    });
    let in_order = one_of_each_core_first((0..SIZE * 8).filter(is_in), |it| &siblings[it]);
    let Some(&core) = number.checked_rem(in_order.len()).and_then(|index| in_order.get(index)) else {
        return;
    };
    // SAFETY: as above.
    let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the number of the core is less than the number of bits of the set.
    unsafe { libc::CPU_SET(core, &mut one) };
    // SAFETY: the pointer is to a set of this size. If the system refuses, the thread is not pinned.
    unsafe { libc::sched_setaffinity(0, SIZE, &raw const one) };
}

/// Returns the processors in the order in which threads are pinned: the first ones of all cores, the second ones, and so on. `siblings`
/// returns the list of a processor's core, such as "0,64" or "0-1"; an empty one says nothing.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn one_of_each_core_first<'a>(
    processors: impl Iterator<Item = usize>,
    siblings: impl Fn(usize) -> &'a str,
) -> Vec<usize> {
    let (mut cores, mut in_order) = (Vec::new(), Vec::new());
    for processor in processors {
        // The number of a core is that of its first processor.
        let core = topology::first_of(siblings(processor)).unwrap_or(processor);
        let before = cores.iter().filter(|&&other| other == core).count();
        cores.push(core);
        in_order.push((before, processor));
    }
    in_order.sort_unstable();
    in_order.into_iter().map(|(_, processor)| processor).collect()
}

/// As above, by a crate that knows the other systems' calls.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn pin(number: usize) {
    #[cfg(furcate_sim)]
    if furcate_sim::is_simulated() {
        return;
    }
    if let Some(cores) = core_affinity::get_core_ids().filter(|cores| !cores.is_empty()) {
        core_affinity::set_for_current(cores[number % cores.len()]);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::topology::processor;
    use super::{one_of_each_core_first, pin};

    #[test]
    fn threads_are_pinned_to_the_cores_of_the_process_in_turn() {
        let core_after_pin = |number| {
            std::thread::spawn(move || {
                pin(number);
                (std::thread::available_parallelism().expect("the cores").get(), processor())
            })
            .join()
            .expect("the thread does not panic")
        };
        // SAFETY: zeros are a value: the empty set.
        let mut cores: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a set of this size.
        assert_eq!(unsafe { libc::sched_getaffinity(0, size_of_val(&cores), &raw mut cores) }, 0);
        // SAFETY: the function reads the set.
        let count = unsafe { libc::CPU_COUNT(&cores) } as usize;
        let first: Vec<_> = (0..count).map(core_after_pin).collect();
        assert!(first.iter().all(|&(cores, core)| cores == 1 && core.is_some()), "{first:?}");
        let mut cores: Vec<_> = first.iter().map(|&(_, core)| core).collect();
        cores.sort_unstable();
        cores.dedup();
        assert_eq!(cores.len(), count, "{first:?}");
        let second: Vec<_> = (count..2 * count).map(core_after_pin).collect();
        assert_eq!(first, second);
    }

    #[test]
    fn threads_have_cores_of_their_own_as_long_as_there_are_some() {
        let order = |processors: &[usize], siblings: &dyn Fn(usize) -> String| {
            let lists: Vec<String> = (0..8).map(siblings).collect();
            one_of_each_core_first(processors.iter().copied(), |it| &lists[it])
        };
        let all: Vec<_> = (0..8).collect();
        let far = |it: usize| format!("{},{}\n", it % 4, it % 4 + 4);
        assert_eq!(order(&all, &far), all);
        let near = |it: usize| format!("{}-{}\n", it & !1, it | 1);
        assert_eq!(order(&all, &near), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(order(&[1, 2, 3, 6], &near), [1, 2, 6, 3]);
        let four = |it: usize| format!("{}-{},{}-{}", it & 2, it & 2 | 1, it & 2 | 4, it & 2 | 5);
        assert_eq!(order(&all, &four), [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!(order(&all, &|_| String::new()), all);
        assert_eq!(order(&all, &|_| "what,-,9-x".into()), all);
        assert!(order(&[], &near).is_empty());
    }
}
