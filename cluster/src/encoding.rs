//! The encoding of descriptions, outputs and results.

mod bounded;

use bounded::{Bounded, most_elements};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::Cell;

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

/// Returns the length of a value's encoding.
pub(crate) fn encoded_len<T: Serialize + ?Sized>(value: &T) -> postcard::Result<u64> {
    postcard::serialize_with_flavor(value, postcard::ser_flavors::Size::default())
        .map(|len: usize| len as u64)
}

/// Decodes a value, which takes all the bytes. (postcard by itself ignores bytes behind the value, as a value of another type leaves them.) A
/// sequence of elements without bytes (`Vec<()>`) may have 2^24.
///
/// # Errors
///
/// The reason, in words that follow the name of the content.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let mut deserializer = postcard::Deserializer::from_bytes(bytes);
    let left = Cell::new(most_elements(bytes.len()));
    let value = T::deserialize(Bounded { inner: &mut deserializer, left: &left });
    match value.and_then(|value| Ok((value, deserializer.finalize()?))) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("cannot be decoded: it is {} bytes too long", rest.len())),
        Err(error) => Err(format!("cannot be decoded: {error}")),
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
            assert_eq!(encoded_len(&value), encode(&value).map(|bytes| bytes.len() as u64));
        }
    }

    #[test]
    fn a_value_takes_all_the_bytes() {
        let bytes = postcard::to_allocvec(&(300_u32, "text")).unwrap();
        assert_eq!(decode(&bytes), Ok((300_u32, "text".to_owned())));
        let longer = [&bytes[..], &[0]].concat();
        assert!(decode::<(u32, String)>(&longer).is_err_and(|error| error.contains("1 bytes too long")));
        assert!(decode::<(u32, String)>(&bytes[..bytes.len() - 1]).is_err());
        assert!(decode::<u32>(&bytes).is_err(), "a value of another type");
    }

    #[test]
    fn values_of_every_shape_are_decoded() {
        #[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
        enum Shape {
            Unit,
            New(Option<Box<Shape>>),
            Tuple(char, Vec<()>),
            Struct { map: std::collections::BTreeMap<String, [i64; 2]>, float: f64 },
        }
        for shape in [
            Shape::Unit,
            Shape::New(None),
            Shape::New(Some(Box::new(Shape::Tuple('x', vec![(); 100_000])))),
            Shape::Struct { map: [("one".to_owned(), [1, -1])].into(), float: 0.5 },
        ] {
            assert_eq!(decode(&encode(&shape).unwrap()), Ok(shape));
        }
    }

    /// A damaged or forged length costs no more than a short loop.
    #[test]
    fn elements_without_bytes_are_bounded() {
        let forged = postcard::to_allocvec(&u64::MAX).unwrap();
        assert!(decode::<Vec<()>>(&forged).is_err());
        assert!(decode::<Vec<[(); 3]>>(&forged).is_err());
        assert!(decode::<Vec<u8>>(&forged).is_err());
        assert!(decode::<std::collections::BTreeMap<(), ()>>(&forged).is_err());
        // 10,000 sequences, each of which claims fewer elements than there are bytes left.
        let many = [postcard::to_allocvec(&10_000_u32).unwrap(), [0x90, 0x4e].repeat(10_000)].concat();
        assert!(decode::<Vec<Vec<()>>>(&many).is_err());
        let nested = [&[1][..], &forged].concat();
        assert!(decode::<Option<Vec<()>>>(&nested).is_err() && decode::<Vec<Vec<()>>>(&nested).is_err());
    }
}
