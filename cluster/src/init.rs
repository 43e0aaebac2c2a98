//! The world of a process, by the transport that the environment chooses.

use crate::world::{World, timeout_of_environment};
use std::fmt;

/// The world could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitError(String);

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InitError {}

/// Variables by which the launchers of MPI programs tell the number of ranks. (`SLURM_NTASKS` is set in a batch script, too, which runs once.)
#[cfg(not(feature = "mpi"))]
const SIZES: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_STEP_NUM_TASKS"];

/// Makes the world of this process.
///
/// With the feature `mpi`, the ranks are the processes that `mpirun` or `srun` has started. If all of them are on one node, their messages go
/// through memory that they share, otherwise through MPI. `FURCATE_CLUSTER_TRANSPORT` chooses: `shared` or
/// `messages`. The value that rank 0 has counts on all ranks. Without that feature the world has one rank.
///
/// A process makes one world, at its beginning, on its main thread, and drops it there at its end: MPI wants to be ended by the thread that has begun
/// it. A world that is never dropped (in a `static`, by `mem::forget` or `process::exit`) does not end MPI, and the launcher takes that for a
/// failure. The program's own calls of MPI must not be made during a call, or while the world is made or dropped: MPI is initialized for one thread at
/// a time (`MPI_THREAD_SERIALIZED`).
///
/// To drop the world is a collective call. If a panic drops it, the process aborts, and the launcher ends the other ranks: they may be in a call
/// that this one will never make.
///
/// # Errors
///
/// - If the program was started with several ranks, and was built without the feature `mpi`.
/// - If `FURCATE_CLUSTER_TRANSPORT` names another transport (such as `rma`), or `shared` although the ranks are on several nodes.
/// - If `FURCATE_CLUSTER_TIMEOUT` is no number of seconds.
/// - If the MPI library does not allow calls by several threads.
/// - With the feature `mpi`: if there is another world, or MPI has ended, as when an earlier world was dropped.
pub fn init() -> Result<World, InitError> {
    let choice = std::env::var("FURCATE_CLUSTER_TRANSPORT").unwrap_or_default();
    timeout_of_environment().and_then(|_| initialize(chosen(&choice))).map_err(InitError)
}

/// A transport between processes, chosen by the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// Through shared memory if all ranks are on one node, otherwise by messages.
    Automatic,
    Shared,
    Messages,
}

/// Returns the transport of this name.
fn chosen(name: &str) -> Result<Choice, String> {
    match name {
        "" => Ok(Choice::Automatic),
        "shared" => Ok(Choice::Shared),
        "messages" => Ok(Choice::Messages),
        "rma" => Err("FURCATE_CLUSTER_TRANSPORT is `rma`, but one-sided messages of MPI are not offered: with many libraries and networks they \
             make no progress until the target calls MPI; unset it, which chooses shared memory if all ranks are on one node and messages \
             otherwise, or set it to `shared` or `messages`"
            .into()),
        other => Err(format!(
            "FURCATE_CLUSTER_TRANSPORT is `{other}`, which is no transport: unset it, or set it to `shared` or `messages`"
        )),
    }
}

#[cfg(not(feature = "mpi"))]
fn initialize(choice: Result<Choice, String>) -> Result<World, String> {
    choice?;
    let several = SIZES.into_iter().find(|name| {
        std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok()).is_some_and(|size| size > 1)
    });
    if let Some(name) = several {
        return Err(format!(
            "{name} says that this program was started with several ranks, but it was built without MPI, so each process would do \
             all the work: build it with the feature `mpi` of furcate-cluster, start it without a launcher, or try several ranks in one \
             process with `furcate_cluster::Threads`"
        ));
    }
    Ok(crate::Threads::new(1).worlds().remove(0))
}

#[cfg(feature = "mpi")]
fn initialize(choice: Result<Choice, String>) -> Result<World, String> {
    use crate::transport::{Messages, Mpi, Shared};

    let mpi = std::sync::Arc::new(Mpi::init()?);
    // To make a transport is a collective call, so ranks that chose by themselves might wait for each other for ever.
    let choice = match (mpi.of_rank_0(choice.as_ref().map_or(u8::MAX, |choice| *choice as u8)), choice) {
        (code, _) if code == Choice::Automatic as u8 => Choice::Automatic,
        (code, _) if code == Choice::Shared as u8 => Choice::Shared,
        (code, _) if code == Choice::Messages as u8 => Choice::Messages,
        (_, Err(error)) => return Err(error),
        (_, Ok(_)) => {
            return Err(
                "FURCATE_CLUSTER_TRANSPORT on rank 0 is no transport: see the error of that rank".into()
            );
        }
    };
    let shared = |mpi| Shared::new(mpi).map(World::new);
    match choice {
        Choice::Automatic => Ok(shared(&mpi).unwrap_or_else(|| World::new(Messages::new(&mpi)))),
        Choice::Messages => Ok(World::new(Messages::new(&mpi))),
        Choice::Shared => shared(&mpi).ok_or_else(|| {
            "FURCATE_CLUSTER_TRANSPORT is `shared`, but the ranks are on several nodes: unset it, or set it to `messages`".into()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_transports_are_errors() {
        for (name, choice) in
            [("", Choice::Automatic), ("shared", Choice::Shared), ("messages", Choice::Messages)]
        {
            assert_eq!(chosen(name), Ok(choice));
        }
        for name in ["rma", "tcp", "Shared"] {
            let error = chosen(name).unwrap_err();
            assert!(
                error.contains(&format!("`{name}`")) && error.contains("`shared` or `messages`"),
                "{error}"
            );
        }
        assert!(chosen("rma").unwrap_err().contains("one-sided"));
    }
}
