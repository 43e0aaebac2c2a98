//! The order of jobs: tasks that `wake_first` has woken, and a thief's choice.

use crate::support::suspended::*;
use crate::support::*;
use furcate_pool::detach::wake_first;
use furcate_pool::{ThreadPool, ThreadPoolBuilder, join};
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// After a millisecond without service a queue is overdue, and its oldest task comes next. On a busy machine threads
/// may lose their cores for a while. So a round that takes longer than this does not count.
const SOON: Duration = Duration::from_micros(900);

/// Some milliseconds after such a round no queue is overdue any more.
const RECOVERY: Duration = Duration::from_millis(5);

/// Held by tests whose jobs spin on two cores.
static ALONE: Mutex<()> = Mutex::new(());

/// Suspended tasks, and the numbers of the jobs that have run, in order.
struct Tasks {
    gates: Vec<Arc<Gate>>,
    ran: Arc<Mutex<Vec<usize>>>,
}

impl Tasks {
    /// Makes so many tasks of a pool, with numbers from 0 on. Each of them waits for its [wake](Self::wake).
    fn new(pool: &ThreadPool, count: usize) -> Self {
        let tasks =
            Tasks { gates: iter::repeat_with(Arc::default).take(count).collect(), ran: Arc::default() };
        for (number, gate) in tasks.gates.iter().enumerate() {
            let (waits, ran) = (gate.wait_for(), Arc::clone(&tasks.ran));
            drop(pool.spawn_future(async move {
                waits.await;
                ran.lock().unwrap().push(number);
            }));
        }
        until(|| tasks.gates.iter().all(|gate| gate.waiting() == 1));
        tasks
    }

    /// The waker of a task, which ends when it is polled again.
    fn waker(&self, number: usize) -> Waker {
        self.gates[number].unlock();
        self.gates[number].wakers().remove(0)
    }

    fn wake(&self, number: usize) {
        self.waker(number).wake();
    }

    fn wake_first(&self, number: usize) {
        wake_first(self.waker(number));
    }

    /// Notes that another job has run.
    fn note(&self, number: usize) {
        self.ran.lock().unwrap().push(number);
    }

    fn count(&self) -> usize {
        self.ran.lock().unwrap().len()
    }

    /// Returns the numbers of the first `count` jobs, once they have run.
    fn order(&self, count: usize) -> Vec<usize> {
        until(|| self.count() == count);
        self.ran.lock().unwrap().clone()
    }
}

/// Both for wakes by the pool's worker and for wakes by another thread.
#[test]
fn a_task_that_is_woken_first_runs_before_tasks_woken_earlier() {
    within(LONG, || {
        for from_outside in [false, true] {
            let pool = pool(1);
            let tasks = Tasks::new(&pool, 6);
            let wakes = || {
                tasks.wake(0);
                tasks.wake(1);
                tasks.wake_first(2);
                tasks.wake(3);
                tasks.wake_first(4);
                tasks.wake(5);
            };
            let (wakes, over) = (&wakes, &Flag::default());
            thread::scope(|threads| {
                // The pool's only slot is taken meanwhile.
                pool.install(|| {
                    if from_outside {
                        threads.spawn(move || {
                            wakes();
                            over.set();
                        });
                        // Not by `join`: a thread that blocks loses its slot.
                        over.wait();
                    } else {
                        wakes();
                    }
                });
            });
            assert_eq!(tasks.order(6), [4, 2, 0, 1, 3, 5], "from outside: {from_outside}");
        }
    });
}

/// The worker's next job is the task that it has woken first, although its pool has another set of woken tasks.
#[test]
fn a_worker_runs_next_what_it_has_woken_first() {
    const ROUNDS: usize = 60;
    const TASKS: usize = 11;
    /// Returns the number of rounds in which the task came next.
    fn measure(pool: &ThreadPool) -> usize {
        let (mut next, mut rounds) = (0, 0);
        while rounds < ROUNDS {
            let tasks = Arc::new(Tasks::new(pool, TASKS));
            let (held, done) = (Arc::<Flag>::default(), Arc::<Flag>::default());
            let (holds, until_done) = (Arc::clone(&held), Arc::clone(&done));
            // The other worker runs nothing until all is done.
            pool.spawn(move || {
                holds.set();
                spin_until(|| until_done.is_set());
            });
            let all = Arc::clone(&tasks);
            let (told, took) = mpsc::channel();
            pool.spawn(move || {
                spin_until(|| held.is_set());
                let since = Instant::now();
                (1..TASKS).for_each(|number| all.wake(number));
                all.wake_first(0);
                told.send(since.elapsed()).unwrap();
            });
            let order = tasks.order(TASKS);
            done.set();
            if took.recv().unwrap() > SOON {
                thread::sleep(RECOVERY);
                continue;
            }
            rounds += 1;
            next += usize::from(order[0] == 0);
        }
        next
    }
    let _alone = ALONE.lock();
    within(LONG, || {
        let (pool, mut measured) = (pool(2), vec![]);
        // In a random set, the task would come next in half of the rounds.
        let is_next = (0..5).any(|_| {
            let next = measure(&pool);
            measured.push(next);
            next >= ROUNDS * 4 / 5
        });
        assert!(is_next, "it came next in {measured:?} of {ROUNDS} rounds");
    });
}

#[test]
fn wakers_of_other_executors_are_woken_once_and_change_nothing() {
    struct Other {
        woken: AtomicUsize,
        panics: bool,
    }
    impl Wake for Other {
        fn wake(self: Arc<Self>) {
            add(&self.woken);
            assert!(!self.panics, "on purpose");
        }
    }

    quiet_panics();
    within(LONG, || {
        let pool = pool(1);
        let tasks = Tasks::new(&pool, 4);
        pool.install(|| {
            for (number, panics) in [(0, false), (1, true)] {
                let other = Arc::new(Other { woken: AtomicUsize::new(0), panics });
                tasks.wake(2 * number);
                let waker = Waker::from(Arc::clone(&other));
                let outcome = catch_unwind(AssertUnwindSafe(|| wake_first(waker)));
                assert_eq!(outcome.is_err(), panics);
                assert_eq!(
                    (other.woken.load(SeqCst), Arc::strong_count(&other)),
                    (1, 1),
                    "woken, and dropped"
                );
                tasks.wake(2 * number + 1);
            }
        });
        assert_eq!(tasks.order(4), [0, 1, 2, 3], "later wakes are not first");
    });
}

/// The kind of job in a victim's active deque.
#[derive(Clone, Copy, Debug)]
enum Active {
    Spawned,
    Forked,
}

/// ProWS-R, Section 3.1.4 and Algorithm 6: to a thief, the victim's active deque is one of the entries of the victim's
/// stealable set.
#[test]
fn thieves_choose_uniformly_between_the_active_deque_and_the_woken_tasks() {
    const TASKS: usize = 4;
    /// The number of the job in the active deque.
    const ACTIVE: usize = TASKS;
    const ROUNDS: usize = 500;
    /// Each of the jobs comes first in a fifth of the rounds, and the active deque is chosen as first, second ... last in a
    /// fifth of them. The standard deviation is 9.
    const LEAST: usize = 55;
    const MOST: usize = 145;

    /// Returns how often each job came first, and how often the active deque had each turn.
    fn measure(pool: &ThreadPool, active: Active) -> [[usize; TASKS + 1]; 2] {
        let (mut first, mut chosen) = ([0; TASKS + 1], [0; TASKS + 1]);
        let mut rounds = 0;
        while rounds < ROUNDS {
            let tasks = Arc::new(Tasks::new(pool, TASKS));
            let (held, go) = (Arc::<Flag>::default(), Arc::<Flag>::default());
            let (holds, goes) = (Arc::clone(&held), Arc::clone(&go));
            pool.spawn(move || {
                holds.set();
                spin_until(|| goes.is_set());
            });
            let (victim, notes) = (Arc::clone(&tasks), Arc::clone(&tasks));
            let (told, took) = mpsc::channel();
            pool.spawn(move || {
                spin_until(|| held.is_set());
                let since = Instant::now();
                // `wake_first` puts the task into the set of this worker's slot.
                (0..TASKS).for_each(|number| victim.wake_first(number));
                let all_stolen = || {
                    go.set();
                    spin_until(|| victim.count() == TASKS + 1);
                };
                match active {
                    Active::Spawned => {
                        furcate_pool::spawn(move || notes.note(ACTIVE));
                        all_stolen();
                    }
                    Active::Forked => _ = join(all_stolen, || notes.note(ACTIVE)),
                }
                told.send(since.elapsed()).unwrap();
            });
            let order = tasks.order(TASKS + 1);
            if took.recv().unwrap() > SOON {
                thread::sleep(RECOVERY);
                continue;
            }
            rounds += 1;
            first[order[0]] += 1;
            chosen[order.iter().position(|&number| number == ACTIVE).expect("it has run")] += 1;
        }
        println!("{active:?}: first {first:?}, the active deque's turn {chosen:?}");
        [first, chosen]
    }

    let _alone = ALONE.lock();
    for active in [Active::Spawned, Active::Forked] {
        // On a busy machine most rounds are slow, and do not count.
        within(4 * LONG, move || {
            // With ordinary fences thieves see each fork at once. Otherwise a fork that is still private could not be
            // chosen.
            let pool = ThreadPoolBuilder::new().num_threads(2).ordinary_fences().build().expect("a pool");
            let mut measured = vec![];
            let is_uniform = (0..5).any(|_| {
                let counts = measure(&pool, active);
                measured.push(counts);
                counts.as_flattened().iter().all(|count| (LEAST..=MOST).contains(count))
            });
            assert!(is_uniform, "{active:?}: first, turns: {measured:?}");
        });
    }
}

/// Waits without a cooperative point, and without a sleep: the thread keeps its slot.
fn spin_until(done: impl Fn() -> bool) {
    while !done() {
        std::hint::spin_loop();
    }
}
