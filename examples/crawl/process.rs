//! The server process from its parent's view, and the processor time of a process.

use super::http::Error;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running server. Dropping it ends the process, also when a panic does.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts this program once more, and waits until it reports its port.
    pub(crate) fn start(blocks: usize, delay: Duration) -> Result<Self, Error> {
        let program = std::env::current_exe().map_err(|error| {
            Error::Server(format!("is not there: this program cannot find itself: {error}"))
        })?;
        let child = Command::new(program)
            .args(["--serve", &blocks.to_string(), &delay.as_millis().to_string()])
            .stdin(Stdio::piped()) // it ends when this end is closed, however this process ends
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Error::Server(format!("cannot be started: {error}")))?;
        // From here on the server is ended whatever happens.
        let mut server = Server { child, address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)) };
        let mut line = String::new();
        if let Some(stdout) = server.child.stdout.take() {
            BufReader::new(stdout)
                .read_line(&mut line)
                .map_err(|error| Error::Server(format!("cannot be heard: {error}")))?;
        }
        let port = line.trim().parse().map_err(|_| Error::Server("ended before it listened".into()))?;
        server.address.set_port(port);
        Ok(server)
    }

    /// Returns the processor time of the server.
    pub(crate) fn processor_time(&self) -> Option<Duration> {
        processor_time(&self.child.id().to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that the server has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the processor time of this process.
pub(crate) fn own_processor_time() -> Option<Duration> {
    processor_time("self")
}

/// Reads a process's time on Linux, in hundredths of a second; elsewhere it is unknown.
fn processor_time(process: &str) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is the name, in parentheses, of any characters; user and system time are the 14th and 15th.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: u64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(|field| field.parse::<u64>().ok())
        .sum::<Option<u64>>()?;
    Some(Duration::from_millis(10 * ticks))
}
