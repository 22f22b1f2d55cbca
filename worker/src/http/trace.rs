//! W3C Trace Context.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// 32 lowercase hexadecimal digits, not all zero.
    pub trace_id: String,
    /// With the gateway's span.
    pub traceparent: String,
    /// `None` for a new trace (section 3.3).
    pub tracestate: Option<String>,
}

/// Starts a new trace if `traceparent` is missing or invalid. The ids derive from `uuid`, whose
/// version digit is in the first half, so no id is zero. New traces are not sampled, because the
/// gateway does not record traces.
pub fn continue_trace(traceparent: Option<&str>, tracestate: Option<&str>, uuid: &str) -> Trace {
    let random = uuid.replace('-', "");
    let span_id: String = random.chars().take(16).collect();
    let parent = traceparent.and_then(parse_parent);
    let tracestate = parent.and(tracestate).and_then(read_tracestate);
    let (trace_id, flags) = match parent {
        Some((trace_id, true)) => (trace_id.to_owned(), "01"),
        Some((trace_id, false)) => (trace_id.to_owned(), "00"),
        None => (random, "00"),
    };
    Trace {
        traceparent: ["00", &trace_id, &span_id, flags].join("-"),
        tracestate,
        trace_id,
    }
}

/// Future versions are parsed like version 00 (section 4.3).
fn parse_parent(header: &str) -> Option<(&str, bool)> {
    let mut parts = header.split('-');
    let (version, trace_id) = (parts.next()?, parts.next()?);
    let (parent_id, flags) = (parts.next()?, parts.next()?);
    let fits = is_hex(version, 2)
        && version != "ff"
        && (version != "00" || parts.next().is_none())
        && is_id(trace_id, 32)
        && is_id(parent_id, 16)
        && is_hex(flags, 2);
    // The lowest bit of the flags is the sampled flag.
    let sampled = u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1);
    fits.then_some((trace_id, sampled))
}

// The limits of section 3.3.1.5.
const MAX_MEMBERS: usize = 32;
const MAX_STATE_BYTES: usize = 512;
/// If a `tracestate` is too long, longer members are dropped first.
const MAX_RETAINED_BYTES: usize = 128;

/// Shortens a `tracestate` that is too long. Returns `None` if a member is malformed (section
/// 3.3.1.3).
pub fn read_tracestate(header: &str) -> Option<String> {
    let mut members: Vec<_> = header.split(',').map(str::trim_ascii).collect();
    members.retain(|member| !member.is_empty());
    if members.len() > MAX_MEMBERS || !members.iter().all(|member| is_member(member)) {
        return None;
    }
    if members.join(",").len() > MAX_STATE_BYTES {
        members.retain(|member| member.len() <= MAX_RETAINED_BYTES);
    }
    while members.join(",").len() > MAX_STATE_BYTES {
        members.pop();
    }
    Some(members.join(",")).filter(|list| !list.is_empty())
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
    is_hex(text, length) && text.bytes().any(|byte| byte != b'0')
}
