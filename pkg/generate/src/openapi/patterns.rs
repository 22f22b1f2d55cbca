//! What texts must look like, as regular expressions that mean the same to every
//! engine: no flags, no classes beyond ASCII.

/// One segment of a path, decoded: what `route::decode_segment` and the core's ids take.
pub const PATH_SEGMENT: &str = r"^(?!\.{1,2}$)[^/\\%?#\u0000-\u001f\u007f-\u009f]+$";

/// What `DateBound` takes: a day of the calendar, leap days included, and perhaps a time.
pub const DATE: &str = concat!(
    // Any year: months of 31 days, months of 30, February without its leap day.
    "^(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))",
    // Leap years.
    "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)",
    // The time of day, and the offset from UTC.
    r"(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?",
    "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?$",
);

/// What `jobs::idempotency::Key` takes: bare, or a String of RFC 9651.
pub const IDEMPOTENCY_KEY: &str =
    r#"^(?:[!#-+\--~][!-+\--~]{0,254}|"(?:[!#-\[\]-~]|\\["\\]){1,255}")$"#;

/// What `Day` takes, apart from years before 1970: a day of the calendar, as in [`DATE`].
pub const DAY: &str = concat!(
    "^(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))",
    "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)$",
);

/// What `archive::is_prefix` of the Worker takes: it begins with a slash, and ends with none unless it is
/// the whole site.
pub const PATH_PREFIX: &str = r"^/(?:[\s\S]*[^/])?$";

/// The one value of `Idempotency-Retry`, in letters of any case.
pub const FORCE: &str = "^[Ff][Oo][Rr][Cc][Ee]$";

/// What `jobs::webhook::check_address` takes of hosts that are names: at least two labels, the last neither a
/// number nor one that means something nearby.
pub const WEBHOOK_URL: &str = concat!(
    "^[Hh][Tt][Tt][Pp][Ss]://",
    "(?:[A-Za-z0-9_-]{1,63}\\.)+",
    "(?!(?:[Ll][Oo][Cc][Aa][Ll](?:[Hh][Oo][Ss][Tt])?|[Ii][Nn][Tt][Ee][Rr][Nn][Aa][Ll]|[Aa][Rr][Pp][Aa])(?:[/?:]|$))",
    "[A-Za-z][A-Za-z0-9_-]{0,62}",
    "(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?",
    r"(?:[/?][!\x22$-\[\]-~]*)?$",
);

/// A request's id, as every answer carries it.
pub const REQUEST_ID: &str = "^[A-Za-z0-9_=-]{1,255}$";

/// What `quillgate::ulid::is_ulid` takes.
pub const ULID: &str = "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$";

/// A cursor of the export of a list by offset: how many rows the caller has.
pub const ROWS_HAD: &str = "^[0-9]{1,15}$";

/// A cursor of the export of a list by cursor: how many rows of a page to skip, and the page's cursor.
pub const PLACE_IN_PAGE: &str = "^[0-9]{1,15}~";

/// The same where the page's cursor is a ULID.
pub const PLACE_IN_PAGE_OF_ULID: &str =
    "^[0-9]{1,15}~(?:[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25})?$";

/// A cursor of the list of jobs, as far as its letters tell.
pub const CURSOR: &str = "^[A-Za-z0-9_-]+$";
