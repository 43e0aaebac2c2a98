use super::*;
use std::sync::Arc;
use testkit::wakes::WakeCount;

/// A stream of the items that a test puts into it; pending while it is empty.
#[derive(Default)]
struct Tray(Arc<Mutex<Laid>>);

/// Items in the tray, and the waker of the task that waits for more.
type Laid = (Vec<Option<u32>>, Option<Waker>);

impl Stream for Tray {
    type Item = u32;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<u32>> {
        let mut tray = self.0.lock().unwrap();
        match tray.0.pop() {
            Some(item) => Poll::Ready(item),
            None => {
                tray.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Tray {
    fn put(&self, item: Option<u32>) {
        self.0.lock().unwrap().0.push(item);
        if let Some(waker) = self.0.lock().unwrap().1.take() {
            waker.wake();
        }
    }
}

/// A task that takes items.
struct Taker<'a> {
    next: Pin<Box<Next<'a, Tray>>>,
    woken: Arc<WakeCount>,
}

impl<'a> Taker<'a> {
    fn new(turns: &'a Turns<Tray>) -> Self {
        Taker { next: Box::pin(turns.next()), woken: Arc::default() }
    }

    fn poll(&mut self) -> Poll<Option<u32>> {
        self.woken.poll(self.next.as_mut())
    }

    fn woken(&self) -> usize {
        self.woken.get()
    }
}

fn turns() -> (Turns<Tray>, Tray) {
    let tray = Tray::default();
    (Turns::new(Tray(Arc::clone(&tray.0))), tray)
}

#[test]
fn one_after_the_other() {
    let (turns, tray) = turns();
    let (mut one, mut two) = (Taker::new(&turns), Taker::new(&turns));
    assert!(one.poll().is_pending() && two.poll().is_pending() && two.poll().is_pending());
    tray.put(Some(7));
    assert_eq!((one.woken(), two.woken()), (1, 0));
    assert_eq!(two.poll(), Poll::Pending, "it is not its turn");
    assert_eq!(one.poll(), Poll::Ready(Some(7)));
    assert_eq!(two.woken(), 1);
    assert!(two.poll().is_pending());
    tray.put(Some(8));
    assert_eq!((two.woken(), two.poll()), (2, Poll::Ready(Some(8))));
}

#[test]
fn who_comes_takes_a_free_turn() {
    let (turns, tray) = turns();
    let (mut one, mut two, mut three) = (Taker::new(&turns), Taker::new(&turns), Taker::new(&turns));
    assert!(one.poll().is_pending() && two.poll().is_pending());
    tray.put(Some(2));
    tray.put(Some(1));
    assert_eq!(one.poll(), Poll::Ready(Some(1)));
    assert_eq!(three.poll(), Poll::Ready(Some(2)));
    assert_eq!(two.woken(), 1, "it was called once, and has not come yet");
    assert!(two.poll().is_pending());
    tray.put(Some(3));
    assert_eq!((two.woken(), two.poll()), (2, Poll::Ready(Some(3))));
}

#[test]
fn who_is_dropped_passes_the_turn_on() {
    let (turns, tray) = turns();
    let mut takers: Vec<_> = (0..4).map(|_| Taker::new(&turns)).collect();
    assert!(takers.iter_mut().all(|taker| taker.poll().is_pending()));
    takers.remove(2);
    // The first taker has the turn.
    takers.remove(0);
    assert_eq!((takers[0].woken(), takers[1].woken()), (1, 0));
    // The second taker has been called.
    takers.remove(0);
    assert_eq!(takers[0].woken(), 1);
    assert!(takers[0].poll().is_pending());
    tray.put(Some(5));
    assert_eq!((takers[0].woken(), takers[0].poll()), (2, Poll::Ready(Some(5))));
    assert!(turns.lock().waiting.is_empty() && turns.lock().called.is_none());
}

#[test]
fn the_end_is_told_to_all() {
    let (turns, tray) = turns();
    let mut takers: Vec<_> = (0..3).map(|_| Taker::new(&turns)).collect();
    assert!(takers.iter_mut().all(|taker| taker.poll().is_pending()));
    tray.put(Some(9));
    tray.put(None);
    assert!(takers.iter_mut().all(|taker| taker.poll() == Poll::Ready(None)));
    assert_eq!(takers.iter().map(Taker::woken).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(Taker::new(&turns).poll(), Poll::Ready(None), "and nobody polls it again");
    assert_eq!(tray.0.lock().unwrap().0.len(), 1);
}
