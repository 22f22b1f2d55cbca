//! JSON that the gateway splits and copies without building values.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

impl From<serde_json::Error> for Malformed {
    fn from(_: serde_json::Error) -> Self {
        Self
    }
}

/// The values are verbatim JSON.
pub(crate) struct RawObject<'a> {
    /// Repeated names included.
    pub(crate) properties: Vec<(Cow<'a, str>, &'a str)>,
    pub(crate) list: Option<Vec<&'a RawValue>>,
}

impl<'a> RawObject<'a> {
    /// The first property with the name `list` must be an array, and is not among the properties.
    pub(crate) fn read(json: &'a str, list: Option<&str>) -> Result<Self, Malformed> {
        let mut properties = Vec::new();
        let list = read_object(json, list, &mut |name, value| {
            properties.push((name, value));
        })?;
        Ok(Self { properties, list })
    }

    /// The last value counts, as in JavaScript.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let mut properties = self.properties.iter();
        properties
            .rfind(|(own, _)| own == name)
            .map(|(_, value)| *value)
    }
}

/// Passes the name and the JSON of each property to `visit`, except the first one with the name
/// `list`. That property must be an array, whose elements are returned. Any nesting depth is safe:
/// `serde_json` skips values without recursion.
pub(crate) fn read_object<'a>(
    json: &'a str,
    list: Option<&str>,
    visit: &mut dyn FnMut(Cow<'a, str>, &'a str),
) -> Result<Option<Vec<&'a RawValue>>, Malformed> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let list = deserializer.deserialize_map(ObjectVisitor { list, visit })?;
    deserializer.end()?;
    Ok(list)
}

struct ObjectVisitor<'n, 'a> {
    list: Option<&'n str>,
    visit: &'n mut dyn FnMut(Cow<'a, str>, &'a str),
}

impl<'de> Visitor<'de> for ObjectVisitor<'_, 'de> {
    type Value = Option<Vec<&'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut list = None;
        while let Some(name) = map.next_key::<&RawValue>()? {
            let name = read_string(name.get()).unwrap_or_default();
            if list.is_none() && self.list == Some(&name) {
                list = Some(map.next_value()?);
            } else {
                (self.visit)(name, map.next_value::<&RawValue>()?.get());
            }
        }
        Ok(list)
    }
}

pub(crate) fn read_string(json: &str) -> Option<Cow<'_, str>> {
    let content = json.strip_prefix('"')?.strip_suffix('"')?;
    Some(unescape(content))
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
