//! The pool's tests. Those that need a process of their own start this program once more (`testkit::process`).

mod blocking_threads;
mod broadcast;
mod builder;
mod deques;
mod detach;
mod detach_panics;
mod endings;
mod external_threads;
mod fairness;
mod foreign_wakers;
mod handles;
#[cfg(unix)]
mod jobserver;
mod join;
mod lifetime;
mod main_handler;
mod mixed;
mod next_job;
mod priority;
mod scope;
mod sleep;
mod slots;
mod spawn;
mod spawn_future;
mod stop;
mod support;
mod suspend;
mod suspend_endings;
mod suspend_roots;
mod turns;
mod unattended;
mod waiting;
mod wakes;
