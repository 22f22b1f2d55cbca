//! Conversion of parameters and instants from strings, and back to strings.

use std::time::{Duration, SystemTime};

use quillgate::{
    DateBound, EndDay, FirstDay, JobId, ListArchivedViews, ListDailyViews, ProjectId, Rule,
    ThreadId, Timestamp,
};

#[test]
fn an_id_converts_from_a_string_and_back() {
    let id: JobId = "j/1".parse().unwrap();
    assert_eq!(id, JobId::try_from("j/1".to_owned()).unwrap());
    assert_eq!(id.to_string(), "j/1");
    assert_eq!(AsRef::<str>::as_ref(&id), "j/1");
    let json = serde_json::to_string(&id).unwrap();
    assert_eq!(json, r#""j/1""#);
    assert_eq!(serde_json::from_str::<JobId>(&json).unwrap(), id);
}

#[test]
fn an_invalid_id_is_rejected_by_every_conversion() {
    assert_eq!(
        "..".parse::<ProjectId>().unwrap_err().rule,
        Rule::NotDotSegment
    );
    assert_eq!(JobId::try_from("").unwrap_err().rule, Rule::NotEmpty);
    assert_eq!(ThreadId::try_from("t1").unwrap_err().rule, Rule::Ulid);
    let error = serde_json::from_str::<ThreadId>(r#""t1""#).unwrap_err();
    assert!(
        error.to_string().starts_with("threadId must be a ULID"),
        "{error}"
    );
}

#[test]
fn a_day_parameter_must_be_a_date() {
    assert_eq!(FirstDay::new("soon").unwrap_err().rule, Rule::DateFormat);
    assert_eq!(
        EndDay::new("2026-02-30").unwrap_err().rule,
        Rule::CalendarDate
    );
    let archived = ListArchivedViews::try_from("2026-01-01".."2026-02-01").unwrap();
    assert_eq!(archived.date_to.as_str(), "2026-02-01");
    let days = ListDailyViews::try_from("2026-01-01".."2026-02-01").unwrap();
    assert_eq!(days.date_from.as_str(), "2026-01-01");
    assert_eq!(days.date_to.as_str(), "2026-02-01");
}

#[test]
fn a_timestamp_converts_to_other_types_of_instants() {
    let instant: Timestamp = "1970-01-02T01:00:00.007+01:00".parse().unwrap();
    assert_eq!(instant.as_millis(), 86_400_007);
    assert_eq!(
        DateBound::from(instant).as_str(),
        "1970-01-02T00:00:00.007Z"
    );
    let time = SystemTime::from(instant);
    assert_eq!(Timestamp::from(time), instant);
    let earlier = Timestamp::from_millis(86_400_000);
    assert_eq!(instant.duration_since(earlier), Duration::from_millis(7));
    assert_eq!(earlier.duration_since(instant), Duration::ZERO);
}

#[test]
fn a_timestamp_needs_an_offset_and_a_year_from_1970() {
    for (text, rule) in [
        ("9999-12-31T23:59:00-01:00", Rule::DateFormat),
        ("2024-02-29T12:00:00", Rule::DateFormat),
        ("1969-12-31T23:59:59Z", Rule::DateFormat),
        ("2024-02-30T12:00:00Z", Rule::CalendarDate),
        ("soon", Rule::DateFormat),
    ] {
        assert_eq!(text.parse::<Timestamp>().unwrap_err().rule, rule, "{text}");
    }
}
