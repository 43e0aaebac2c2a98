//! Every engine on every program, in small.

use super::{
    AsyncExecutor, Blocking, Buffered, Cpu, Engine, FORMS, ForkedWaits, Furcate, FurcateForked, FurcateTokio,
    Gates, Load, Opened, Overhead, POLICIES, Sweep, Threads, Tokio, TokioRayon, WaitForm,
};
use std::time::Duration;

fn engines() -> Vec<Box<dyn Engine>> {
    vec![
        Box::new(Furcate::new(2)),
        Box::new(FurcateTokio::new(2)),
        Box::new(FurcateForked::new(2)),
        Box::new(Tokio::new(2)),
        Box::new(TokioRayon::new(2)),
        Box::new(AsyncExecutor::new(2)),
        Box::new(Buffered::new(2)),
        Box::new(Blocking::new(2, 1)),
        Box::new(Threads(2)),
        #[cfg(feature = "forte")]
        Box::new(super::Forte::new(2)),
    ]
}

#[test]
fn loads() {
    let latency = Duration::from_millis(1);
    for cpu in [Cpu::Nothing, Cpu::Rounds(100), Cpu::Fib { n: 10, cutoff: 6 }] {
        for (awaits, cap) in [(1, 3), (4, 3), (4, usize::MAX)] {
            let load = Load { n: 50, awaits, latency, cap, cpu };
            for engine in engines() {
                let sum = engine.load(load);
                assert!(sum.is_none_or(|sum| sum == load.serial()), "{load:?} by {}", engine.name());
            }
        }
    }
}

#[test]
fn sweeps() {
    for probability in [0.0, 0.3, 1.0] {
        let sweep = Sweep { n: 8, probability, latency: Duration::from_millis(1), cpu: Cpu::Rounds(100) };
        assert_eq!(sweep.flat().len() as u64, sweep.leaves());
        assert_eq!(sweep.flat().iter().filter(|leaf| leaf.latency.is_some()).count() as u64, sweep.waits());
        for engine in engines() {
            assert!(engine.sweep(sweep).is_none_or(|sum| sum == 21), "{}", engine.name());
        }
    }
    let waits = Sweep { n: 14, probability: 0.3, latency: Duration::ZERO, cpu: Cpu::Nothing }.waits();
    assert!((150..220).contains(&waits), "{waits} of 610");
}

#[test]
fn gates() {
    for opened in [Opened::ByHand, Opened::ByThemselves, Opened::AtAPace(Duration::from_micros(10))] {
        let gates = Gates::leaked(100, opened, Cpu::Nothing);
        for engine in engines() {
            // The results are compared there.
            gates.run(&*engine);
        }
    }
}

#[test]
fn overheads() {
    let pool = furcate::ThreadPoolBuilder::new().num_threads(2).build().expect("threads can be started");
    let program = Overhead { n: 15, cutoff: 8 };
    assert_eq!(program.leaves(), 34);
    for form in FORMS {
        assert_eq!(form.run(program, &pool), 610, "{}", form.name);
        assert!(FORMS.iter().any(|other| other.name == form.without), "{}", form.name);
    }
    assert_eq!(program.by_rayon(&Blocking::new(2, 1)), 610);
    assert_eq!(program.by_tokio(&Tokio::new(2)), 610);
}

#[test]
fn policies() {
    for latency in [0, 1].map(Duration::from_millis) {
        for form in [WaitForm::Tasks, WaitForm::Chain] {
            let program = ForkedWaits { form, n: 21, latency };
            assert_eq!((program.work(), program.span()), (566, 17));
            let (expected, _) = program.serial();
            for policy in POLICIES {
                let run = program.run(&policy.pool(2));
                assert_eq!(run.sum, expected, "{}", policy.name);
                // Each waits once; the forks' tasks may, too.
                assert!(latency.is_zero() || run.stats.suspensions > 0, "{}: {:?}", policy.name, run.stats);
                assert!(run.stats.stolen <= run.stats.attempts, "{:?}", run.stats);
            }
        }
    }
}

#[test]
fn ideals() {
    let millis = Duration::from_millis;
    let load = Load { n: 100, awaits: 2, latency: millis(10), cap: usize::MAX, cpu: Cpu::Nothing };
    assert_eq!(load.ideal(millis(1000), 2), millis(500));
    assert_eq!(load.bound(millis(1000), 2), millis(510));
    assert_eq!(load.ideal(millis(10), 2), millis(20) + Duration::from_micros(100));
    assert_eq!(Load { cap: 80, ..load }.ideal(millis(10), 2), millis(30));
}
