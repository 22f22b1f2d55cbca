//! What the core's types look like from outside: the one source of the package's
//! TypeScript types and of the decoders that check a parsed body in JavaScript.
//!
//! The `record!` macro declares a struct and its [`Object`] together, so the Rust
//! type, the TypeScript type and the check cannot drift apart.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};

/// The type of a value in JSON.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Any text.
    Text,
    /// Text of which some values are known; any other is kept as it is.
    OpenEnum(&'static OpenEnum),
    /// An integer from 0 to 2^53 − 1.
    Count,
    /// `true` or `false`.
    Flag,
    /// An object.
    Object(&'static Object),
    /// An array whose elements are all alike.
    List(&'static Kind),
    /// Nothing: an answer without a body.
    Nothing,
    /// The value, or `null`, or left out; read as `null` where it is left out.
    Nullable(&'static Kind),
}

impl Kind {
    /// The name of the type, when it has one of its own.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Object(object) => object.name,
            Self::OpenEnum(named) => named.name,
            _ => "",
        }
    }
}

/// A text type of which some values are known.
#[derive(Debug, PartialEq)]
pub struct OpenEnum {
    /// The type's name.
    pub name: &'static str,
    /// The type's documentation, a line an element.
    pub doc: &'static [&'static str],
    /// The known values.
    pub known: &'static [&'static str],
}

/// An object with named members.
#[derive(Debug, PartialEq)]
pub struct Object {
    /// The type's name.
    pub name: &'static str,
    /// The type's documentation, a line an element.
    pub doc: &'static [&'static str],
    /// Its members, in the order of the specification.
    pub fields: &'static [Field],
}

/// A member of an [`Object`].
#[derive(Debug, PartialEq)]
pub struct Field {
    /// The name in JSON.
    pub name: &'static str,
    /// The member's documentation, a line an element.
    pub doc: &'static [&'static str],
    /// The member's type.
    pub kind: Kind,
}

/// A type that can say what it looks like in JSON.
pub trait Described {
    /// The type in JSON.
    const KIND: Kind;
}

impl Described for String {
    const KIND: Kind = Kind::Text;
}

impl Described for () {
    const KIND: Kind = Kind::Nothing;
}

impl Described for bool {
    const KIND: Kind = Kind::Flag;
}

impl<T: Described> Described for Option<T> {
    const KIND: Kind = Kind::Nullable(&T::KIND);
}

impl<T: Described> Described for Vec<T> {
    const KIND: Kind = Kind::List(&T::KIND);
}

/// Reads a struct from an object only: what serde derives would take an array of the
/// members' values for one too.
pub(crate) struct ObjectOnly<T>(pub(crate) T);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ObjectOnly<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, ObjectOnly(visitor))
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(ObjectOnly(visitor))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier
        ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for ObjectOnly<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(map)
    }
}

/// Declares a struct that is read from JSON, and describes it.
macro_rules! record {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident {
            $(
                $(#[doc = $field_doc:literal])+
                pub $field:ident as $wire:literal: $kind:ty,
            )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
        #[serde(remote = "Self")]
        pub struct $name {
            $(
                $(#[doc = $field_doc])+
                #[serde(rename = $wire)]
                pub $field: $kind,
            )+
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Self::deserialize($crate::schema::ObjectOnly(from))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, to)
            }
        }

        impl $crate::schema::Described for $name {
            const KIND: $crate::schema::Kind =
                $crate::schema::Kind::Object(&$crate::schema::Object {
                    name: stringify!($name),
                    doc: &[$($doc),+],
                    fields: &[$(
                        $crate::schema::Field {
                            name: $wire,
                            doc: &[$($field_doc),+],
                            kind: <$kind as $crate::schema::Described>::KIND,
                        },
                    )+],
                });
        }
    };
}
