//! Parts of a list's date range. Mintlify can fail for a long range (504) or a long cursor (414).
//! [`Parts`] then splits the range of a list of events, so that no row is lost or repeated.

use crate::call::Call;
use crate::date::{DateBound, FIRST, read_time, read_utc};
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
/// The start of the `cursor` of a position within a part. Numbers follow, separated by dots, then `~`
/// and a cursor of the API. An absent time is 0.
const PREFIX: &str = "part~";
/// The time that positions contain as 0. All times of requests are later.
const EPOCH: i64 = FIRST - 1;

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

impl Order {
    /// Returns the place of a time: later rows of the list have greater places.
    const fn place(self, time: i64) -> i64 {
        match self {
            Self::NewestFirst => -time,
            Self::OldestFirst => time,
        }
    }

    /// Converts the start and the exclusive end of a range of times to those of places, or back.
    fn convert(self, start: Option<i64>, end: Option<i64>) -> (Option<i64>, Option<i64>) {
        match self {
            Self::NewestFirst => (end.map(|end| 1 - end), start.map(|start| 1 - start)),
            Self::OldestFirst => (start, end),
        }
    }
}

/// A range of places. An absent end is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    start: i64,
    end: Option<i64>,
}

/// The rows received from the current part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Received {
    /// The time of the last row that has one.
    last: Option<i64>,
    /// The keys of the rows at that time.
    keys: Vec<u64>,
    order: Option<Order>,
    /// The keys of rows without a time, which can belong to any part.
    timeless: Vec<u64>,
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
    /// Whether rows were not in order of time. Then no position in a part can be found by time.
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
        let (fields, cursor) = cut(call.text("cursor")?.strip_prefix(PREFIX)?, b'~');
        let cursor = cursor?;
        let mut numbers = Vec::new();
        let mut rest = Some(fields);
        while let Some(fields) = rest {
            let (number, others) = cut(fields, b'.');
            numbers.push(parse_decimal(number)?);
            rest = others;
        }
        let [flags, from, to, last, count, keys @ ..] = &numbers[..] else {
            return None;
        };
        let (seam, keys) = keys.split_at_checked(usize::try_from(*count).ok()?)?;
        let last = read_instant(*last);
        let mut parts = Self::new(call)?;
        if flags & 1 != 0 {
            parts.order = Order::OldestFirst;
        }
        parts.is_unsorted = flags & 2 != 0;
        parts.seam = seam.to_vec();
        let (start, end) = parts.order.convert(read_instant(*from), read_instant(*to));
        let part = Part { start: start?, end };
        parts.width = (end.unwrap_or(part.start) - part.start).max(MIN_WIDTH);
        let mut next = parts.begin(part);
        if last.is_some() {
            parts.received.last = last;
            parts.received.order = Some(parts.order);
            parts.received.keys = keys.to_vec();
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
        let Some(part) = self.part else {
            return next.clone();
        };
        let received = &self.received;
        let is_known = !self.is_unsorted && received.order == Some(self.order);
        let (from, to) = self.order.convert(Some(part.start), part.end);
        let is_oldest_first = self.order == Order::OldestFirst;
        let mut numbers = vec![
            u64::from(is_oldest_first) | (u64::from(self.is_unsorted) << 1),
            write_instant(from),
            write_instant(to),
            write_instant(received.last.filter(|_| is_known)),
            self.seam.len() as u64,
        ];
        numbers.extend(&self.seam);
        if is_known {
            numbers.extend(&received.keys);
        }
        let mut text = String::new();
        let mut separator = PREFIX;
        for number in numbers {
            text.push_str(separator);
            push_integer(&mut text, number, 1);
            separator = ".";
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
            self.receive(*row);
        }
        repeated
    }

    fn receive(&mut self, row: RowKey) {
        let received = &mut self.received;
        let Some(at) = row.at else {
            return received.timeless.push(row.key);
        };
        let last = received.last.replace(at).unwrap_or(at);
        if at != last {
            let order = if at < last {
                Order::NewestFirst
            } else {
                Order::OldestFirst
            };
            self.is_unsorted |= received.order.is_some_and(|known| known != order);
            received.order = Some(order);
            received.keys.clear();
        }
        received.keys.push(row.key);
    }

    /// Splits the rest of the current part, and returns the call for the first page of its first
    /// half. Returns `None` if the part cannot be split without losing or repeating rows.
    pub(crate) fn split(&mut self) -> Option<Call> {
        let observed = self.received.order;
        let is_unknown = self.is_resumed && observed.is_none();
        if self.splits == MAX_SPLITS || self.is_unsorted || is_unknown {
            return None;
        }
        let current = match self.part {
            Some(_) if observed.is_some_and(|order| order != self.order) => return None,
            Some(part) => part,
            None => {
                self.order = observed.unwrap_or(self.order);
                self.whole()?
            }
        };
        let mut half = current;
        // Rows at the time of the last row can be missing, so they are requested again.
        if let (Some(order), Some(last)) = (observed, self.received.last) {
            half.start = order.place(last);
        }
        let width = match half.end {
            Some(end) => (end - half.start) / 2,
            // Where an open range ends is unknown.
            None => (self.width / 2).max(OPEN_WIDTH),
        };
        if width >= MIN_WIDTH {
            self.width = width;
            half.end = Some(half.start + width);
        }
        if half == current {
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
        let part = self.part.take()?;
        let received = std::mem::take(&mut self.received);
        let room = MAX_SEAM.saturating_sub(self.seam.len());
        self.seam.extend(received.timeless.into_iter().take(room));
        // Parts grow again after a failure that was temporary or due to a dense time.
        if !std::mem::take(&mut self.is_half) {
            self.width = self.width.saturating_add(self.width);
        }
        let last = self.whole()?.end;
        if part.end == last {
            return None;
        }
        let start = part.end?;
        let end = start.saturating_add(self.width);
        Some(self.begin(Part {
            start,
            end: last.map(|last| last.min(end)),
        }))
    }

    /// Returns the whole range. Returns `None` if its start is open.
    fn whole(&self) -> Option<Part> {
        let (start, end) = self
            .order
            .convert(self.bound("dateFrom"), self.bound("dateTo"));
        Some(Part { start: start?, end })
    }

    fn bound(&self, name: &str) -> Option<i64> {
        self.list.text(name).and_then(read_utc)
    }

    /// Returns the call for the first page of a part, which becomes the current one.
    fn begin(&mut self, part: Part) -> Call {
        let mut call = self.list.clone();
        let (from, to) = self.order.convert(Some(part.start), part.end);
        let mut set = |name, time: Option<i64>| {
            // The bounds of the whole range keep their spelling.
            if let Some(time) = time.filter(|time| self.bound(name) != Some(*time)) {
                call.set(name, instant(time));
            }
        };
        set("dateFrom", from);
        set("dateTo", to);
        self.is_resumed = false;
        self.part = Some(part);
        call
    }
}

/// Returns the number of a time in a position.
fn write_instant(time: Option<i64>) -> u64 {
    time.map_or(0, |time| (time - EPOCH).max(1).unsigned_abs())
}

/// Reads a number of [`write_instant`].
fn read_instant(number: u64) -> Option<i64> {
    (number != 0).then(|| number.cast_signed() + EPOCH)
}

/// Returns whether a `cursor` is a position within a part, which only [`Parts::resume`] can read.
pub(crate) fn is_position(cursor: &str) -> bool {
    cursor.starts_with(PREFIX)
}

/// Returns the cursor of the API in a `cursor`, without the part of a position.
pub(crate) fn without_part(cursor: &str) -> &str {
    let position = cursor.strip_prefix(PREFIX);
    position
        .and_then(|position| cut(position, b'~').1)
        .unwrap_or(cursor)
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

fn instant(millis: i64) -> String {
    DateBound::in_utc(millis).as_str().to_owned()
}
