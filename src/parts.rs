//! Parts of a list's date range. Mintlify can fail for a long range (504) or a long cursor (414).
//! [`Parts`] then splits the range of a list of events, so that no row is lost or repeated.

use crate::call::Call;
use crate::date::{DateBound, read_time, read_utc};
use crate::declaration::Pagination;
use crate::pages::hash;
use crate::text::{MAX_SAFE_INTEGER, cut, parse_decimal, push_integer};

/// The number of consecutive splits after which a failure is final. They shorten the range to a
/// 64th.
const MAX_SPLITS: u32 = 6;
/// The shortest part that a split creates: one hour, in milliseconds.
const MIN_WIDTH: i64 = 3_600_000;
/// The length of the last part of a range without `dateFrom`: one week, in milliseconds.
const OPEN_WIDTH: i64 = 7 * 24 * MIN_WIDTH;
/// The maximum number of rows that a position can name as received.
const MAX_SEAM: usize = 100;
/// The start of the `cursor` of a position within a part.
const PREFIX: &str = "part~";
/// The mark of a position in a list that is not in order of time.
const UNSORTED: &str = "!";

/// The identity and the time of a row that is an event.
///
/// Several turns of a conversation share an id, so the identity also contains the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowKey {
    key: u64,
    /// Milliseconds since the Unix epoch. `None` if the time is absent or invalid.
    at: Option<i64>,
}

impl RowKey {
    /// Creates the key of a row with this id and time.
    #[must_use]
    pub fn new(id: &str, time: &str) -> Self {
        Self {
            // Positions contain keys as decimal numbers.
            key: hash(&[id, "\n", time].concat()) & MAX_SAFE_INTEGER,
            at: read_time(time),
        }
    }
}

/// The order of the rows of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    NewestFirst,
    OldestFirst,
}

/// A part of a range. An absent start is open.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    from: Option<String>,
    to: String,
}

/// The rows received from the current part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Received {
    /// The time of the last row that has one.
    last: Option<i64>,
    /// The keys of the rows at that time.
    keys: Vec<u64>,
    order: Option<Order>,
    is_unsorted: bool,
    /// The keys of rows without a time, which can belong to any part.
    timeless: Vec<u64>,
}

impl Received {
    fn add(&mut self, row: RowKey) {
        let Some(at) = row.at else {
            return self.timeless.push(row.key);
        };
        let last = self.last.replace(at).unwrap_or(at);
        if at != last {
            let order = if at < last {
                Order::NewestFirst
            } else {
                Order::OldestFirst
            };
            self.is_unsorted |= self.order.is_some_and(|known| known != order);
            self.order = Some(order);
            self.keys.clear();
        }
        self.keys.push(row.key);
    }
}

/// The parts of the range of a list of events, requested one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The call for the whole list.
    list: Call,
    /// `None` before the first split.
    part: Option<Part>,
    order: Order,
    /// The length of the next part, in milliseconds.
    width: i64,
    received: Received,
    /// The keys of received rows that the current part repeats.
    seam: Vec<u64>,
    splits: u32,
    /// Whether a part was not in order of time. Then no position in a part can be found by time.
    is_unsorted: bool,
    /// Whether the current part was created by a split, and not by an earlier part that ended.
    is_half: bool,
    /// Whether the first page of the current part was requested by a stored cursor, so that earlier
    /// rows of the part are unknown.
    is_resumed: bool,
}

impl Parts {
    /// Returns the parts of a list of events, or `None` for other lists.
    pub(crate) fn new(call: &Call) -> Option<Self> {
        let Pagination::Cursor { time: Some(_), .. } = call.declaration().pagination else {
            return None;
        };
        let mut parts = Self {
            list: call.clone(),
            part: None,
            order: Order::NewestFirst,
            width: MIN_WIDTH,
            received: Received::default(),
            seam: Vec::new(),
            splits: 0,
            is_unsorted: false,
            is_half: false,
            is_resumed: call.text("cursor").is_some(),
        };
        parts.list.remove("cursor");
        Some(parts)
    }

    /// Reads a position within a part, which [`Self::position`] created. Also returns the call to
    /// resume with. Returns `None` for other positions.
    pub(crate) fn resume(call: &Call) -> Option<(Self, Call)> {
        let fields = call.text("cursor")?.strip_prefix(PREFIX)?;
        let (order, fields) = cut(fields, b'~');
        let (from, fields) = cut(fields?, b'~');
        let (to, fields) = cut(fields?, b'~');
        let (seam, fields) = cut(fields?, b'~');
        let (last, fields) = cut(fields?, b'~');
        let (keys, cursor) = cut(fields?, b'~');
        let cursor = cursor?;
        let mut parts = Self::new(call)?;
        if order.starts_with("oldest") {
            parts.order = Order::OldestFirst;
        }
        parts.is_unsorted = order.ends_with(UNSORTED);
        let part = Part {
            from: (!from.is_empty()).then(|| from.to_owned()),
            to: to.to_owned(),
        };
        let end = read_utc(to)?;
        let begin = part.from.as_deref().map_or(Some(end), read_utc)?;
        parts.width = (end - begin).max(MIN_WIDTH);
        parts.seam = read_keys(seam);
        let mut next = parts.begin(part);
        if let Some(last) = read_utc(last) {
            parts.received.last = Some(last);
            parts.received.order = Some(parts.order);
            parts.received.keys = read_keys(keys);
        }
        if !cursor.is_empty() {
            parts.is_resumed = true;
            next.set("cursor", cursor.to_owned());
        }
        Some((parts, next))
    }

    /// Returns the call to store, given the call for the next page. After a split, its `cursor` also
    /// contains the part.
    pub(crate) fn position(&self, next: &Call) -> Call {
        let Some(part) = &self.part else {
            return next.clone();
        };
        let order = match self.order {
            Order::NewestFirst => "newest",
            Order::OldestFirst => "oldest",
        };
        let from = part.from.as_deref().unwrap_or_default();
        let received = &self.received;
        let mark = if self.is_unsorted || received.is_unsorted {
            UNSORTED
        } else {
            ""
        };
        let mut text = [PREFIX, order, mark, "~", from, "~", &part.to].concat();
        push_keys(&mut text, &self.seam);
        text.push_str("~");
        if let Some(last) = received.last
            && received.order == Some(self.order)
            && mark.is_empty()
        {
            text.push_str(&instant(last));
            push_keys(&mut text, &received.keys);
        } else {
            text.push_str("~");
        }
        text.push_str("~");
        text.push_str(next.text("cursor").unwrap_or_default());
        let mut call = self.list.clone();
        call.set("cursor", text);
        call
    }

    /// Takes the rows of a page. Returns the indices of the rows that were received before.
    pub(crate) fn take_rows(&mut self, rows: &[RowKey]) -> Vec<usize> {
        self.splits = 0;
        let mut repeated = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            if let Some(known) = self.seam.iter().position(|key| *key == row.key) {
                self.seam.swap_remove(known);
                repeated.push(at);
            }
            self.received.add(*row);
        }
        repeated
    }

    /// Splits the rest of the current part, and returns the call for the first page of its first
    /// half. Returns `None` if the part cannot be split without losing or repeating rows.
    pub(crate) fn split(&mut self) -> Option<Call> {
        let observed = self.received.order;
        let is_unknown = self.is_resumed && observed.is_none();
        let is_unsorted = self.is_unsorted || self.received.is_unsorted;
        if self.splits == MAX_SPLITS || is_unsorted || is_unknown {
            return None;
        }
        if self.part.is_none() {
            self.order = observed.unwrap_or(self.order);
        } else if observed.is_some_and(|order| order != self.order) {
            return None;
        }
        let whole = self.current()?;
        let rest = self.narrow(whole.clone());
        let half = self.halve(rest)?;
        if half == whole {
            return None;
        }
        let received = std::mem::take(&mut self.received);
        self.seam.extend(received.keys);
        self.seam.extend(received.timeless);
        if self.seam.len() > MAX_SEAM {
            return None;
        }
        self.splits += 1;
        self.is_half = true;
        Some(self.begin(half))
    }

    /// Returns the call for the first page of the next part, or `None` after the last part.
    pub(crate) fn next_part(&mut self) -> Option<Call> {
        let Part { from, to } = self.part.take()?;
        let received = std::mem::take(&mut self.received);
        self.is_unsorted |= received.is_unsorted;
        let room = MAX_SEAM.saturating_sub(self.seam.len());
        self.seam.extend(received.timeless.into_iter().take(room));
        // Parts grow again after a failure that was temporary or due to a dense time.
        if !std::mem::take(&mut self.is_half) {
            self.width = self.width.saturating_mul(2);
        }
        let (first, last) = (self.bound("dateFrom"), self.bound("dateTo"));
        let next = match self.order {
            Order::NewestFirst if from == first => return None,
            Order::NewestFirst => {
                let to = from?;
                let begin = read_utc(&to)?.saturating_sub(self.width);
                let limit = first.as_deref().and_then(read_utc);
                let is_inside = limit.is_some_and(|limit| begin > limit);
                let from = if is_inside {
                    Some(instant(begin))
                } else {
                    first
                };
                Part { from, to }
            }
            Order::OldestFirst if Some(&to) == last.as_ref() => return None,
            Order::OldestFirst => {
                let end = read_utc(&to)?.saturating_add(self.width);
                let last = last?;
                let is_inside = end < read_utc(&last)?;
                Part {
                    from: Some(to),
                    to: if is_inside { instant(end) } else { last },
                }
            }
        };
        Some(self.begin(next))
    }

    fn bound(&self, name: &str) -> Option<String> {
        self.list.text(name).map(str::to_owned)
    }

    fn current(&self) -> Option<Part> {
        let whole = || {
            Some(Part {
                from: self.bound("dateFrom"),
                to: self.bound("dateTo")?,
            })
        };
        self.part.clone().or_else(whole)
    }

    /// Removes the time before the last received row. Rows at the same time can be missing, so they
    /// are requested again.
    fn narrow(&self, mut part: Part) -> Part {
        match (self.received.order, self.received.last) {
            (Some(Order::NewestFirst), Some(last)) => part.to = instant(last + 1),
            (Some(Order::OldestFirst), Some(last)) => part.from = Some(instant(last)),
            _ => {}
        }
        part
    }

    fn halve(&mut self, mut part: Part) -> Option<Part> {
        let end = read_utc(&part.to)?;
        let half = match &part.from {
            Some(from) => (end - read_utc(from)?) / 2,
            // Where an open range begins is unknown.
            None if self.order == Order::NewestFirst => (self.width / 2).max(OPEN_WIDTH),
            None => return None,
        };
        if half < MIN_WIDTH {
            return Some(part);
        }
        self.width = half;
        match self.order {
            Order::NewestFirst => part.from = Some(instant(end - half)),
            Order::OldestFirst => part.to = instant(read_utc(part.from.as_deref()?)? + half),
        }
        Some(part)
    }

    /// Returns the call for the first page of a part, which becomes the current one.
    fn begin(&mut self, part: Part) -> Call {
        let mut call = self.list.clone();
        match &part.from {
            Some(from) => call.set("dateFrom", from.clone()),
            None => call.remove("dateFrom"),
        }
        call.set("dateTo", part.to.clone());
        self.is_resumed = false;
        self.part = Some(part);
        call
    }
}

/// Returns whether a `cursor` is a position within a part, which only [`Parts::resume`] can read.
pub(crate) fn is_position(cursor: &str) -> bool {
    cursor.starts_with(PREFIX)
}

/// Returns the cursor of the API in a `cursor`, without the part of a position.
pub(crate) fn without_part(cursor: &str) -> &str {
    let mut rest = cursor.strip_prefix(PREFIX);
    for _ in 0..6 {
        rest = rest.and_then(|fields| cut(fields, b'~').1);
    }
    rest.unwrap_or(cursor)
}

/// Suggests a shorter range for a call, to add to the message of a failure.
pub(crate) fn suggest_range(call: &Call) -> Option<String> {
    let (from, to) = (call.text("dateFrom")?, call.text("dateTo")?);
    let begin = read_utc(from)?;
    let middle = instant(begin + (read_utc(to)? - begin) / 2);
    Some(
        [
            "request a shorter range, such as dateFrom=",
            from,
            " and dateTo=",
            &middle,
        ]
        .concat(),
    )
}

/// Appends a field with keys, after its separator.
fn push_keys(text: &mut String, keys: &[u64]) {
    let mut separator = "~";
    for key in keys {
        text.push_str(separator);
        push_integer(text, *key, 1);
        separator = ".";
    }
    if keys.is_empty() {
        text.push_str(separator);
    }
}

fn read_keys(field: &str) -> Vec<u64> {
    let mut keys = Vec::new();
    let mut rest = Some(field);
    while let Some(field) = rest {
        let (key, others) = cut(field, b'.');
        keys.extend(parse_decimal(key));
        rest = others;
    }
    keys
}

fn instant(millis: i64) -> String {
    DateBound::in_utc(millis).as_str().to_owned()
}
