//! Reads values of JavaScript and emits strings through the functions of `host.js`.

use quillgate::value::{Scalar, Value};
use wasm_bindgen::prelude::*;

use crate::protocol::{Output, Source};

#[wasm_bindgen(module = "/src/host.js")]
extern "C" {
    /// Sets the objects that the module reads, in the order of [`Source`], and the function that
    /// receives its strings. Only tests call it from Rust.
    pub fn attach(sources: &JsValue, listener: &JsValue);

    fn read(source: u32, name: &str) -> u32;

    #[wasm_bindgen(js_name = readName)]
    fn read_name(source: u32, index: u32) -> bool;

    fn text() -> String;

    fn number() -> f64;

    #[wasm_bindgen(js_name = emit)]
    fn emit_text(kind: u32, number: u32, text: &str);
}

/// Passes a string to the driver.
pub fn emit(kind: Output, number: u32, text: &str) {
    emit_text(kind as u32, number, text);
}

/// Passes strings to the driver in one string, each followed by a line feed.
pub fn emit_lines(kind: Output, number: u32, lines: &[&str]) {
    let mut text = String::new();
    for line in lines {
        text.push_str(line);
        text.push_str("\n");
    }
    emit(kind, number, &text);
}

/// A source, or one of its properties.
pub enum Argument {
    /// A source.
    Object(Source),
    /// A property.
    Property(Scalar),
}

impl Value for Argument {
    fn member(&self, name: &'static str) -> Self {
        let Self::Object(source) = self else {
            return Self::Property(Scalar::Absent);
        };
        // The numbers of `kindOf` in `host.js`.
        Self::Property(match read(*source as u32, name) {
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
            Self::Property(property) => property,
        }
    }

    fn find_name(&self, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        let Self::Object(source) = self else {
            return None;
        };
        let mut index = 0;
        while read_name(*source as u32, index) {
            let name = text();
            if is_wanted(&name) {
                return Some(name);
            }
            index += 1;
        }
        None
    }

    fn elements(&self) -> Vec<Self> {
        Vec::new()
    }
}
