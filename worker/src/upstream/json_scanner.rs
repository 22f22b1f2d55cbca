//! A JSON scanner. The scanner reads its input once, without building values.

use std::borrow::Cow;

/// The maximum nesting depth of a value. Rows of reports are much shallower.
const DEEPEST: u32 = 64;

/// The error for input that is not valid JSON or does not have the expected type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// The type of a scanned value, in as much detail as callers need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `null`.
    Null,
    /// A number, `true` or `false`.
    Plain,
    /// A string without escapes. Its piece excludes the quotes.
    Text,
    /// A string with escapes. Its piece excludes the quotes.
    EscapedText,
    /// An object or an array.
    Structure,
    /// An object or an array with white space between its tokens.
    SpacedStructure,
}

/// A slice of the input, in byte positions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) shape: Shape,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Piece {
    pub(crate) const NULL: Self = Self {
        shape: Shape::Null,
        from: 0,
        to: 0,
    };
}

/// A scanner that reads JSON token by token.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// The number of whitespace bytes skipped between tokens.
    spaces: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            spaces: 0,
        }
    }

    pub(crate) fn slice(&self, piece: Piece) -> &'a str {
        self.text.get(piece.from..piece.to).unwrap_or("")
    }

    pub(crate) fn bytes(&self, piece: Piece) -> &'a [u8] {
        self.slice(piece).as_bytes()
    }

    /// Returns the content of a string, with escapes resolved.
    pub(crate) fn unescape(&self, piece: Piece) -> Cow<'a, str> {
        unescape(self.slice(piece))
    }

    /// Returns whether a property's key is `name`, after its escapes are resolved.
    pub(crate) fn is_named(&self, key: Piece, name: &str) -> bool {
        match key.shape {
            Shape::EscapedText => self.unescape(key) == name,
            _ => self.bytes(key) == name.as_bytes(),
        }
    }

    /// Returns the first byte of the next token without consuming the byte, or `None` at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        match self.text.as_bytes().get(self.at) {
            Some(byte) if *byte > b' ' => Some(*byte),
            _ => self.peek_behind_space(),
        }
    }

    #[cold]
    fn peek_behind_space(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
            self.spaces += 1;
        }
    }

    #[inline]
    fn expect(&mut self, token: u8) -> Result<(), Malformed> {
        if self.peek() != Some(token) {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }

    /// Reads the opening bracket of an object or array. If the object or array is empty, also reads
    /// the closing bracket and returns `false`.
    pub(crate) fn open(&mut self, begin: u8, end: u8) -> Result<bool, Malformed> {
        self.expect(begin)?;
        if self.peek() == Some(end) {
            self.at += 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// Reads the comma or the closing bracket after an element. Returns whether another element
    /// follows.
    #[inline]
    pub(crate) fn has_next(&mut self, end: u8) -> Result<bool, Malformed> {
        let token = self.peek();
        self.at += 1;
        match token {
            Some(b',') => Ok(true),
            Some(token) if token == end => Ok(false),
            _ => Err(Malformed),
        }
    }

    /// Reads a property name and the colon after it.
    pub(crate) fn key(&mut self) -> Result<Piece, Malformed> {
        if self.peek() != Some(b'"') {
            return Err(Malformed);
        }
        let key = self.text()?;
        self.expect(b':')?;
        Ok(key)
    }

    /// Reads a value of any type.
    pub(crate) fn value(&mut self) -> Result<Piece, Malformed> {
        self.nested_value(DEEPEST)
    }

    /// Returns whether only whitespace is left.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    fn nested_value(&mut self, depth: u32) -> Result<Piece, Malformed> {
        match self.peek() {
            Some(b'"') => self.text(),
            Some(b'{' | b'[') if depth > 0 => self.structure(depth - 1),
            Some(b'n') => self.literal("null", Shape::Null),
            Some(b't') => self.literal("true", Shape::Plain),
            Some(b'f') => self.literal("false", Shape::Plain),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(Malformed),
        }
    }

    /// Reads an object or an array, starting at its bracket.
    fn structure(&mut self, depth: u32) -> Result<Piece, Malformed> {
        let (from, spaces) = (self.at, self.spaces);
        let is_object = self.peek() == Some(b'{');
        let (begin, end) = if is_object {
            (b'{', b'}')
        } else {
            (b'[', b']')
        };
        let mut has_element = self.open(begin, end)?;
        while has_element {
            if is_object {
                self.key()?;
            }
            self.nested_value(depth)?;
            has_element = self.has_next(end)?;
        }
        let shape = if self.spaces == spaces {
            Shape::Structure
        } else {
            Shape::SpacedStructure
        };
        Ok(self.piece(shape, from))
    }

    /// Returns the piece that ends at the current position.
    const fn piece(&self, shape: Shape, from: usize) -> Piece {
        let to = self.at;
        Piece { shape, from, to }
    }

    fn literal(&mut self, word: &str, shape: Shape) -> Result<Piece, Malformed> {
        let from = self.at;
        let rest = self.text.as_bytes().get(from..).unwrap_or(&[]);
        if !rest.starts_with(word.as_bytes()) {
            return Err(Malformed);
        }
        self.at += word.len();
        Ok(self.piece(shape, from))
    }

    fn number(&mut self) -> Result<Piece, Malformed> {
        let from = self.at;
        self.skip(|byte| byte == b'-');
        // In JSON, no digit may follow a leading zero.
        if !self.skip(|byte| byte == b'0') {
            self.digits()?;
        }
        if self.skip(|byte| byte == b'.') {
            self.digits()?;
        }
        if self.skip(|byte| byte | 0x20 == b'e') {
            self.skip(|byte| matches!(byte, b'+' | b'-'));
            self.digits()?;
        }
        Ok(self.piece(Shape::Plain, from))
    }

    #[inline]
    fn skip(&mut self, is_it: impl Fn(u8) -> bool) -> bool {
        let next = self.text.as_bytes().get(self.at);
        let is_there = next.is_some_and(|byte| is_it(*byte));
        self.at += usize::from(is_there);
        is_there
    }

    fn digits(&mut self) -> Result<(), Malformed> {
        let from = self.at;
        while self.skip(|byte| byte.is_ascii_digit()) {}
        if self.at == from {
            return Err(Malformed);
        }
        Ok(())
    }

    /// Reads a string, starting at its opening quote.
    fn text(&mut self) -> Result<Piece, Malformed> {
        let bytes = self.text.as_bytes();
        let from = self.at + 1;
        let mut at = from;
        let mut shape = Shape::Text;
        loop {
            at += count_plain(bytes.get(at..).unwrap_or(&[]));
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    shape = Shape::EscapedText;
                    at += escape_length(bytes.get(at + 1..).unwrap_or(&[]))?;
                }
                Some(0x20..) => at += 1,
                _ => return Err(Malformed),
            }
        }
        self.at = at + 1;
        Ok(Piece {
            shape,
            from,
            to: at,
        })
    }
}

/// Counts the bytes before the first quote, backslash or control character, eight at a time. Up to
/// seven plain bytes at the end of the input are not counted.
#[inline]
fn count_plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHEST: u64 = ONES << 7;
    // Sets the highest bit of each byte below `least`, which must be at most 0x80. Only the first
    // set bit is reliable, because the subtraction can borrow from the bytes after that byte.
    let find_below = |word: u64, least: u64| word.wrapping_sub(ONES * least) & !word & HIGHEST;
    let find = |word: u64, byte: u8| find_below(word ^ (ONES * u64::from(byte)), 1);
    let mut count = 0;
    for eight in bytes.as_chunks::<8>().0 {
        let word = u64::from_le_bytes(*eight);
        let found = find(word, b'"') | find(word, b'\\') | find_below(word, 0x20);
        if found != 0 {
            return count + found.trailing_zeros() as usize / 8;
        }
        count += 8;
    }
    count
}

/// Returns the length of an escape, including the backslash. `rest` starts after the backslash.
/// Returns [`Malformed`] for an invalid escape.
fn escape_length(rest: &[u8]) -> Result<usize, Malformed> {
    match rest {
        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => Ok(2),
        [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) => {
            Ok(6)
        }
        _ => Err(Malformed),
    }
}

/// Resolves the escapes of JSON (RFC 8259, section 7). An unpaired surrogate becomes U+FFFD,
/// because surrogates have no UTF-8 encoding. A malformed escape only loses its backslash.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
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

/// Decodes a Unicode escape. `text` starts after the backslash. Returns the character, and the
/// length of the escape without that backslash. Returns `None` if `text` starts with another
/// escape.
fn read_unicode_escape(text: &str) -> Option<(char, usize)> {
    let first = read_unit(text)?;
    if (0xd800..0xdc00).contains(&first)
        && let Some(next) = text[5..].strip_prefix('\\')
        && let Some(second @ 0xdc00..0xe000) = read_unit(next)
    {
        let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return Some((replace_if_none(code), 11));
    }
    Some((replace_if_none(first), 5))
}

fn read_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('u')?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

fn replace_if_none(code: u32) -> char {
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}
