//! JSON. The gateway parses untrusted JSON strictly. [`parse`] returns a [`Value`], because
//! deserialization code for each type would make the wasm module 10 % larger.

use quillgate::text::replace_half_surrogates;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Parses JSON. Returns `None` if the JSON is malformed. Also returns `None` if an object at any
/// depth has two properties with the same name, because parsers disagree on which value counts (RFC
/// 7515, section 10.12).
pub fn parse(json: &[u8]) -> Option<Value> {
    let Once(value) = serde_json::from_slice(json).ok()?;
    Some(value)
}

/// Parses JSON of another server like [`parse`], but accepts half surrogates: see
/// [`replace_half_surrogates`].
pub fn parse_lossy(json: &str) -> Option<Value> {
    parse(replace_half_surrogates(json).as_bytes())
}

/// Serializes a value as single-line JSON.
pub fn to_text<T: Serialize>(value: &T) -> String {
    // Serialization fails only for maps with keys that are not strings. The gateway serializes no
    // such maps.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// Removes insignificant whitespace from JSON (RFC 8259, section 2).
///
/// # Example
/// ```
/// use quillgate_worker::json::compact;
///
/// assert_eq!(compact("{ \"a b\":\r\n\t[1, \"\\\" \"] }"), r#"{"a b":[1,"\" "]}"#);
/// ```
pub fn compact(json: &str) -> String {
    let mut compacted = String::with_capacity(json.len());
    let (mut kept_from, mut is_text, mut is_escaped) = (0, false, false);
    for (at, byte) in json.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b' ' | b'\t' | b'\n' | b'\r' if !is_text => {
                compacted.push_str(&json[kept_from..at]);
                kept_from = at + 1;
            }
            _ => {}
        }
    }
    compacted.push_str(&json[kept_from..]);
    compacted
}

/// Returns the value of a property, or `None` if the property is absent or not a string.
pub fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str()
}

/// Returns whether a property is `true`. Returns `false` for any other value, and if the property
/// is absent.
pub fn is_true(object: &Value, name: &str) -> bool {
    object.get(name) == Some(&Value::Bool(true))
}

/// Removes the properties whose value is `null`. Some issuers write `null` for an absent property.
pub fn remove_nulls(object: &mut Map<String, Value>) {
    object.retain(|_, value| !value.is_null());
}

struct Once(Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OnceVisitor).map(Self)
    }
}

struct OnceVisitor;

impl<'de> Visitor<'de> for OnceVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON without duplicate members")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Once(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some((name, Once(value))) = members.next_entry()? {
            if values.insert(name, value).is_some() {
                return Err(Error::custom("a duplicate member"));
            }
        }
        Ok(Value::Object(values))
    }
}

/// Returns the elements of an array of strings, or `None` for other values.
pub fn into_strings(value: Value) -> Option<Vec<String>> {
    let Value::Array(items) = value else {
        return None;
    };
    let text = |item| match item {
        Value::String(text) => Some(text),
        _ => None,
    };
    items.into_iter().map(text).collect()
}
