//! Every public item of rayon-core 1.13, with its signature and bounds.
#![allow(deprecated)]

use rayon_core::*;
use std::any::Any;
use std::error::Error;
use std::fmt::Debug;
use std::io;

type Payload = Box<dyn Any + Send>;

/// Each function as one of the type that rayon-core gives it, with closures that can do no more than its bounds ask for.
fn functions<'s, A, B, RA, RB, Op, Body, Job>(a: A, b: B, op: Op, body: Body, job: Job)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
    Op: Fn(BroadcastContext<'_>) -> RA + Sync,
    Body: FnOnce(&Scope<'s>) -> RA + Send,
    Job: FnOnce() + Send + 'static,
{
    let _: (RA, RB) = join(a, b);
    let _: Vec<RA> = broadcast(op);
    let _: RA = scope(body);
    spawn(job);
}

fn more_functions<'s, A, B, RA, RB, Fifo, InPlace, InPlaceFifo, Op, Job, R, R2>(
    a: A,
    b: B,
    fifo: Fifo,
    in_place: InPlace,
    in_place_fifo: InPlaceFifo,
    op: Op,
    job: Job,
) where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
    Fifo: FnOnce(&ScopeFifo<'s>) -> RA + Send,
    InPlace: FnOnce(&Scope<'s>) -> R,
    InPlaceFifo: FnOnce(&ScopeFifo<'s>) -> R2,
    Op: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    Job: FnOnce() + Send + 'static,
{
    let _: (RA, RB) = join_context(a, b);
    let _: RA = scope_fifo(fifo);
    let _: R = in_place_scope(in_place);
    let _: R2 = in_place_scope_fifo(in_place_fifo);
    spawn_broadcast(op);
    spawn_fifo(job);
}

fn scopes<'s, Job, JobFifo, All, AllFifo>(
    scope: &Scope<'s>,
    fifo: &ScopeFifo<'s>,
    job: Job,
    job_fifo: JobFifo,
    all: All,
    all_fifo: AllFifo,
) where
    Job: FnOnce(&Scope<'s>) + Send + 's,
    JobFifo: FnOnce(&ScopeFifo<'s>) + Send + 's,
    All: Fn(&Scope<'s>, BroadcastContext<'_>) + Send + Sync + 's,
    AllFifo: Fn(&ScopeFifo<'s>, BroadcastContext<'_>) + Send + Sync + 's,
{
    scope.spawn(job);
    scope.spawn_broadcast(all);
    fifo.spawn_fifo(job_fifo);
    fifo.spawn_broadcast(all_fifo);
}

#[expect(clippy::too_many_arguments, reason = "one for each method")]
fn methods_of_pools<'s, A, B, C, RA, RB, Op, Body, Fifo, InPlace, InPlaceFifo, R, Job, Job2, All>(
    pool: &ThreadPool,
    (a, b, c): (A, B, C),
    op: Op,
    body: Body,
    fifo: Fifo,
    in_place: InPlace,
    in_place_fifo: InPlaceFifo,
    (job, job2, all): (Job, Job2, All),
) where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    C: FnOnce() -> RA + Send,
    RA: Send,
    RB: Send,
    Op: Fn(BroadcastContext<'_>) -> RA + Sync,
    Body: FnOnce(&Scope<'s>) -> RA + Send,
    Fifo: FnOnce(&ScopeFifo<'s>) -> RA + Send,
    InPlace: FnOnce(&Scope<'s>) -> R,
    InPlaceFifo: FnOnce(&ScopeFifo<'s>) -> R,
    Job: FnOnce() + Send + 'static,
    Job2: FnOnce() + Send + 'static,
    All: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    let _: RA = pool.install(c);
    let _: Vec<RA> = pool.broadcast(op);
    let _: (RA, RB) = pool.join(a, b);
    let _: RA = pool.scope(body);
    let _: RA = pool.scope_fifo(fifo);
    let _: R = pool.in_place_scope(in_place);
    let _: R = pool.in_place_scope_fifo(in_place_fifo);
    pool.spawn(job);
    pool.spawn_fifo(job2);
    pool.spawn_broadcast(all);
    let _: usize = pool.current_num_threads();
    let _: Option<usize> = pool.current_thread_index();
    let _: Option<bool> = pool.current_thread_has_pending_tasks();
    let _: Option<Yield> = pool.yield_now();
    let _: Option<Yield> = pool.yield_local();
}

#[test]
fn functions_have_rayons_signatures() {
    let _: fn() -> usize = max_num_threads;
    let _: fn() -> usize = current_num_threads;
    let _: fn() -> Option<usize> = current_thread_index;
    let _: fn() -> Option<bool> = current_thread_has_pending_tasks;
    let _: fn() -> Option<Yield> = yield_now;
    let _: fn() -> Option<Yield> = yield_local;
    let _: fn(Configuration) -> Result<(), Box<dyn Error>> = initialize;
    let _: fn(Configuration) -> Result<ThreadPool, Box<dyn Error>> = ThreadPool::new;
    functions(|| 1, || 2, |context| context.index(), |_| 3, || ());
    more_functions(|_| 1, |_| 2, |_| 3, |_| (), |_| (), |_| (), || ());
    in_place_scope(|scope| {
        in_place_scope_fifo(|fifo| scopes(scope, fifo, |_| (), |_| (), |_, _| (), |_, _| ()));
    });
}

#[test]
fn pools_have_rayons_methods() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    methods_of_pools(
        &pool,
        (|| 1, || 2, || 3),
        |context| context.num_threads(),
        |_| 4,
        |_| 5,
        |_| (),
        |_| (),
        (|| (), || (), |_| ()),
    );
}

/// The settings ask for nothing of the way in which threads are started.
fn set<S>(builder: ThreadPoolBuilder<S>) -> ThreadPoolBuilder<S> {
    builder
        .num_threads(2)
        .thread_name(|index: usize| -> String { index.to_string() })
        .stack_size(1 << 20)
        .breadth_first()
        .panic_handler(|_: Payload| ())
        .start_handler(|_: usize| ())
        .exit_handler(|_: usize| ())
}

#[test]
fn builders_have_rayons_methods() {
    let _: fn() -> ThreadPoolBuilder = ThreadPoolBuilder::new;
    let _: fn() -> ThreadPoolBuilder = ThreadPoolBuilder::default;
    let builder = || set(ThreadPoolBuilder::new());
    let _: Result<ThreadPool, ThreadPoolBuildError> = builder().build();
    let _: ThreadPoolBuilder = builder().use_current_thread();
    let _: fn(ThreadPoolBuilder) -> Result<(), ThreadPoolBuildError> = ThreadPoolBuilder::build_global;
    let started = |thread: ThreadBuilder| -> io::Result<()> {
        let (_, _, _): (usize, Option<&str>, Option<usize>) =
            (thread.index(), thread.name(), thread.stack_size());
        std::thread::spawn(|| thread.run());
        Ok(())
    };
    // The methods are there behind a spawn handler, too.
    let custom = set(builder().spawn_handler(started)).num_threads(1);
    let _: Result<ThreadPool, ThreadPoolBuildError> = custom.build();
    let threads: Result<usize, ThreadPoolBuildError> =
        builder().build_scoped(|thread| thread.run(), |pool: &ThreadPool| pool.current_num_threads());
    assert_eq!(threads.expect("a pool"), 2);
}

#[test]
fn configurations_have_rayons_methods() {
    let configuration: Configuration = Configuration::new()
        .thread_name(|index: usize| -> String { index.to_string() })
        .num_threads(2)
        .panic_handler(|_: Payload| ())
        .stack_size(1 << 20)
        .breadth_first()
        .start_handler(|_: usize| ())
        .exit_handler(|_: usize| ());
    let pool: Result<ThreadPool, Box<dyn Error>> = configuration.build();
    assert_eq!(pool.expect("a pool").current_num_threads(), 2);
    let _: fn() -> Configuration = Configuration::default;
}

fn debug<T: Debug>() {}
fn send<T: Send>() {}
fn shared<T: Send + Sync>() {}

#[test]
fn types_have_rayons_traits() {
    debug::<BroadcastContext<'static>>();
    debug::<Configuration>();
    debug::<FnContext>();
    debug::<Scope<'static>>();
    debug::<ScopeFifo<'static>>();
    debug::<ThreadBuilder>();
    debug::<ThreadPool>();
    debug::<ThreadPoolBuildError>();
    debug::<ThreadPoolBuilder>();
    debug::<Yield>();
    shared::<Scope<'static>>();
    shared::<ScopeFifo<'static>>();
    shared::<ThreadPool>();
    shared::<ThreadPoolBuildError>();
    send::<ThreadBuilder>();
    let error: fn(ThreadPoolBuildError) -> Box<dyn Error> = Box::from;
    let _ = error;
    // `Yield` is matched on, copied and compared.
    let yielded = Yield::Idle;
    let again = yielded;
    assert_eq!(yielded, again);
    match yielded {
        Yield::Executed => unreachable!(),
        Yield::Idle => {}
    }
    let _: fn(&FnContext) -> bool = FnContext::migrated;
}

/// `Debug` of a builder shows whether a closure is set.
#[test]
fn builders_show_what_is_set() {
    let plain = format!("{:?}", ThreadPoolBuilder::new());
    assert!(plain.contains("num_threads: 0") && plain.contains("start_handler: None"), "{plain}");
    let set = format!("{:?}", ThreadPoolBuilder::new().num_threads(3).start_handler(|_| ()).breadth_first());
    for part in
        ["num_threads: 3", "start_handler: Some(<closure>)", "breadth_first: true", "exit_handler: None"]
    {
        assert!(set.contains(part), "{set}");
    }
    let pool = ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
    assert!(format!("{pool:?}").contains("num_threads: 3"));
}
