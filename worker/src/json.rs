//! Strict JSON. Deserialization code for each type would make the wasm module 10 % larger.

use quillgate::text::replace_half_surrogates;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

/// Rejects an object with two properties of the same name, because parsers disagree on which value
/// counts (RFC 7515, section 10.12).
pub fn parse(json: &[u8]) -> Option<Value> {
    parse_text(std::str::from_utf8(json).ok()?).ok()
}

/// See [`parse`].
pub fn parse_text(json: &str) -> serde_json::Result<Value> {
    // `from_slice` would add a second copy of the parser to the wasm module.
    serde_json::from_str(json).map(|Strict(value)| value)
}

pub fn parse_map(json: &[u8]) -> Option<Map<String, Value>> {
    match parse(json)? {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// JSON of another server may contain half surrogates.
pub fn parse_lossy(json: &str) -> Option<Value> {
    parse(replace_half_surrogates(json).as_bytes())
}

pub fn to_text<T: Serialize>(value: &T) -> String {
    // Fails only for maps with keys that are not strings, which the gateway never serializes.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

pub fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str()
}

pub fn is_true(object: &Value, name: &str) -> bool {
    object.get(name) == Some(&Value::Bool(true))
}

/// Some issuers write `null` for an absent property.
pub fn remove_nulls(object: &mut Map<String, Value>) {
    object.retain(|_, value| !value.is_null());
}

const MAX_NAME_EXCERPT: usize = 32;

/// The objects have no repeated names.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
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
        while let Some(Strict(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some((name, Strict(value))) = members.next_entry::<String, Strict>()? {
            match values.entry(name) {
                Entry::Vacant(free) => {
                    free.insert(value);
                }
                Entry::Occupied(taken) => {
                    let name: String = taken.key().chars().take(MAX_NAME_EXCERPT).collect();
                    let name = to_text(&name);
                    let message = format_args!("must have each property once, found {name} twice");
                    return Err(Error::custom(message));
                }
            }
        }
        Ok(Value::Object(values))
    }
}
