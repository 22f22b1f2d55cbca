//! JSON that the gateway splits and copies without building values.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

impl From<serde_json::Error> for Malformed {
    fn from(_: serde_json::Error) -> Self {
        Self
    }
}

/// The names and the verbatim JSON of an object's properties, repeated names included.
pub(crate) struct RawObject<'a>(pub(crate) Vec<(Cow<'a, str>, &'a str)>);

impl<'a> RawObject<'a> {
    /// Any nesting depth is safe: `serde_json` skips values without recursion.
    pub(crate) fn read(json: &'a str) -> Result<Self, Malformed> {
        Ok(serde_json::from_str(json)?)
    }

    /// The last value counts, as in JavaScript.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let found = self.0.iter().rfind(|(own, _)| own == name);
        found.map(|(_, value)| *value)
    }
}

impl<'de> Deserialize<'de> for RawObject<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = RawObject<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut properties = Vec::new();
        while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            properties.push((read_string(name.get()).unwrap_or_default(), value.get()));
        }
        Ok(RawObject(properties))
    }
}

pub(crate) fn read_string(json: &str) -> Option<Cow<'_, str>> {
    Some(unescape(json.strip_prefix('"')?.strip_suffix('"')?))
}

/// RFC 8259, section 7. An unpaired surrogate becomes U+FFFD. A malformed escape only loses its
/// backslash.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        plain.push_str(before);
        if let Some((character, length)) = read_unicode_escape(escape) {
            plain.push(character);
            rest = &escape[length..];
            continue;
        }
        let mut characters = escape.chars();
        plain.extend(characters.next().map(|character| match character {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            other => other,
        }));
        rest = characters.as_str();
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// A pair of surrogates counts as one. Also returns the length in bytes.
fn read_unicode_escape(text: &str) -> Option<(char, usize)> {
    let read_unit = |text: &str| {
        let digits = text.strip_prefix('u')?.get(..4)?;
        u32::from_str_radix(digits, 16).ok()
    };
    let (mut code, mut length) = (read_unit(text)?, 5);
    if (0xd800..0xdc00).contains(&code)
        && let Some(next) = text[5..].strip_prefix('\\')
        && let Some(second @ 0xdc00..0xe000) = read_unit(next)
    {
        code = 0x1_0000 + ((code - 0xd800) << 10) + (second - 0xdc00);
        length = 11;
    }
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    Some((character, length))
}
