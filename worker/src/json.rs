//! JSON as it comes from outside, read strictly; and what the shell hands over, read by
//! name. One parser for all of it, and no code per type, is a tenth of the wasm.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Parses JSON in which no object has a member twice, at any depth: of two, one reader
/// would take the first and another the second (RFC 7515, section 10.12).
#[must_use]
pub fn value(json: &[u8]) -> Option<Value> {
    let Once(value) = serde_json::from_slice(json).ok()?;
    Some(value)
}

/// A member that is text.
#[must_use]
pub fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str()
}

/// A member that is text, as a text of its own; empty when it is not there.
#[must_use]
pub fn owned(object: &Value, name: &str) -> String {
    text(object, name).unwrap_or_default().to_owned()
}

/// A member that is an integer, 0 or more.
#[must_use]
pub fn number(object: &Value, name: &str) -> Option<u64> {
    object.get(name)?.as_u64()
}

/// A member that is a small integer, 0 or more; a larger one counts as the largest.
#[must_use]
pub fn count(object: &Value, name: &str) -> Option<u32> {
    number(object, name).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

/// The member `status`, when it is an HTTP status.
#[must_use]
pub fn status(object: &Value) -> Option<u16> {
    number(object, "status").and_then(|status| u16::try_from(status).ok())
}

/// Whether a member is `true`.
#[must_use]
pub fn flag(object: &Value, name: &str) -> bool {
    object.get(name) == Some(&Value::Bool(true))
}

/// The elements of a member that is a list; none when it is not there.
pub fn items<'a>(object: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    let list = object.get(name).and_then(Value::as_array);
    list.into_iter().flatten()
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
        f.write_str("JSON with each member once")
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
                return Err(Error::custom("a member stands twice"));
            }
        }
        Ok(Value::Object(values))
    }
}
