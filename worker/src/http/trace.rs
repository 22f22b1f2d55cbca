//! Trace context: which trace a request belongs to, for the upstream and the log (W3C Trace
//! Context).

/// The place of a request in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The trace: 32 lower-case hexadecimal digits, not all zero.
    pub trace_id: String,
    /// `traceparent` for the upstream, with a span of the gateway's own.
    pub traceparent: String,
    /// Whether the trace is the caller's, so that its `tracestate` may be sent along; with a new
    /// trace it must not be (section 3.3.1).
    pub continued: bool,
}

/// Continues the caller's trace, or starts a new one when `incoming`, its `traceparent`, is missing
/// or not valid.
///
/// `random_hex_32` is 32 lower-case hexadecimal digits, drawn for each request. Of the flags only
/// the one for sampling is kept, since the others have no meaning yet. A new trace is not marked
/// as sampled, since the gateway records none.
///
/// # Example
/// ```
/// use quillgate_worker::http::trace::continue_trace;
///
/// let incoming = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// let trace = continue_trace(Some(incoming), "0123456789abcdef0123456789abcdef");
/// assert_eq!(
///     trace.traceparent,
///     "00-4bf92f3577b34da6a3ce929d0e0e4736-0123456789abcdef-01"
/// );
/// ```
#[must_use]
pub fn continue_trace(incoming: Option<&str>, random_hex_32: &str) -> Trace {
    let random = ensure_nonzero(random_hex_32);
    let span_id = derive_span_id(&random);
    let parent = incoming.and_then(parse_parent);
    let (trace_id, flags) = match parent {
        Some((trace_id, true)) => (trace_id.to_owned(), "01"),
        Some((trace_id, false)) => (trace_id.to_owned(), "00"),
        None => (random, "00"),
    };
    Trace {
        traceparent: ["00", &trace_id, &span_id, flags].join("-"),
        continued: parent.is_some(),
        trace_id,
    }
}

/// Reads the trace and whether it is sampled; `None` when `header` is not valid. A future version
/// is read as far as this one knows it, as the standard requires (section 4.3); `ff` is not a
/// version.
fn parse_parent(header: &str) -> Option<(&str, bool)> {
    let (version, rest) = header.split_once('-')?;
    let (trace_id, rest) = rest.split_once('-')?;
    let (parent_id, rest) = rest.split_once('-')?;
    let (flags, more) = match rest.split_once('-') {
        Some((flags, _)) => (flags, true),
        None => (rest, false),
    };
    let fits = is_hex(version, 2)
        && version != "ff"
        && !(version == "00" && more)
        && is_id(trace_id, 32)
        && is_id(parent_id, 16)
        && is_hex(flags, 2);
    // The lowest bit is that of the last digit.
    let sampled = u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1);
    fits.then_some((trace_id, sampled))
}

/// The most members of a `tracestate` (section 3.3.1.5).
const MOST_MEMBERS: usize = 32;
/// The most characters of a `tracestate` that are sent on (section 3.3.1.5).
const LONGEST_STATE: usize = 512;
/// The longest member that is kept when not all of them can be.
const LONGEST_KEPT_MEMBER: usize = 128;

/// Reads the `tracestate` that came with a trace that is continued, as it is sent on: at most 512
/// characters of whole members. When it is longer, members of more than 128 characters are left
/// out, and then those at its end.
///
/// `None` when it is empty or any of it is malformed: all of it is ignored then (section 3.3.1.3).
///
/// # Example
/// ```
/// use quillgate_worker::http::trace::read_tracestate;
///
/// assert_eq!(read_tracestate("rojo=00f0, ,congo=t61"), Some("rojo=00f0,congo=t61".to_owned()));
/// assert_eq!(read_tracestate("not a list"), None);
/// ```
#[must_use]
pub fn read_tracestate(header: &str) -> Option<String> {
    let mut members = Vec::new();
    for member in header.split(',').map(str::trim_ascii) {
        if member.is_empty() {
            continue;
        }
        if !is_member(member) || members.len() == MOST_MEMBERS {
            return None;
        }
        members.push(member);
    }
    if members.join(",").len() > LONGEST_STATE {
        members.retain(|member| member.len() <= LONGEST_KEPT_MEMBER);
    }
    loop {
        let list = members.join(",");
        if list.len() <= LONGEST_STATE {
            return Some(list).filter(|list| !list.is_empty());
        }
        members.pop();
    }
}

fn is_member(member: &str) -> bool {
    let Some((key, value)) = member.split_once('=') else {
        return false;
    };
    let in_key =
        |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/' | b'@');
    let in_value = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'=';
    (1..=256).contains(&key.len())
        && (1..=256).contains(&value.len())
        && !key.starts_with(['_', '-', '*', '/', '@'])
        && key.bytes().all(in_key)
        && value.bytes().all(in_value)
}

fn is_hex(text: &str, length: usize) -> bool {
    let lower = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == length && text.bytes().all(lower)
}

fn is_id(text: &str, length: usize) -> bool {
    is_hex(text, length) && !is_zero(text)
}

fn is_zero(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'0')
}

/// The digits that were drawn, or a single 1 with zeros before it when they cannot be an id.
fn ensure_nonzero(random: &str) -> String {
    if is_id(random, 32) {
        random.to_owned()
    } else {
        format!("{:0>32}", 1)
    }
}

/// The first half of what was drawn, or the second when the first is zero.
fn derive_span_id(random: &str) -> String {
    let (first, second) = random.split_at(16);
    if is_zero(first) { second } else { first }.to_owned()
}
