//! Blocks of arrays and tables, and buckets.

/// The number of items of a block that is distributed to buckets.
pub const BLOCK: usize = 1 << 16;

/// The number of buckets.
pub const BUCKETS: usize = 256;

/// Distributes the items of a block to buckets. `bucket` returns the number of an item's bucket.
pub fn distribute<T>(block: impl ExactSizeIterator<Item = T>, bucket: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let capacity = 2 * block.len() / BUCKETS;
    let mut buckets: Vec<Vec<T>> = (0..BUCKETS).map(|_| Vec::with_capacity(capacity)).collect();
    block.for_each(|item| buckets[bucket(&item)].push(item));
    buckets
}

/// Returns the rows and the columns of an anti-diagonal's blocks. Block (i, j) is on the anti-diagonal i + j, so the last of these rows meets the
/// first of these columns: `rows.iter().rev().zip(columns)` are the blocks.
pub fn anti_diagonal<'s, R, C>(
    number: usize,
    rows: &'s mut [R],
    columns: &'s mut [C],
) -> (&'s mut [R], &'s mut [C]) {
    let (begin, end) = ((number + 1).saturating_sub(columns.len()), rows.len().min(number + 1));
    (&mut rows[begin..end], &mut columns[number + 1 - end..number + 1 - begin])
}
