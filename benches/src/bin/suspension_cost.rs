//! `suspension_cost FORM N` suspends N futures on one worker and resumes them, in one of the forms below, and prints N.
//! Without arguments it prints the forms' names. `benches/instructions.sh` runs it.
//!
//! The futures are gates: pending when they are polled first; the last of the items opens all of them. So the counts
//! are the same in every run.

use std::hint::black_box;
use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::sync::{Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;

use furcate::prelude::*;

/// Polls every gate twice, and does nothing else.
const BARE: &str = "bare";
/// The worker itself opens the gates.
const INSIDE: &str = "by the worker";
/// Another thread opens the gates.
const OUTSIDE: &str = "from outside";

enum Slot {
    Closed,
    Waiting(Waker),
    Open,
}

struct Gate<'a>(&'a Mutex<Slot>);

impl Future for Gate<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut slot = self.0.lock().expect("nobody panics with this lock");
        if matches!(*slot, Slot::Open) {
            return Poll::Ready(());
        }
        *slot = Slot::Waiting(context.waker().clone());
        Poll::Pending
    }
}

fn open(gates: &[Mutex<Slot>]) {
    for gate in gates {
        let slot = std::mem::replace(&mut *gate.lock().expect("nobody panics with this lock"), Slot::Open);
        if let Slot::Waiting(waker) = slot {
            waker.wake();
        }
    }
}

fn bare(gates: &[Mutex<Slot>]) -> usize {
    let mut context = Context::from_waker(Waker::noop());
    let mut waiting: Vec<_> = gates.iter().map(|gate| (Gate(gate), 0)).collect();
    for (gate, _) in &mut waiting {
        assert!(pin!(gate).poll(&mut context).is_pending());
    }
    open(gates);
    for (gate, one) in &mut waiting {
        *one = usize::from(pin!(gate).poll(&mut context).is_ready());
    }
    black_box(&waiting).iter().map(|(_, one)| one).sum()
}

/// `last` is called in the last item's first poll.
fn suspended(gates: &[Mutex<Slot>], last: impl Fn() + Sync) -> usize {
    let pool = furcate::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started");
    let (n, last) = (gates.len(), &last);
    let items = (0..n + 1).into_par_iter().map(|number| async move {
        match gates.get(number) {
            Some(gate) => Gate(gate).await,
            None => last(),
        }
    });
    pool.install(|| items.io_await().unbounded().map(|()| 1).sum::<usize>()) - 1
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [form, n] = &args[..] else {
        [BARE, INSIDE, OUTSIDE].iter().for_each(|form| println!("{form}"));
        return ExitCode::SUCCESS;
    };
    let Ok(n) = n.parse() else {
        eprintln!("suspension_cost: {n} is no number");
        return ExitCode::FAILURE;
    };
    let gates: Vec<_> = (0..n).map(|_| Mutex::new(Slot::Closed)).collect();
    let passed = match &form[..] {
        BARE => bare(&gates),
        INSIDE => suspended(&gates, || open(&gates)),
        OUTSIDE => thread::scope(|threads| {
            let (last, all_wait) = mpsc::channel();
            let gates = &gates;
            threads.spawn(move || all_wait.recv().map(|()| open(gates)));
            suspended(gates, || last.send(()).expect("the thread waits for it"))
        }),
        _ => {
            eprintln!("suspension_cost: there is no form {form}");
            return ExitCode::FAILURE;
        }
    };
    assert_eq!(passed, n);
    println!("{n}");
    ExitCode::SUCCESS
}
