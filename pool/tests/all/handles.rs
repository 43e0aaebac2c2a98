//! Handles of a scope, made and dropped anywhere: the scope ends when the last one is dropped, and not before.

use furcate_pool::{Scope, ScopeHandle, ThreadPoolBuilder, scope};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn make<'s>(s: &Scope<'s>, n: usize) -> Vec<ScopeHandle<'s>> {
    (0..n).map(|_| s.handle()).collect()
}

/// Made by the body and by jobs; dropped by them, by other jobs, and by other threads.
#[test]
fn a_scope_ends_with_its_last_handle() {
    for (threads, n) in [1, 2, 4].into_iter().flat_map(|threads| [1, 31, 32, 33, 100].map(|n| (threads, n))) {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for round in 0..20 {
            let dropped = AtomicUsize::new(0);
            let drop_all = |handles: Vec<ScopeHandle<'_>>| {
                for handle in handles {
                    // Before the scope may end.
                    dropped.fetch_add(1, SeqCst);
                    drop(handle);
                }
            };
            let drop_all = &drop_all;
            thread::scope(|others| {
                pool.install(|| {
                    scope(|s| {
                        let own = make(s, n);
                        s.spawn(move |_| drop_all(own));
                        s.spawn(move |s| {
                            let inner = make(s, n);
                            s.spawn(move |_| drop_all(inner));
                        });
                        s.spawn(move |s| {
                            let abroad = make(s, n);
                            others.spawn(move || {
                                thread::sleep(Duration::from_micros(if round % 4 == 0 { 500 } else { 0 }));
                                drop_all(abroad);
                            });
                        });
                        let here = make(s, n);
                        drop_all(here.clone());
                        drop_all(here);
                    });
                });
                assert_eq!(dropped.load(SeqCst), 5 * n, "on {threads}");
            });
        }
    }
}

/// The credits that a job has left return to the scope when the job ends, but not before the job's handles are dropped.
#[test]
fn a_handle_outlives_its_job() {
    for threads in [1, 2] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (send, receive) = mpsc::channel();
        let is_over = AtomicBool::new(false);
        thread::scope(|others| {
            let is_over = &is_over;
            others.spawn(move || {
                let handle: ScopeHandle<'_> = receive.recv().unwrap();
                thread::sleep(Duration::from_millis(20));
                assert!(!is_over.load(SeqCst), "the handle is there");
                let again = handle.clone();
                drop(handle);
                thread::sleep(Duration::from_millis(20));
                assert!(!is_over.load(SeqCst), "its clone is");
                drop(again);
            });
            pool.install(|| scope(|s| s.spawn(move |s| send.send(s.handle()).unwrap())));
            is_over.store(true, SeqCst);
        });
    }
}
