//! Where processors are: which of them share a cache, and which a socket, as the system tells.

/// How far two processors are from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distance {
    /// The two share the last cache.
    Near,
    /// The two share a socket, and no cache.
    SameSocket,
    Far,
}

impl Distance {
    /// All distances, the shortest first.
    pub(crate) const ALL: [Distance; 3] = [Distance::Near, Distance::SameSocket, Distance::Far];
}

/// A group of processors that share the last cache: its number, and that of its socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    socket: u16,
    cluster: u16,
}

impl Place {
    pub(crate) fn to(self, other: Place) -> Distance {
        match (self.socket == other.socket, self.cluster == other.cluster) {
            (true, true) => Distance::Near,
            (true, false) => Distance::SameSocket,
            (false, _) => Distance::Far,
        }
    }

    pub(crate) fn bits(self) -> u32 {
        u32::from(self.socket) << 16 | u32::from(self.cluster)
    }

    pub(crate) fn from_bits(bits: u32) -> Self {
        Place { socket: (bits >> 16) as u16, cluster: bits as u16 }
    }

    /// Returns the place of the processor that the calling thread runs on. `None` if the system does not tell, or all processors are at one place.
    #[cfg(furcate_sim)]
    pub(crate) fn here() -> Option<Self> {
        let (socket, cluster) = furcate_sim::thread::place()?;
        Some(Place { socket: socket as u16, cluster: cluster as u16 })
    }

    /// As above. Costs some nanoseconds; the first call reads files of the system's.
    #[cfg(all(not(furcate_sim), target_os = "linux"))]
    pub(crate) fn here() -> Option<Self> {
        static PLACES: std::sync::OnceLock<Box<[Place]>> = std::sync::OnceLock::new();
        let places = PLACES.get_or_init(|| {
            let read = |file: String| std::fs::read_to_string(format!("/sys/devices/system/cpu/{file}")).ok();
            // A list such as "0-63", or "0-3,8-11".
            let last = |list: String| list.trim_end().rsplit([',', '-']).next()?.parse::<usize>().ok();
            let count = read("possible".into()).and_then(last).map_or(0, |last| last + 1);
            places(count, |processor, file| read(format!("cpu{processor}/{file}")))
        });
        if places.is_empty() {
            return None;
        }
        places.get(processor()?).copied()
    }

    #[cfg(all(not(furcate_sim), not(target_os = "linux")))]
    pub(crate) fn here() -> Option<Self> {
        None
    }
}

/// Returns the processor that the calling thread runs on, if the system tells. Costs some nanoseconds.
#[cfg(all(not(furcate_sim), target_os = "linux"))]
pub(crate) fn processor() -> Option<usize> {
    // SAFETY: the function has no preconditions.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

#[cfg(furcate_sim)]
pub(crate) use furcate_sim::thread::processor;

#[cfg(all(not(furcate_sim), not(target_os = "linux")))]
pub(crate) fn processor() -> Option<usize> {
    None
}

/// Returns the first number of a list of processors, such as "0,64" or "0-1".
#[cfg(any(test, target_os = "linux", target_os = "android"))]
pub(super) fn first_of<T: std::str::FromStr>(list: &str) -> Option<T> {
    list.split([',', '-', '\n']).next()?.parse().ok()
}

/// Returns the place of each processor, by the files that describe it; nothing if all are at one place. Processors without a file are at the place of number 0.
#[cfg(any(test, all(not(furcate_sim), target_os = "linux")))]
fn places(count: usize, read: impl Fn(usize, &'static str) -> Option<String>) -> Box<[Place]> {
    let number = |processor, file| first_of::<u16>(&read(processor, file)?);
    let at = |processor| {
        let socket = number(processor, "topology/physical_package_id")?;
        // The first processor that shares the cache of the third level.
        let cluster = number(processor, "cache/index3/shared_cpu_list").unwrap_or_default();
        Some(Place { socket, cluster })
    };
    // Processors that are offline have no files.
    let known: Vec<_> = (0..count).map(at).collect();
    if known.iter().flatten().all(|place| Some(place) == known.iter().flatten().next()) {
        return Box::default();
    }
    known.into_iter().map(Option::unwrap_or_default).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_from_the_systems_files() {
        // Two sockets of two clusters of two cores; processors 8 to 15 are their second threads; number 5 is offline.
        let file = |processor: usize, file: &str| {
            let core = processor % 8;
            match file {
                _ if processor == 5 || processor > 15 => None,
                "topology/physical_package_id" => Some(format!("{}\n", core / 4)),
                _ => Some(format!("{0}-{1},{2}-{3}\n", core & !1, core | 1, 8 + (core & !1), 8 + (core | 1))),
            }
        };
        let all = places(16, file);
        let distance = |one: usize, other: usize| all[one].to(all[other]);
        assert_eq!(all.len(), 16);
        assert_eq!([distance(0, 1), distance(0, 9), distance(7, 14)], [Distance::Near; 3]);
        assert_eq!([distance(0, 2), distance(3, 8), distance(15, 4)], [Distance::SameSocket; 3]);
        assert_eq!([distance(0, 4), distance(3, 12)], [Distance::Far; 2]);
        assert!(all.iter().all(|place| Place::from_bits(place.bits()) == *place));
        // One cache, or no word about any.
        assert!(places(4, |_, _| Some("0\n".into())).is_empty());
        assert!(places(4, |_, _| None).is_empty());
        assert!(places(4, |_, _| Some("what".into())).is_empty());
    }
}
