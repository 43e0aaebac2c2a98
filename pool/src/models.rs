//! How loom models are run.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Explores a model, and prints how many interleavings it has. `preemptions` bounds how often a thread is interrupted
/// that could go on: most bugs need two (Musuvathi and Qadeer, "Iterative Context Bounding", 2007).
pub(crate) fn explore(preemptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let explored = Arc::new(AtomicUsize::new(0));
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check({
        let explored = Arc::clone(&explored);
        move || {
            explored.fetch_add(1, Relaxed);
            // What stands for fences is made here: else who comes to it first makes it, and is ordered before all others.
            crate::sync::fence::turn();
            model();
        }
    });
    let bound = preemptions.map_or("any number of".into(), |bound| format!("at most {bound}"));
    let model = std::thread::current();
    let (name, explored) = (model.name().unwrap_or("a model"), explored.load(Relaxed));
    println!("{name}: {explored} interleavings with {bound} preemptions");
}
