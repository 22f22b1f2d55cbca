//! Descriptions of the JSON types of results.
//!
//! The package's TypeScript types, its JavaScript decoders, the gateway's `OpenAPI` description and
//! the reference are generated from these descriptions. The `record!` macro declares a struct
//! together with its [`Object`], so the two always agree.

/// A type of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JsonType {
    /// A string.
    String,
    /// A string with known values. Other values are accepted unchanged.
    OpenEnum(&'static OpenEnum),
    /// The tag of a [`Union`]: one of these values or, in the fallback variant, any other string.
    Tag(&'static [&'static str]),
    /// An integer from 0 to 2^53 − 1.
    SafeInteger,
    /// A percentage from 0 to 100.
    Percentage,
    /// `true` or `false`.
    Boolean,
    /// An object.
    Object(&'static Object),
    /// One of several object types.
    Union(&'static Union),
    /// An array with elements of one type.
    List(&'static JsonType),
    /// An empty response body.
    Empty,
    /// The value or `null`. A missing property is read as `null`.
    Nullable(&'static JsonType),
}

impl JsonType {
    /// Returns the type's name, or an empty string for types without one.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Object(object) => object.name,
            Self::OpenEnum(named) => named.name,
            Self::Union(union) => union.name,
            _ => "",
        }
    }
}

/// A string type with known values.
#[derive(Debug, PartialEq)]
pub struct OpenEnum {
    /// The type's name.
    pub name: &'static str,
    /// The type's documentation, one line per element.
    pub doc: &'static [&'static str],
    /// The known values.
    pub known: &'static [&'static str],
}

/// An object with named properties.
#[derive(Debug, PartialEq)]
pub struct Object {
    /// The type's name.
    pub name: &'static str,
    /// The type's documentation, one line per element.
    pub doc: &'static [&'static str],
    /// The properties, in the order of the API's description.
    pub fields: &'static [Field],
}

/// A union of object types, distinguished by a tag.
#[derive(Debug, PartialEq)]
pub struct Union {
    /// The type's name.
    pub name: &'static str,
    /// The type's documentation, one line per element.
    pub doc: &'static [&'static str],
    /// The property that contains the tag.
    pub tag: &'static str,
    /// The types with their tags.
    pub variants: &'static [(&'static str, JsonType)],
    /// The type for all other tags.
    pub otherwise: JsonType,
}

/// A property of an [`Object`].
#[derive(Debug, PartialEq)]
pub struct Field {
    /// The property's name.
    pub name: &'static str,
    /// The property's documentation, one line per element.
    pub doc: &'static [&'static str],
    /// The property's type.
    pub kind: JsonType,
}

/// A Rust type that is decoded from JSON.
pub trait HasJsonType {
    /// The JSON type.
    const JSON_TYPE: JsonType;
}

impl HasJsonType for String {
    const JSON_TYPE: JsonType = JsonType::String;
}

impl HasJsonType for () {
    const JSON_TYPE: JsonType = JsonType::Empty;
}

impl HasJsonType for bool {
    const JSON_TYPE: JsonType = JsonType::Boolean;
}

impl<T: HasJsonType> HasJsonType for Option<T> {
    const JSON_TYPE: JsonType = JsonType::Nullable(&T::JSON_TYPE);
}

impl<T: HasJsonType> HasJsonType for Vec<T> {
    const JSON_TYPE: JsonType = JsonType::List(&T::JSON_TYPE);
}

/// Expands to a slice of lines. Without the feature `documentation`, it is empty, so that wasm
/// modules contain no documentation.
macro_rules! docs {
    ($($doc:literal),* $(,)?) => {
        if cfg!(feature = "documentation") { &[$($doc),*] } else { &[] }
    };
}

/// Declares a struct that is decoded from JSON, and its description.
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
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[cfg_attr(feature = "json", derive(serde::Deserialize, serde::Serialize))]
        #[non_exhaustive]
        pub struct $name {
            $(
                $(#[doc = $field_doc])+
                #[cfg_attr(feature = "json", serde(rename = $wire))]
                pub $field: $kind,
            )+
        }

        impl $crate::schema::HasJsonType for $name {
            const JSON_TYPE: $crate::schema::JsonType =
                $crate::schema::JsonType::Object(&$crate::schema::Object {
                    name: stringify!($name),
                    doc: docs!($($doc),+),
                    fields: &[$(
                        $crate::schema::Field {
                            name: $wire,
                            doc: docs!($($field_doc),+),
                            kind: <$kind as $crate::schema::HasJsonType>::JSON_TYPE,
                        },
                    )+],
                });
        }
    };
}

/// Declares an enum of records that are distinguished by a tag, and its description.
macro_rules! union {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident by $tag:literal {
            $($variant:ident($kind:ty) for $value:literal,)+
        }
        otherwise $other:ident($other_kind:ty)
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = concat!("For `", $value, "`.")] $variant($kind),)+
            /// For all other values.
            $other($other_kind),
        }

        impl $crate::schema::HasJsonType for $name {
            const JSON_TYPE: $crate::schema::JsonType =
                $crate::schema::JsonType::Union(&$crate::schema::Union {
                    name: stringify!($name),
                    doc: docs!($($doc),+),
                    tag: $tag,
                    variants: &[
                        $(($value, <$kind as $crate::schema::HasJsonType>::JSON_TYPE),)+
                    ],
                    otherwise: <$other_kind as $crate::schema::HasJsonType>::JSON_TYPE,
                });
        }

        #[cfg(feature = "json")]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                use serde::de::Error;

                let value = serde_json::Value::deserialize(from)?;
                let read = match value.get($tag).and_then(serde_json::Value::as_str) {
                    $(Some($value) => serde_json::from_value(value).map(Self::$variant),)+
                    _ => serde_json::from_value(value).map(Self::$other),
                };
                read.map_err(D::Error::custom)
            }
        }

        #[cfg(feature = "json")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(record) => record.serialize(to),)+
                    Self::$other(record) => record.serialize(to),
                }
            }
        }
    };
}

/// Declares a string type with known values. With `open`, other values are accepted too. With
/// `tag`, the type is the tag of a union.
macro_rules! text {
    ($(#[doc = $doc:literal])+ pub struct $name:ident: open $($known:literal),+) => {
        text!(@ [$($doc),+] $name, $crate::schema::JsonType::OpenEnum(&$crate::schema::OpenEnum {
            name: stringify!($name),
            doc: docs!($($doc),+),
            known: &[$($known),+],
        }));
    };
    ($(#[doc = $doc:literal])+ pub struct $name:ident: tag $($known:literal),+) => {
        text!(@ [$($doc),+] $name, $crate::schema::JsonType::Tag(&[$($known),+]));
    };
    (@ [$($doc:literal),+] $name:ident, $kind:expr) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[cfg_attr(feature = "json", derive(serde::Deserialize, serde::Serialize))]
        #[cfg_attr(feature = "json", serde(transparent))]
        pub struct $name(String);

        impl $name {
            /// Returns the string.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl $crate::schema::HasJsonType for $name {
            const JSON_TYPE: $crate::schema::JsonType = $kind;
        }
    };
}

/// Declares an enum of known strings, which are final or not. Any other string is kept and is not
/// final.
macro_rules! status {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident {
            $($(#[doc = $variant_doc:literal])+ $variant:ident => $known:literal,)+
        }
        final: $($last:ident)|+
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[doc = $variant_doc])+ $variant,)+
            /// Any other state.
            Other(String),
        }

        impl $name {
            /// The known states, as in JSON.
            pub const KNOWN: &'static [&'static str] = &[$($known),+];

            /// Returns whether this state is final.
            #[must_use]
            pub const fn is_terminal(&self) -> bool {
                matches!(self, $(Self::$last)|+)
            }

            /// Returns whether this state is known.
            #[must_use]
            pub const fn is_known(&self) -> bool {
                !matches!(self, Self::Other(_))
            }

            /// Returns the progress that a state means. A missing state is unknown.
            #[must_use]
            pub fn progress(status: Option<&Self>) -> $crate::poll::Progress {
                match status {
                    Some(status) if status.is_terminal() => $crate::poll::Progress::Finished,
                    Some(status) if status.is_known() => $crate::poll::Progress::Running,
                    _ => $crate::poll::Progress::Unknown,
                }
            }

            /// Returns the state as a string, as in JSON.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $known,)+
                    Self::Other(text) => text,
                }
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $($known => Self::$variant,)+
                    _ => Self::Other(text),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        #[cfg(feature = "json")]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(from).map(Self::from)
            }
        }

        #[cfg(feature = "json")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl $crate::schema::HasJsonType for $name {
            const JSON_TYPE: $crate::schema::JsonType =
                $crate::schema::JsonType::OpenEnum(&$crate::schema::OpenEnum {
                    name: stringify!($name),
                    doc: docs!($($doc),+),
                    known: Self::KNOWN,
                });
        }
    };
}

#[cfg(feature = "json")]
mod check {
    use serde_json::Value;

    use super::{JsonType, Object};
    use crate::error::DecodeError;
    use crate::text::{MAX_SAFE_INTEGER, to_exact_integer};
    use crate::value::Value as _;

    /// Checks that a parsed JSON value has the expected type.
    ///
    /// Rejects the same values as the package's decoders, with the same messages. Unknown
    /// properties are ignored, and nullable properties may be missing.
    ///
    /// # Errors
    /// [`DecodeError`] with the JSON path of the first value that does not have its type.
    ///
    /// # Example
    /// ```
    /// use quillgate::AgentJob;
    /// use quillgate::schema::{HasJsonType, check};
    /// use serde_json::json;
    ///
    /// assert!(check(&json!({ "id": "j1", "more": [] }), &AgentJob::JSON_TYPE).is_ok());
    /// let error = check(&json!({ "id": 5 }), &AgentJob::JSON_TYPE).unwrap_err();
    /// assert_eq!(error.to_string(), "id must be a string, found a number");
    /// ```
    pub fn check(value: &Value, kind: &JsonType) -> Result<(), DecodeError> {
        let fits = match kind {
            JsonType::String | JsonType::OpenEnum(_) | JsonType::Tag(_) => value.is_string(),
            JsonType::SafeInteger => is_count(value),
            JsonType::Percentage => value.is_number(),
            JsonType::Boolean => value.is_boolean(),
            JsonType::Object(_) | JsonType::Union(_) => value.is_object(),
            JsonType::List(_) => value.is_array(),
            JsonType::Empty => value.is_null(),
            JsonType::Nullable(_) if value.is_null() => true,
            JsonType::Nullable(inner) => return check(value, inner),
        };
        if !fits {
            let found = if value.is_null() {
                "null"
            } else {
                value.scalar().kind()
            };
            return Err(DecodeError::new("", describe(kind, found)));
        }
        match kind {
            JsonType::Object(object) => check_object(value, object),
            JsonType::Union(union) => {
                let tag = value.get(union.tag).and_then(Value::as_str);
                let mut variants = union.variants.iter();
                let known = variants.find(|(name, _)| Some(*name) == tag);
                check(value, known.map_or(&union.otherwise, |(_, kind)| kind))
            }
            JsonType::List(element) => value.as_array().map_or(Ok(()), |items| {
                items.iter().enumerate().try_for_each(|(at, item)| {
                    check(item, element).map_err(|error| error.under(&format!("[{at}]")))
                })
            }),
            _ => Ok(()),
        }
    }

    fn describe(kind: &JsonType, found: &str) -> String {
        ["must be ", kind.rule(), ", found ", found].concat()
    }

    fn check_object(value: &Value, object: &Object) -> Result<(), DecodeError> {
        object.fields.iter().try_for_each(|field| {
            let member = match value.get(field.name) {
                None if !matches!(field.kind, JsonType::Nullable(_)) => {
                    return Err(DecodeError::new(
                        field.name,
                        describe(&field.kind, "nothing"),
                    ));
                }
                None => return Ok(()),
                Some(member) => member,
            };
            check(member, &field.kind).map_err(|error| error.under(field.name))
        })
    }

    fn is_count(value: &Value) -> bool {
        match value.as_u64() {
            Some(count) => count <= MAX_SAFE_INTEGER,
            // JSON does not distinguish 5.0 from 5.
            None => value
                .as_f64()
                .and_then(to_exact_integer)
                .is_some_and(|count| count >= 0),
        }
    }

    impl JsonType {
        /// Returns the type as it follows "must be" in an error message.
        const fn rule(&self) -> &'static str {
            match self {
                Self::String | Self::OpenEnum(_) | Self::Tag(_) => "a string",
                Self::SafeInteger => "an integer from 0 to 9007199254740991",
                Self::Percentage => "a number",
                Self::Boolean => "true or false",
                Self::Object(_) | Self::Union(_) => "an object",
                Self::List(_) => "an array",
                Self::Empty => "an empty body",
                Self::Nullable(inner) => inner.rule(),
            }
        }
    }
}

#[cfg(feature = "json")]
pub use check::check;
