//! Regular expressions for strings, in the dialect of JSON Schema (ECMA-262). They need no flags,
//! and their character classes mean the same with and without Unicode mode.

/// A decoded path segment that `route::decode_segment` and the core's ids accept.
pub const PATH_SEGMENT: &str = r"^(?!\.{1,2}$)[^/\\%?#\u0000-\u001f\u007f-\u009f]+$";

/// A date that `DateBound` accepts: a calendar day, including leap days, and an optional time.
pub const DATE: &str = concat!(
    // All years: months of 31 days, months of 30 days, and February up to the 28th.
    "^(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))",
    // February 29 of leap years.
    "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)",
    // The time of day and the UTC offset.
    r"(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?",
    "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?$",
);

/// A calendar day, as in [`DATE`]. It also matches years before 1970, which `Day` rejects.
pub const DAY: &str = concat!(
    "^(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))",
    "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)$",
);

/// A prefix that the Worker's `archive::is_prefix` accepts: `/`, or a path with a leading slash and
/// no trailing slash.
pub const PATH_PREFIX: &str = r"^/(?:[\s\S]*[^/])?$";

/// A ULID that `quillgate::ulid::is_ulid` accepts.
pub const ULID: &str = "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$";

/// The cursor for exporting an offset-paginated list: the number of rows that the caller already
/// has.
pub const ROW_COUNT_CURSOR: &str = "^[0-9]{1,15}$";

/// The start of the cursor for exporting a cursor-paginated list: the number of rows to skip in a
/// page. The page's own cursor follows.
pub const PAGE_CURSOR: &str = "^[0-9]{1,15}~";

/// Like [`PAGE_CURSOR`], for lists with ULIDs as cursors.
pub const ULID_PAGE_CURSOR: &str = "^[0-9]{1,15}~(?:[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25})?$";

/// The characters that a cursor of the job list can contain. The gateway also checks the content.
pub const JOB_LIST_CURSOR: &str = "^[A-Za-z0-9_-]+$";

/// Returns the pattern of one or more of these strings, separated by commas.
pub fn list_of(known: &[&str]) -> String {
    let one = known.join("|");
    format!("^(?:{one})(?:,(?:{one}))*$")
}
