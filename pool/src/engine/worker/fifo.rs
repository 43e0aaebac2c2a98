//! First in, first out, on top of deques whose owner takes the newest: what is queued there is a ticket, and whoever
//! runs the ticket runs the oldest job.

use super::search::take_oldest;
use super::{Header, JobRef, SpawnHeader, Worker};
use crate::sync::machine::Injector;
use crate::sync::machine::OnceLock;
use std::ptr::NonNull;

/// Jobs in the order in which they were made.
#[repr(C)]
pub(crate) struct Fifo {
    ticket: SpawnHeader,
    /// Made with the first job: it allocates, and most scopes have none.
    jobs: OnceLock<Injector<JobRef>>,
}

impl Fifo {
    /// `scope`: the number of the one that the jobs belong to, 0 if none.
    pub(crate) fn new(scope: u64) -> Self {
        // SAFETY: the ticket is the first field, and `run` expects a pointer to it.
        Fifo { ticket: unsafe { SpawnHeader::new(Self::run, scope) }, jobs: OnceLock::new() }
    }

    /// Puts a job in line, and returns a ticket that is to be queued once. The queue must outlive it.
    pub(crate) fn push(this: &Self, job: JobRef) -> NonNull<Header> {
        this.jobs.get_or_init(Injector::new).push(job);
        NonNull::from(this).cast()
    }

    /// # Safety
    ///
    /// As [`JobRef::run`]; `ticket` comes from `push`.
    unsafe fn run(ticket: NonNull<Header>, worker: &Worker, _from: *const Worker) {
        // SAFETY: the queue outlives its tickets.
        let this = unsafe { ticket.cast::<Self>().as_ref() };
        let jobs = this.jobs.get().expect("a ticket without a job");
        // There is a job for every ticket, put in line before it.
        let job = take_oldest(jobs).expect("a ticket without a job");
        // SAFETY: just taken from a queue. `this` is not used from here on: the job may be the last of its scope.
        unsafe { worker.execute(job) };
    }
}
