use super::*;

fn search(item: u32) -> Option<u32> {
    item.is_multiple_of(10).then_some(item)
}

fn reduction<const BACK: bool>(nearest: &Nearest) -> Search<'_, BACK> {
    static SEARCH: fn(u32) -> Option<u32> = search;
    OutermostHit::new(&SEARCH, nearest)
}

type Search<'a, const BACK: bool> = OutermostHit<'a, fn(u32) -> Option<u32>, BACK>;

type Step = ControlFlow<Option<u32>, Option<u32>>;

/// The tasks of a division tree that goes down `depth` levels at one side, in the order of their items.
fn spine<const BACK: bool>(nearest: &Nearest, depth: u32, to_the_left: bool) -> Vec<Search<'_, BACK>> {
    let mut task = reduction::<BACK>(nearest);
    let (mut before, mut behind) = (vec![], vec![]);
    for _ in 0..depth {
        let (left, right) = Reduction::<u32>::divide(task);
        if to_the_left {
            behind.push(right);
            task = left;
        } else {
            before.push(left);
            task = right;
        }
    }
    behind.reverse();
    before.push(task);
    before.append(&mut behind);
    before
}

/// Returns, for each task, whether a hit in one of them stops it.
fn stopped_by<const BACK: bool>(hit: usize, depth: u32, to_the_left: bool) -> Vec<bool> {
    let nearest = Nearest::new();
    let tasks = spine::<BACK>(&nearest, depth, to_the_left);
    let _: Step = tasks[hit].fold_item(None, 10);
    tasks.iter().map(Reduction::<u32>::stopped).collect()
}

#[test]
fn a_hit_stops_all_that_lies_behind_it_and_nothing_else() {
    for to_the_left in [false, true] {
        for hit in 0..=60 {
            let front: Vec<bool> = (0..=60).map(|task| task > hit).collect();
            assert_eq!(stopped_by::<false>(hit, 60, to_the_left), front);
            let back: Vec<bool> = (0..=60).map(|task| task < hit).collect();
            assert_eq!(stopped_by::<true>(hit, 60, to_the_left), back);
        }
    }
}

/// Any number of items works, and a part that is divided further keeps to its place.
#[test]
fn a_hit_in_one_item_of_a_task_stops_the_later_ones_or_the_earlier_ones() {
    fn check<const BACK: bool>(depth: usize, items: usize) {
        for hit in [0, 1, 70, items / 2, items - 2, items - 1] {
            let nearest = Nearest::new();
            let mut task = spine::<BACK>(&nearest, depth as u32, true).swap_remove(depth / 2);
            let mut parts = vec![];
            for _ in 0..items {
                let (item, rest) = Reduction::<u32>::divide_item(task);
                let (left, right) = Reduction::<u32>::divide(item);
                parts.extend([left, right]);
                task = rest;
            }
            let _: Step = parts[2 * hit + 1].fold_item(None, 10);
            for (at, part) in parts.iter().enumerate() {
                let behind = if BACK { at / 2 < hit } else { at / 2 > hit };
                let beside = at == 2 * hit;
                assert!(beside || Reduction::<u32>::stopped(part) == behind, "{at} {hit} {depth}");
                assert!(!beside || BACK || !Reduction::<u32>::stopped(part));
            }
            assert_eq!(Reduction::<u32>::stopped(&task), !BACK);
        }
    }
    for depth in [0, 10, 40] {
        check::<false>(depth, 5000);
        check::<true>(depth, 5000);
    }
}

#[test]
fn exhausted_places_never_stop_what_lies_before_the_hit_nor_each_other() {
    for to_the_left in [false, true] {
        for hit in 0..=200 {
            for (task, stopped) in stopped_by::<false>(hit, 200, to_the_left).into_iter().enumerate() {
                assert!(!stopped || task > hit, "task {task} by a hit in {hit}");
            }
            for (task, stopped) in stopped_by::<true>(hit, 200, to_the_left).into_iter().enumerate() {
                assert!(!stopped || task < hit, "task {task} by a hit in {hit}");
            }
        }
    }
    // As long as there were numbers to give, the hit does stop the exhausted tasks behind it.
    assert!(stopped_by::<false>(3, 200, false)[4..].iter().all(|&stopped| stopped));
}

#[test]
fn a_task_that_divides_after_its_hit_is_not_stopped_by_it() {
    // The last hit: the task has folded 10, keeps the items that follow it, and gives away the back.
    let nearest = Nearest::new();
    let task = reduction::<true>(&nearest);
    let ControlFlow::Continue(before): Step = task.fold_item(None, 10) else {
        panic!("the search from the back goes on")
    };
    let (kept, given) = Reduction::<u32>::divide(task);
    assert!(!Reduction::<u32>::stopped(&kept) && !Reduction::<u32>::stopped(&given));
    let ControlFlow::Continue(better): Step = kept.fold_item(before, 20) else {
        panic!("the search goes on")
    };
    assert_eq!(Reduction::<u32>::reduce(&kept, better, None), Some(20));
    assert_eq!(Reduction::<u32>::reduce(&kept, better, Some(30)), Some(30));
    // A hit in the part that was given away does stop the kept one.
    let _: Step = given.fold_item(None, 30);
    assert!(Reduction::<u32>::stopped(&kept) && !Reduction::<u32>::stopped(&given));
}

#[test]
fn the_first_hit_ends_a_task_from_the_front() {
    let nearest = Nearest::new();
    let task = reduction::<false>(&nearest);
    assert_eq!(task.fold_item(None, 7), ControlFlow::Continue(None));
    assert_eq!(task.fold(None, 7..100), Some(10));
    assert_eq!(reduction::<true>(&nearest).fold(None, 7..100), Some(90));
}

#[test]
fn a_hit_is_final_for_what_lies_farther_from_its_end() {
    fn check<const BACK: bool>() {
        let nearest = Nearest::new();
        let task = reduction::<BACK>(&nearest);
        assert!(Reduction::<u32>::is_final(&task, &Some(10)) && !Reduction::<u32>::is_final(&task, &None));
        assert_eq!(<Search<'_, BACK> as Reduction<u32>>::ENDS.backward, BACK);
        // A final hit is not replaced by a hit that comes later, from the other side.
        for later in [None, Some(20)] {
            let (left, right) = if BACK { (later, Some(10)) } else { (Some(10), later) };
            assert_eq!(Reduction::<u32>::reduce(&task, left, right), Some(10));
        }
    }
    check::<false>();
    check::<true>();
}

/// Blocks of a search that continues are roots, one after the other: an earlier block never stops a later one.
#[test]
fn without_a_hit_nothing_is_announced() {
    let nearest = Nearest::new();
    for task in spine::<false>(&nearest, 60, true) {
        assert_eq!(task.fold(None, 1..4), None);
    }
    assert!(!Reduction::<u32>::stopped(&reduction::<false>(&nearest)));
    assert!(!nearest.is_before(usize::MAX));
}
