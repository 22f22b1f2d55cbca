//! What the host gives and takes: see `host.js`.

use wasm_bindgen::prelude::*;

use crate::protocol::{Source, Text};
use crate::value::{Scalar, Value};

#[wasm_bindgen(module = "/src/wasm/host.js")]
extern "C" {
    /// Says which objects are read, by the numbers of [`Source`], and who takes the texts. The
    /// package's driver does so in JavaScript; this is for tests.
    pub fn attach(sources: &JsValue, listener: &JsValue);

    fn read(source: u32, name: &str) -> u32;

    #[wasm_bindgen(js_name = readName)]
    fn read_name(source: u32, at: u32) -> bool;

    fn text() -> String;

    fn number() -> f64;

    #[wasm_bindgen(js_name = say)]
    fn say_text(kind: u32, number: u32, text: &str);
}

/// Hands a text over.
pub fn say(kind: Text, number: u32, text: &str) {
    say_text(kind as u32, number, text);
}

/// Hands texts over, a line each.
pub fn say_lines(kind: Text, number: u32, lines: &[&str]) {
    let mut text = String::new();
    for line in lines {
        text.push_str(line);
        text.push_str("\n");
    }
    say(kind, number, &text);
}

/// One of the objects that the host lets itself be asked for, or a member of one.
pub enum Argument {
    /// The object.
    Object(Source),
    /// A member.
    Member(Scalar),
}

impl Value for Argument {
    fn member(&self, name: &'static str) -> Self {
        let Self::Object(source) = self else {
            return Self::Member(Scalar::Absent);
        };
        // The numbers of `kindOf` in `host.js`.
        Self::Member(match read(*source as u32, name) {
            0 => Scalar::Absent,
            1 => Scalar::Null,
            2 => Scalar::Text(text()),
            3 => Scalar::Number(number()),
            4 => Scalar::Flag(false),
            5 => Scalar::Flag(true),
            6 => Scalar::Other("an array"),
            7 => Scalar::Other("a function"),
            _ => Scalar::Other("an object"),
        })
    }

    fn scalar(self) -> Scalar {
        match self {
            Self::Object(_) => Scalar::Other("an object"),
            Self::Member(member) => member,
        }
    }

    fn find_name(&self, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        let Self::Object(source) = self else {
            return None;
        };
        let mut at = 0;
        while read_name(*source as u32, at) {
            let name = text();
            if is_wanted(&name) {
                return Some(name);
            }
            at += 1;
        }
        None
    }

    fn elements(&self) -> Vec<Self> {
        Vec::new()
    }
}
