//! The decoding of contents: descriptions, outputs and results.

use serde::de::DeserializeOwned;

/// Decodes a value, which takes all the bytes. (postcard by itself ignores bytes behind the value, as a value of another type leaves them.)
///
/// # Errors
///
/// The reason, in words that follow the name of the content.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("cannot be decoded: it is {} bytes too long", rest.len())),
        Err(error) => Err(format!("cannot be decoded: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_takes_all_the_bytes() {
        let bytes = postcard::to_allocvec(&(300_u32, "text")).unwrap();
        assert_eq!(decode(&bytes), Ok((300_u32, "text".to_owned())));
        let longer = [&bytes[..], &[0]].concat();
        assert!(decode::<(u32, String)>(&longer).is_err_and(|error| error.contains("1 bytes too long")));
        assert!(decode::<(u32, String)>(&bytes[..bytes.len() - 1]).is_err());
        assert!(decode::<u32>(&bytes).is_err(), "a value of another type");
    }
}
