//! The parser of the event streams of a gateway (HTML Standard, section 9.2).

use std::collections::VecDeque;

use crate::millis::Millis;
use crate::text::parse_decimal;

/// A stream without data for this long is broken: 45 s. Gateways send a comment every 15 s.
pub const MAX_SILENCE: Millis = Millis(45_000);
/// How long a client polls its jobs before it tries a stream again: 60 s.
pub const STREAM_PAUSE: Millis = Millis(60_000);
/// The default reconnection time: 3 s.
const DEFAULT_RETRY: Millis = Millis(3_000);
/// The minimum reconnection time: 1 s, so that `retry: 0` causes no busy loop.
const MIN_RETRY: Millis = Millis(1_000);
/// The maximum number of digits of a reconnection time.
const MAX_RETRY_DIGITS: usize = 7;
/// The maximum size of an unfinished event in bytes. Gateways send smaller events.
const MAX_UNFINISHED: usize = 1 << 20;

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEvent {
    /// The event type. Default: `message`.
    pub name: String,
    /// The `data` fields, joined with line feeds.
    pub data: String,
}

/// An unfinished event that is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTooLarge;

/// A parser of event streams. A chunk may end anywhere, also within a character.
///
/// ```
/// use quillgate::event_stream::{EventParser, StreamEvent};
///
/// let mut parser = EventParser::default();
/// parser.push(b"id: 7\nevent: job\ndata: {\"id\":")?;
/// assert_eq!(parser.pop(), None);
/// parser.push(b"\"j1\"}\n\n")?;
/// let event = StreamEvent { name: "job".into(), data: "{\"id\":\"j1\"}".into() };
/// assert_eq!(parser.pop(), Some(event));
/// assert_eq!(parser.last_id(), "7");
/// # Ok::<(), quillgate::event_stream::EventTooLarge>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct EventParser {
    events: VecDeque<StreamEvent>,
    unfinished: Unfinished,
    last_id: String,
    retry: Option<Millis>,
}

/// The event that has not ended yet.
#[derive(Debug, Clone, Default)]
struct Unfinished {
    line: Vec<u8>,
    /// Whether the last byte was a carriage return. A line feed then belongs to the same line end.
    is_after_return: bool,
    /// Whether the first line has ended. Only that line can have a byte order mark.
    has_line: bool,
    name: String,
    /// `None` without a `data` field.
    data: Option<String>,
    id: Option<String>,
}

impl EventParser {
    /// Starts another stream. Discards the unfinished event of the previous one.
    pub fn restart(&mut self) {
        self.unfinished = Unfinished::default();
    }

    /// Returns the id of the last complete event, for `Last-Event-ID`. Empty if no event had one.
    #[must_use]
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// Returns the wait before the stream is opened again: the last one that the server sent, or else
    /// 3 s; at least 1 s. Up to a quarter is added: `jitter` is a random number from 0 to 1.
    #[must_use]
    pub fn retry(&self, jitter: f64) -> Millis {
        let retry = self.retry.unwrap_or(DEFAULT_RETRY).max(MIN_RETRY);
        retry.jitter(1.0, 1.25, jitter)
    }

    /// Returns the oldest event that [`Self::push`] completed and no call has returned.
    pub fn pop(&mut self) -> Option<StreamEvent> {
        self.events.pop_front()
    }

    /// Reads a chunk.
    ///
    /// # Errors
    /// [`EventTooLarge`] if the unfinished event has more than 1 MiB.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), EventTooLarge> {
        for byte in chunk {
            let is_second_half = *byte == b'\n' && self.unfinished.is_after_return;
            self.unfinished.is_after_return = *byte == b'\r';
            match byte {
                _ if is_second_half => {}
                b'\n' | b'\r' => self.end_line(),
                byte => self.unfinished.line.push(*byte),
            }
            let Unfinished { line, data, .. } = &self.unfinished;
            if line.len() + data.as_ref().map_or(0, String::len) > MAX_UNFINISHED {
                return Err(EventTooLarge);
            }
        }
        Ok(())
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.unfinished.line);
        let mut bytes = &line[..];
        if !std::mem::replace(&mut self.unfinished.has_line, true) {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        let line = String::from_utf8_lossy(bytes);
        if line.is_empty() {
            return self.end_event();
        }
        // A line without a name is a comment, which keeps the connection open.
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => match &mut self.unfinished.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                data => *data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut self.unfinished.name),
            "id" if !value.contains('\0') => self.unfinished.id = Some(value.to_owned()),
            "retry" if value.len() <= MAX_RETRY_DIGITS => {
                self.retry = parse_decimal(value).map(Millis).or(self.retry);
            }
            _ => {}
        }
    }

    /// The id counts only now: a stream that breaks within an event must resume before it.
    fn end_event(&mut self) {
        let Unfinished { name, data, id, .. } = &mut self.unfinished;
        let (name, data) = (std::mem::take(name), data.take());
        self.last_id = id
            .take()
            .unwrap_or_else(|| std::mem::take(&mut self.last_id));
        if let Some(data) = data.filter(|data| !data.is_empty()) {
            let name = if name.is_empty() {
                "message".to_owned()
            } else {
                name
            };
            self.events.push_back(StreamEvent { name, data });
        }
    }
}
