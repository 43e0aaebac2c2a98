//! The encoding of descriptions and outputs.

use serde::Serialize;

/// Length up to which a value is encoded on the stack.
const SMALL: usize = 1024;

/// Encodes a value.
///
/// A description is encoded while a thief waits. A vector that grows byte by byte would take most of that time, so a small value is
/// encoded on the stack, and copied.
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> postcard::Result<Vec<u8>> {
    match postcard::to_slice(value, &mut [0; SMALL]) {
        Ok(bytes) => Ok(bytes.to_vec()),
        Err(postcard::Error::SerializeBufferFull) => postcard::to_allocvec(value),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_all_lengths_are_encoded_alike() {
        for len in (0..2 * SMALL).step_by(7).chain([SMALL - 3, SMALL - 2, SMALL - 1, SMALL]) {
            let value = (5_u8, vec![200_u8; len]);
            assert_eq!(encode(&value), postcard::to_allocvec(&value), "{len}");
        }
    }
}
