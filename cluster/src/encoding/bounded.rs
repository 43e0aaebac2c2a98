//! A deserializer that does not loop for long over elements that take no bytes.
//!
//! Every other element is paid for by bytes, of which a message has so many. But a damaged or forged `Vec<()>` may claim 2^64 elements in
//! ten bytes, and a `Vec<Vec<()>>` many times as many elements as there are bytes. So all elements are counted: those of sequences and
//! maps, and the fields of tuples and structs.
//!
//! One type wraps all that serde passes down (deserializers, visitors, accesses, seeds), so that sequences within sequences are seen.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use std::cell::Cell;
use std::fmt;

/// Number of elements without bytes that a message may have.
pub(super) const EMPTY_ELEMENTS: u64 = 1 << 24;

/// Number of elements for each byte. A byte may belong to an element of an element of an element ..., and fields may be empty.
const ELEMENTS_PER_BYTE: u64 = 64;

/// Returns the number of elements that a message of so many bytes may have.
pub(super) fn most_elements(bytes: usize) -> u64 {
    (bytes as u64).saturating_mul(ELEMENTS_PER_BYTE).saturating_add(EMPTY_ELEMENTS)
}

/// Something of serde's, and the number of elements that may still come.
pub(super) struct Bounded<'b, T> {
    pub(super) inner: T,
    pub(super) left: &'b Cell<u64>,
}

impl<'b, T> Bounded<'b, T> {
    fn wrap<U>(&self, inner: U) -> Bounded<'b, U> {
        Bounded { inner, left: self.left }
    }

    fn count<E: Error>(&self) -> Result<(), E> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.ok_or_else(|| E::custom("a sequence is longer than its message"))?);
        Ok(())
    }
}

/// Methods that pass a wrapped visitor on.
macro_rules! pass_on {
    ($($method:ident($($arg:ident: $type:ty),*);)*) => {$(
        fn $method<V: Visitor<'de>>(self, $($arg: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let visitor = self.wrap(visitor);
            self.inner.$method($($arg,)* visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Bounded<'_, D> {
    type Error = D::Error;

    pass_on! {
        deserialize_any(); deserialize_bool(); deserialize_i8(); deserialize_i16(); deserialize_i32(); deserialize_i64();
        deserialize_i128(); deserialize_u8(); deserialize_u16(); deserialize_u32(); deserialize_u64(); deserialize_u128();
        deserialize_f32(); deserialize_f64(); deserialize_char(); deserialize_str(); deserialize_string();
        deserialize_bytes(); deserialize_byte_buf(); deserialize_option(); deserialize_unit(); deserialize_seq();
        deserialize_map(); deserialize_identifier(); deserialize_ignored_any();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_tuple(len: usize);
        deserialize_tuple_struct(name: &'static str, len: usize);
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// Methods that pass a value on.
macro_rules! visit {
    ($($method:ident($($arg:ident: $type:ty)?);)*) => {$(
        fn $method<E: Error>(self, $($arg: $type)?) -> Result<V::Value, E> {
            self.inner.$method($($arg)?)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Bounded<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    visit! {
        visit_bool(v: bool); visit_i8(v: i8); visit_i16(v: i16); visit_i32(v: i32); visit_i64(v: i64); visit_i128(v: i128);
        visit_u8(v: u8); visit_u16(v: u16); visit_u32(v: u32); visit_u64(v: u64); visit_u128(v: u128);
        visit_f32(v: f32); visit_f64(v: f64); visit_char(v: char); visit_str(v: &str); visit_borrowed_str(v: &'de str);
        visit_string(v: String); visit_bytes(v: &[u8]); visit_borrowed_bytes(v: &'de [u8]); visit_byte_buf(v: Vec<u8>);
        visit_none(); visit_unit();
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        let deserializer = self.wrap(deserializer);
        self.inner.visit_some(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        let deserializer = self.wrap(deserializer);
        self.inner.visit_newtype_struct(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<V::Value, A::Error> {
        let seq = self.wrap(seq);
        self.inner.visit_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        let map = self.wrap(map);
        self.inner.visit_map(map)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<V::Value, A::Error> {
        let data = self.wrap(data);
        self.inner.visit_enum(data)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Bounded<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let deserializer = self.wrap(deserializer);
        self.inner.deserialize(deserializer)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Bounded<'_, A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, A::Error> {
        self.count()?;
        let seed = self.wrap(seed);
        self.inner.next_element_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Bounded<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        self.count()?;
        let seed = self.wrap(seed);
        self.inner.next_key_seed(seed)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        let seed = self.wrap(seed);
        self.inner.next_value_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, 'b, A: EnumAccess<'de>> EnumAccess<'de> for Bounded<'b, A> {
    type Error = A::Error;
    type Variant = Bounded<'b, A::Variant>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self::Variant), A::Error> {
        let left = self.left;
        let seed = self.wrap(seed);
        let (value, inner) = self.inner.variant_seed(seed)?;
        Ok((value, Bounded { inner, left }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Bounded<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        let seed = self.wrap(seed);
        self.inner.newtype_variant_seed(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        let visitor = self.wrap(visitor);
        self.inner.tuple_variant(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let visitor = self.wrap(visitor);
        self.inner.struct_variant(fields, visitor)
    }
}
