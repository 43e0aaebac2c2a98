//! The feature `tracing`: the parts of a call run in the span in which the call was made, on every thread.
#![cfg(not(furcate_rayon))]

use furcate::prelude::*;
use furcate::{Division, Fork, Part, PartScheduler};
use futures_lite::future::yield_now;
use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Barrier, Mutex, Once, mpsc};
use std::thread::{self, ThreadId};
use testkit::pool;
use testkit::process::{good_child, plays};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Span, Subscriber, info_span};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// The fields of all spans of furcate's.
static CALLS: Mutex<String> = Mutex::new(String::new());
/// The names of the spans that were closed.
static CLOSED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Whether the subscriber panics in the span `broken`.
static IS_BROKEN: AtomicBool = AtomicBool::new(false);

fn fail_if_broken(span: &str) {
    assert!(span != "broken" || !IS_BROKEN.load(SeqCst), "the subscriber panics");
}

struct Record;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Record {
    fn on_new_span(&self, span: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        struct Fields<'a>(&'a mut String);
        impl Visit for Fields<'_> {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                writeln!(self.0, "{field} {value:?}").unwrap();
            }
        }
        if span.metadata().target() == "furcate" {
            span.record(&mut Fields(&mut CALLS.lock().unwrap()));
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        fail_if_broken(context.span(id).unwrap().name());
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        fail_if_broken(context.span(id).unwrap().name());
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let name = context.span(&id).unwrap().name();
        CLOSED.lock().unwrap().push(name.to_string());
    }
}

fn subscribe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Registry::default().with(Record)).unwrap());
}

/// The names of the spans that this thread is in, the innermost first; without the chains' own.
fn spans() -> Vec<&'static str> {
    let names = Span::current().with_subscriber(|(id, subscriber)| {
        let registry = subscriber.downcast_ref::<Registry>().unwrap();
        let scope = registry.span(id).unwrap().scope();
        scope.map(|span| span.name()).filter(|name| *name != "call").collect()
    });
    names.unwrap_or_default()
}

type Seen = (ThreadId, Vec<&'static str>);

fn here() -> Seen {
    (thread::current().id(), spans())
}

/// Checks a chain of two items that are dealt with at the same time: by two threads.
fn on_two_threads(chain: impl FnOnce(&(dyn Fn(u32) -> Seen + Sync)) -> Vec<Seen>) {
    let both = Barrier::new(2);
    let seen = chain(&|_| {
        both.wait();
        here()
    });
    assert!(seen.len() == 2 && seen[0].0 != seen[1].0, "{seen:?}");
    seen.iter().for_each(|(_, spans)| assert_eq!(spans, &["request"]));
}

/// A scheduler of a user's.
#[derive(Clone)]
struct Forks;

impl PartScheduler for Forks {
    fn run<P: Part>(&self, part: P) -> P::Output {
        match part.divide() {
            Division::Leaf(part) => part.fold(|rest| self.run(rest)),
            Division::Two(fork) => fork.join(|part| self.run(part)),
        }
    }
}

#[test]
fn stolen_parts_of_chains() {
    subscribe();
    let pool = pool(2);
    let _request = info_span!("request").entered();
    let items = || (0..2_u32).into_par_iter().with_max_len(1);
    on_two_threads(|here| items().on(&pool).map(here).collect());
    on_two_threads(|here| items().filter(|_| true).on(&pool).map(here).collect());
    on_two_threads(|here| items().with_scheduler(Forks).on(&pool).map(here).collect());
    on_two_threads(|here| items().depjoin().on(&pool).map(here).collect());
    on_two_threads(|here| items().map(here).by_blocks(std::iter::repeat(2)).on(&pool).collect());
    on_two_threads(|here| pool.install(|| items().map(here).collect()));
    on_two_threads(|here| items().map(async |x| x).io_await().on(&pool).map(here).collect());
    assert_eq!(spans(), ["request"]);
}

#[test]
fn a_nested_call_is_in_the_span_of_its_item() {
    subscribe();
    let pool = pool(2);
    let _request = info_span!("request").entered();
    let both = Barrier::new(2);
    let inner = |_| {
        let _item = info_span!("item").entered();
        (0..2).into_par_iter().map(|_| spans()).collect::<Vec<_>>()
    };
    let item = |x| {
        both.wait();
        inner(x)
    };
    let seen = (0..2).into_par_iter().with_max_len(1).on(&pool).map(item).collect::<Vec<_>>();
    seen.iter().flatten().for_each(|spans| assert_eq!(spans, &["item", "request"]));
}

#[test]
fn tasks_that_go_on_after_a_wait() {
    subscribe();
    let pool = pool(2);
    let request = info_span!("request").entered();
    let wait = |_: u32| async {
        async_io::Timer::after(std::time::Duration::from_millis(1)).await;
        spans()
    };
    let check = |(before, after): (Vec<_>, Vec<_>)| assert!(before == ["request"] && after == ["request"]);
    let chain = || (0..200).into_par_iter().map(wait).io_await().map(|before| (before, spans()));
    chain().on(&pool).for_each(check);
    // A call for which no thread waits keeps the span of its maker.
    let future = pool.install(|| chain().async_for_each(check));
    let spawned = pool.spawn_future(async {
        yield_now().await;
        spans()
    });
    drop(request);
    assert_eq!(futures_lite::future::block_on(spawned), ["request"]);
    drop(future);
}

#[test]
fn spawned_jobs() {
    subscribe();
    let pool = pool(2);
    let request = info_span!("request").entered();
    let (send, seen) = mpsc::channel();
    let (to_spawn, to_scope) = (send.clone(), send);
    pool.spawn(move || {
        to_spawn.send(spans()).unwrap();
        furcate::spawn_fifo(move || to_spawn.send(spans()).unwrap());
    });
    pool.scope(|s| s.spawn(|s| s.spawn(|_| to_scope.send(spans()).unwrap())));
    assert!(pool.broadcast(|_| spans()).iter().all(|spans| spans == &["request"]));
    drop(request);
    drop(to_scope);
    let seen: Vec<_> = seen.iter().collect();
    assert!(seen.len() == 3 && seen.iter().all(|spans| spans == &["request"]), "{seen:?}");
    // The workers have left it.
    assert!(pool.broadcast(|_| spans()).iter().all(Vec::is_empty));
}

/// A span is closed when its call is over and its maker has left it, also after a panic.
#[test]
fn spans_are_closed() {
    subscribe();
    let pool = pool(2);
    let is_closed = |name| CLOSED.lock().unwrap().iter().any(|closed| closed == name);
    info_span!("short").in_scope(|| (0..1000).into_par_iter().on(&pool).for_each(drop));
    assert!(is_closed("short"));
    let panics = || (0..1000).into_par_iter().with_max_len(1).on(&pool).for_each(|x| assert_ne!(x, 700));
    let call = || info_span!("panics").in_scope(panics);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err());
    assert!(is_closed("panics"));
    info_span!("spawned").in_scope(|| pool.spawn(|| ()));
    drop(pool);
    assert!(is_closed("spawned"));
}

#[test]
fn a_call_is_a_span_with_its_place() {
    subscribe();
    let place = format!("place {}:{}:", file!(), line!() + 1);
    (0..10).into_par_iter().for_each(|_| assert_eq!(Span::current().metadata().unwrap().name(), "call"));
    assert!(CALLS.lock().unwrap().contains(&place), "{place}");
}

/// No job has a panic of the subscriber's, and no caller waits for ever.
#[test]
fn a_subscriber_that_panics_stops_no_job() {
    const TEST: &str = "a_subscriber_that_panics_stops_no_job";
    // In a process of its own: the subscriber keeps the span for later threads, because it has panicked in the middle.
    if !plays("broken") {
        return good_child(TEST, "broken", &[]);
    }
    subscribe();
    let (pool, ran) = (pool(2), AtomicUsize::new(0));
    let (sender, spawned) = mpsc::channel();
    let span = info_span!("broken");
    let entered = span.enter();
    IS_BROKEN.store(true, SeqCst);
    pool.scope(|scope| (0..3).for_each(|_| scope.spawn(|_| _ = ran.fetch_add(1, SeqCst))));
    pool.spawn(move || sender.send(()).unwrap());
    spawned.recv().unwrap();
    let seen = Mutex::new(Vec::new());
    let both = Barrier::new(2);
    (0..2).into_par_iter().on(&pool).for_each(|i| {
        both.wait();
        seen.lock().unwrap().push(i);
    });
    IS_BROKEN.store(false, SeqCst);
    drop((entered, pool));
    assert_eq!((ran.into_inner(), seen.into_inner().unwrap().len()), (3, 2));
}
