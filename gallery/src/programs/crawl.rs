//! Crawls the pages of a server, level by level, and lists the pages of each word (classic: web crawler with an inverted index).

use crate::program::{Program, equal, reads};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub(super) const PROGRAM: Program = Program {
    name: "crawl",
    suite: "classic",
    what: "an index of linked pages, from a server that takes 5 ms for each page",
    unit: "pages",
    size: 180,
    quick: 4,
    schedule: ".io_await()",
    why: "faster: furcate fetches all pages of a level at the same time, while each open connection of rayon blocks a thread of its pool; with 64 threads, rayon takes 51 ms and 13 MiB (`run crawl --threads 64`)",
    source: include_str!("crawl.rs"),
    case: |size| {
        reads(Site::serve(size), [sequential::run, rayon::run, furcate::run], |site, index| {
            let index = index.as_ref().map_err(ToString::to_string)?;
            equal(index, &site.index())
        })
    },
};

/// The time that the server takes to answer a request.
const DELAY: Duration = Duration::from_millis(5);

/// For each word, the pages that contain it.
type Index = BTreeMap<String, BTreeSet<usize>>;

/// The content of a page.
struct Page {
    words: BTreeSet<String>,
    links: Vec<usize>,
}

/// The index so far, and the pages that have been seen.
struct Crawler {
    index: Index,
    seen: HashSet<usize>,
}

impl Crawler {
    /// Begins with the first page.
    fn new() -> Crawler {
        Crawler { index: Index::new(), seen: HashSet::from([0]) }
    }

    /// Adds a level's pages to the index. Returns the next level: the linked pages that have not been seen.
    fn add(&mut self, level: &[usize], pages: Vec<Page>) -> Vec<usize> {
        let mut next = Vec::new();
        for (&number, page) in level.iter().zip(pages) {
            for word in page.words {
                self.index.entry(word).or_default().insert(number);
            }
            next.extend(page.links.into_iter().filter(|&link| self.seen.insert(link)));
        }
        next
    }
}

fn request(page: usize) -> String {
    format!("GET /{page} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
}

/// Reads an answer of the server.
fn parse(answer: &str) -> Page {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let mut page = Page { words: BTreeSet::new(), links: Vec::new() };
    for piece in body.split('<') {
        let (tag, text) = piece.split_once('>').unwrap_or(("", piece));
        let link = tag.strip_prefix("a href=\"/").and_then(|link| link.strip_suffix('"'));
        page.links.extend(link.and_then(|link| link.parse::<usize>().ok()));
        page.words.extend(text.split_whitespace().map(str::to_owned));
    }
    page
}

/// A server on the loopback. Its pages are linked as a tree, with some more links.
struct Site {
    address: SocketAddr,
    answers: Arc<[String]>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Site {
    /// Starts the server: one thread accepts the connections, and another one answers each of them after the delay.
    fn serve(pages: usize) -> Site {
        let answers: Arc<[String]> = (0..pages).map(|page| answer(page, pages)).collect();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        let stop = Arc::new(AtomicBool::new(false));
        let (accepted, waiting) = mpsc::channel();
        let accept = {
            let stop = stop.clone();
            move || {
                for stream in listener.incoming().take_while(|_| !stop.load(Relaxed)).flatten() {
                    accepted.send((Instant::now() + DELAY, stream)).expect("the other thread waits");
                }
            }
        };
        let reply = {
            let answers = answers.clone();
            move || {
                for (due, stream) in waiting {
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    // A client that has left needs no answer.
                    let _ = serve(stream, &answers);
                }
            }
        };
        Site { address, answers, stop, threads: vec![thread::spawn(accept), thread::spawn(reply)] }
    }

    /// Returns the index, without the network.
    fn index(&self) -> Index {
        let all: Vec<usize> = (0..self.answers.len()).collect();
        let mut crawler = Crawler::new();
        crawler.add(&all, self.answers.iter().map(|answer| parse(answer)).collect());
        crawler.index
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        // One more connection wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Answers a request. The client has sent the request in one piece before the delay, so one read is enough.
fn serve(mut stream: TcpStream, answers: &[String]) -> io::Result<()> {
    let mut request = [0; 256];
    let length = stream.read(&mut request)?;
    let request = String::from_utf8_lossy(&request[..length]);
    let page = request.strip_prefix("GET /").and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    let answer = page.and_then(|page| answers.get(page));
    stream.write_all(answer.map_or("HTTP/1.1 404 Not Found\r\n\r\n", String::as_str).as_bytes())
}

/// Returns the server's answer for a page: 400 words, and links.
fn answer(page: usize, pages: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "zy"];
    let mut random = Rng::with_seed(page as u64);
    let mut body = "<html><body>".to_owned();
    for _ in 0..400 {
        let word: String = (0..3).map(|_| SYLLABLES[random.usize(0..SYLLABLES.len())]).collect();
        body = body + &word + " ";
    }
    let tree = (8 * page + 1..8 * page + 9).filter(|&link| link < pages);
    for link in tree.chain([random.usize(0..pages)]) {
        body += &format!("<a href=\"/{link}\">next</a> ");
    }
    body += "</body></html>";
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

mod sequential {
    use super::{Crawler, Index, Page, Site, parse, request};
    use std::io::{self, Read, Write};
    use std::net::{SocketAddr, TcpStream};

    pub(super) fn run(site: &Site) -> io::Result<Index> {
        let (mut crawler, mut level) = (Crawler::new(), vec![0]);
        while !level.is_empty() {
            let answers = level.iter().map(|&page| fetch(site.address, page));
            let pages: io::Result<Vec<Page>> = answers.map(|answer| Ok(parse(&answer?))).collect();
            level = crawler.add(&level, pages?);
        }
        Ok(crawler.index)
    }

    fn fetch(address: SocketAddr, page: usize) -> io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(request(page).as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

mod rayon {
    use super::{Crawler, Index, Page, Site, parse, request};
    use rayon::prelude::*;
    use std::io::{self, Read, Write};
    use std::net::{SocketAddr, TcpStream};

    pub(super) fn run(site: &Site) -> io::Result<Index> {
        let (mut crawler, mut level) = (Crawler::new(), vec![0]);
        while !level.is_empty() {
            let answers = level.par_iter().map(|&page| fetch(site.address, page));
            let pages: io::Result<Vec<Page>> = answers.map(|answer| Ok(parse(&answer?))).collect();
            level = crawler.add(&level, pages?);
        }
        Ok(crawler.index)
    }

    fn fetch(address: SocketAddr, page: usize) -> io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(request(page).as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

mod furcate {
    use super::{Crawler, Index, Page, Site, parse, request};
    use async_io::Async;
    use furcate::prelude::*;
    use futures_lite::{AsyncReadExt, AsyncWriteExt};
    use std::io;
    use std::net::{SocketAddr, TcpStream};

    pub(super) fn run(site: &Site) -> io::Result<Index> {
        let (mut crawler, mut level) = (Crawler::new(), vec![0]);
        while !level.is_empty() {
            // `fetch` gives a future. While futures wait, no thread does.
            let answers = level.par_iter().map(|&page| fetch(site.address, page)).io_await();
            let pages: io::Result<Vec<Page>> = answers.map(|answer| Ok(parse(&answer?))).collect();
            level = crawler.add(&level, pages?);
        }
        Ok(crawler.index)
    }

    async fn fetch(address: SocketAddr, page: usize) -> io::Result<String> {
        let mut stream = Async::<TcpStream>::connect(address).await?;
        stream.write_all(request(page).as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    }
}
