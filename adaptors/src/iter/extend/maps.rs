//! Maps and sets. Of equal keys, the last one's value counts.

use super::{extend_from_lists, extended, from_par_iter};
use crate::iter::collect::{into_lists, total};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList};
use std::hash::{BuildHasher, Hash};

// Ordered collections are built by std from all items at once. std sorts the items, which is faster than inserting them
// one by one.
from_par_iter! {
    [K: Eq + Hash + Send, V: Send, S: BuildHasher + Default + Send] HashMap<K, V, S>: (K, V), |items| extended(items);
    [T: Eq + Hash + Send, S: BuildHasher + Default + Send] HashSet<T, S>: T, |items| extended(items);
    [K: Ord + Send, V: Send] BTreeMap<K, V>: (K, V), |items| into_lists(items.into_par_iter()).into_iter().flatten().collect();
    [T: Ord + Send] BTreeSet<T>: T, |items| into_lists(items.into_par_iter()).into_iter().flatten().collect();
}

extend_from_lists! {
    [K: Eq + Hash + Send, V: Send, S: BuildHasher + Send] HashMap<K, V, S>: (K, V),
        |map, lists| map.reserve(expected(map.len(), lists));
    ['a, K: Copy + Eq + Hash + Send + Sync + 'a, V: Copy + Send + Sync + 'a, S: BuildHasher + Send] HashMap<K, V, S>: (&'a K, &'a V),
        |map, lists| map.reserve(expected(map.len(), lists));
    [T: Eq + Hash + Send, S: BuildHasher + Send] HashSet<T, S>: T,
        |set, lists| set.reserve(expected(set.len(), lists));
    ['a, T: Copy + Eq + Hash + Send + Sync + 'a, S: BuildHasher + Send] HashSet<T, S>: &'a T,
        |set, lists| set.reserve(expected(set.len(), lists));
    [K: Ord + Send, V: Send] BTreeMap<K, V>: (K, V);
    ['a, K: Copy + Ord + Send + Sync + 'a, V: Copy + Send + Sync + 'a] BTreeMap<K, V>: (&'a K, &'a V);
    [T: Ord + Send] BTreeSet<T>: T;
    ['a, T: Copy + Ord + Send + Sync + 'a] BTreeSet<T>: &'a T;
}

/// Returns the number of new keys for which room is made. As in std: room for all items if the collection is empty,
/// else for half of them, since some keys will be there already.
fn expected<T>(present: usize, lists: &LinkedList<Vec<T>>) -> usize {
    let items = total(lists);
    if present == 0 { items } else { items.div_ceil(2) }
}
