//! Property tests: rules that hold for any input.

use std::cmp::Ordering;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use quillgate::date::{parse_http_date, parse_retry_after};
use quillgate::encode::{encode_json_string, percent_encode};
use quillgate::error::Error;
use quillgate::pages::MAX_EMPTY_PAGES;
use quillgate::pages::Pages;
use quillgate::response::{Head, read};
use quillgate::ulid::is_ulid;
use quillgate::{
    Call, DateBound, Endpoint, JobId, JobStatus, ListPageViews, Millis, Operation, PageInfo, Poll,
    PollStep, ProjectId, Prompt, SendMessage,
};
use serde_json::json;

use crate::date::bound;

const OPEN: u8 = b'{';

// strings

/// A slow, obvious percent-decoder.
fn percent_decoded(mut text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !text.is_empty() {
        if let Some(rest) = text.strip_prefix('%') {
            bytes.push(u8::from_str_radix(&rest[..2], 16).unwrap());
            text = &rest[2..];
        } else {
            bytes.push(text.as_bytes()[0]);
            text = &text[1..];
        }
    }
    bytes
}

/// Strings that resemble valid input, and arbitrary strings.
fn hostile_text() -> impl Strategy<Value = String> {
    let alphabet = "0123456789-+:.,TZ GMTSunNovFebé/%{}[]\"\\\0";
    let near = vec(
        prop::sample::select(alphabet.chars().collect::<Vec<_>>()),
        0..40,
    );
    prop_oneof![any::<String>(), near.prop_map(String::from_iter)]
}

/// A valid date with one character changed.
fn damaged_date() -> impl Strategy<Value = String> {
    let forms = vec![
        "2024-02-29",
        "2024-02-29T12:34:56.789+01:30",
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ];
    (
        prop::sample::select(forms),
        any::<prop::sample::Index>(),
        any::<char>(),
    )
        .prop_map(|(form, at, damage)| {
            let at = at.index(form.len());
            form.char_indices()
                .map(|(here, kept)| if here == at { damage } else { kept })
                .collect()
        })
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![hostile_text(), damaged_date()]
}

proptest! {
    #[test]
    fn percent_encoding_is_reversible_and_uses_only_unreserved_characters(text: String) {
        let encoded = percent_encode(&text);
        let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte);
        prop_assert!(encoded.bytes().all(harmless), "{}", encoded);
        prop_assert_eq!(percent_decoded(&encoded), text.as_bytes());
    }

    #[test]
    fn every_accepted_id_stays_one_path_segment(project in hostile_text(), id in hostile_text()) {
        if let (Ok(project), Ok(id)) = (ProjectId::new(project), JobId::new(id)) {
            let send = SendMessage::new(id.clone(), Prompt::new("x").unwrap());
            let target = send.request(&project).target;
            let segments: Vec<_> = target.split('/').collect();
            prop_assert_eq!(segments.len(), 7);
            prop_assert_eq!(percent_decoded(segments[3]), project.as_str().as_bytes());
            prop_assert_eq!(percent_decoded(segments[5]), id.as_str().as_bytes());
            prop_assert_eq!(&segments[..3], ["", "v2", "agent"]);
            prop_assert_eq!((segments[4], segments[6]), ("job", "message"));
            prop_assert!(!target.contains(['?', '#', '\\']) && !segments.contains(&".."));
        }
    }

    #[test]
    fn json_strings_round_trip(text in any_text()) {
        let back: String = serde_json::from_str(&encode_json_string(&text)).unwrap();
        prop_assert_eq!(back, text);
    }

    #[test]
    fn any_string_parses_as_a_date_or_is_rejected(text in any_text(), now: u64) {
        if let Ok(bound) = DateBound::new("dateFrom", text.clone()) {
            prop_assert_eq!(bound.as_str(), &text);
            prop_assert!(text.len() >= 10 && text.is_ascii());
        }
        if let Some(date) = parse_http_date(&text, Millis(now)) {
            prop_assert_eq!(date.0 % 1000, 0);
            prop_assert!(text.len() >= 24);
            let wait = parse_retry_after(&text, None, Millis(now));
            prop_assert!(wait == Some(date.since(Millis(now))) || text.trim() != text);
        }
        if let Some(wait) = parse_retry_after(&text, None, Millis(now)) {
            prop_assert!(text.bytes().any(|byte| byte.is_ascii_digit()), "{:?}", wait);
        }
    }

    #[test]
    fn a_ulid_is_26_characters_of_its_alphabet_within_128_bits(
        text in "[0-9A-Za-z]{25,27}|[0-8][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}",
    ) {
        const ALPHABET: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        let digit = |c: char| ALPHABET.find(c.to_ascii_uppercase()).map(|digit| digit as u128);
        let digits: Option<Vec<_>> = text.chars().map(digit).collect();
        let fits = digits.is_some_and(|digits| {
            let add = |number: u128, digit: &u128| number.checked_mul(32)?.checked_add(*digit);
            digits.len() == 26 && digits.iter().try_fold(0, add).is_some()
        });
        prop_assert_eq!(is_ulid(&text), fits, "{}", text);
    }

    #[test]
    fn any_body_decodes_or_is_rejected(body: Vec<u8>, status: u16) {
        let head = Head { status, ..Head::default() };
        let success = head.is_success();
        match read::<ListPageViews>(head, &body, Millis(0)) {
            Ok(_) => prop_assert!(success && body.first().copied() == Some(OPEN)),
            Err(Error::Decode(error)) => prop_assert!(success && !error.what.is_empty()),
            Err(Error::Api(error)) => prop_assert!(!success && !error.message.is_empty()),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}

// dates

const LAST_INSTANT: u64 = 253_402_300_799_999;

proptest! {
    #[test]
    fn instants_round_trip_through_strings(instant in 0..=LAST_INSTANT) {
        let written = DateBound::from_instant(Millis(instant));
        prop_assert_eq!(written.as_str().len(), 24);
        prop_assert_eq!(&bound(written.as_str()), &written);
    }

    #[test]
    fn instants_and_their_strings_have_the_same_order(
        a in 0..=LAST_INSTANT,
        b in 0..=LAST_INSTANT,
    ) {
        let (first, second) = (DateBound::from_instant(Millis(a)), DateBound::from_instant(Millis(b)));
        prop_assert_eq!(first.compare(&second), Some(a.cmp(&b)));
        prop_assert_eq!(first.as_str().cmp(second.as_str()), a.cmp(&b));
    }

    #[test]
    fn a_utc_offset_shifts_the_instant_by_that_amount(
        instant in 86_400_000..LAST_INSTANT - 86_400_000,
        minutes in -1439_i64..=1439,
    ) {
        let local = DateBound::from_instant(Millis(instant.saturating_add_signed(minutes * 60_000)));
        let sign = if minutes < 0 { '-' } else { '+' };
        let (hours, rest) = (minutes.abs() / 60, minutes.abs() % 60);
        let text = local.as_str().replace('Z', &format!("{sign}{hours:02}:{rest:02}"));
        let moved = bound(&text).compare(&DateBound::from_instant(Millis(instant)));
        prop_assert_eq!(moved, Some(Ordering::Equal), "{}", text);
    }

    #[test]
    fn normalizing_preserves_the_instant(
        instant in 86_400_000..LAST_INSTANT - 86_400_000,
        minutes in -1439_i64..=1439,
        finer in "[0-9]{0,40}",
    ) {
        let local = DateBound::from_instant(Millis(instant.saturating_add_signed(minutes * 60_000)));
        let sign = if minutes < 0 { '-' } else { '+' };
        let (hours, rest) = (minutes.abs() / 60, minutes.abs() % 60);
        let offset = format!("{finer}{sign}{hours:02}:{rest:02}");
        let text = local.as_str().replace('Z', &offset);
        prop_assert_eq!(bound(&text).normalize(), DateBound::from_instant(Millis(instant)), "{}", text);
    }

    #[test]
    fn a_date_is_valid_exactly_when_its_month_has_that_day(year in 0_u32..10_000, month in 0_u32..15, day in 0_u32..34) {
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(25) || year.is_multiple_of(16));
        let length = match month {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        let text = format!("{year:04}-{month:02}-{day:02}");
        let exists = (1..=length).contains(&day);
        prop_assert_eq!(DateBound::new("dateTo", text.clone()).is_ok(), exists, "{}", text);
    }
}

// pages

/// Paging through a list by offset.
fn views(start: u64, size: u64) -> Pages {
    let list = Operation::ListPageViews.declaration();
    Pages::new(Call::parse(list, &json!({ "offset": start, "limit": size })).unwrap())
}

/// The offset of the next page.
fn next(pages: &Pages) -> Option<u64> {
    pages.next().and_then(|call| call.integer("offset"))
}

fn advance(pages: &mut Pages, rows: u64, has_more: bool) -> Result<(), Error> {
    pages.advance(&PageInfo {
        rows,
        has_more: Some(has_more),
        ..PageInfo::default()
    })?;
    Ok(())
}

/// A list of the upstream: the page size, the first offset, and whether each position has a row.
///
/// A filter removed the rows of the other positions.
fn upstream() -> impl Strategy<Value = (u64, u64, Vec<bool>)> {
    (1..=250_u64, 0..20_u64, 0..400_usize, 0..5_usize).prop_flat_map(
        |(size, start, filled, empty_pages)| {
            let size_of_gap = usize::try_from(size).unwrap() * empty_pages;
            (
                Just(size),
                Just(start),
                vec(any::<bool>(), filled),
                vec(any::<bool>(), 0..200),
            )
                .prop_map(move |(size, start, mut positions, rest)| {
                    positions.extend(std::iter::repeat_n(false, size_of_gap));
                    positions.extend(rest);
                    (size, start, positions)
                })
        },
    )
}

/// The page at `offset`: the filled positions in its window, and whether more follow.
fn page(positions: &[bool], offset: u64, size: u64) -> (Vec<usize>, bool) {
    let from = usize::try_from(offset).unwrap().min(positions.len());
    let to = usize::try_from(offset + size).unwrap().min(positions.len());
    (
        (from..to).filter(|at| positions[*at]).collect(),
        to < positions.len(),
    )
}

proptest! {
    #[test]
    fn paging_yields_each_row_once_and_in_order((size, start, positions) in upstream()) {
        let mut pages = views(start, size);
        let mut rows = Vec::new();
        let (mut empty, mut most_empty, mut requests) = (0, 0, 0);
        let mut failed = false;
        while let Some(offset) = next(&pages) {
            let (found, has_more) = page(&positions, offset, size);
            requests += 1;
            empty = if found.is_empty() && has_more { empty + 1 } else { 0 };
            most_empty = most_empty.max(empty);
            let count = u64::try_from(found.len()).unwrap();
            rows.extend(found);
            failed |= advance(&mut pages, count, has_more).is_err();
        }
        let expected: Vec<_> = (0..positions.len()).filter(|at| positions[*at] && *at as u64 >= start).collect();
        prop_assert_eq!(failed, most_empty >= 5);
        if failed {
            prop_assert_eq!(&rows[..], &expected[..rows.len()]);
        } else {
            prop_assert_eq!(rows, expected);
            let length = u64::try_from(positions.len()).unwrap().saturating_sub(start);
            prop_assert_eq!(requests, length.div_ceil(size).max(1));
        }
    }

    #[test]
    fn up_to_four_empty_pages_in_a_row_lose_no_row(
        size in 1..=250_u64,
        start in 0..1_000_000_u64,
        runs in vec((0..5_u64, 1..=250_u64), 0..20),
        last in 0..=250_u64,
    ) {
        // The row count of each page.
        let mut script = Vec::new();
        for (empty, rows) in runs {
            script.extend((0..empty).map(|_| 0));
            script.push(rows.min(size));
        }
        script.push(last.min(size));
        let mut pages = views(start, size);
        let mut requested = Vec::new();
        for (at, rows) in script.iter().enumerate() {
            requested.push(next(&pages));
            prop_assert_eq!(advance(&mut pages, *rows, at + 1 < script.len()), Ok(()));
        }
        let expected: Vec<_> = (0..script.len()).map(|at| Some(start + size * at as u64)).collect();
        prop_assert_eq!(requested, expected);
        prop_assert_eq!(pages.next(), None);
    }

    #[test]
    fn no_page_makes_paging_go_back_or_restart(
        size in 1..=250_u64,
        responses in vec((0..=260_u64, any::<bool>()), 0..40),
    ) {
        let mut pages = views(0, size);
        let mut finished = false;
        for (rows, has_more) in responses {
            let before = next(&pages);
            prop_assert!(!finished || before.is_none());
            let result = advance(&mut pages, rows, has_more);
            finished |= before.is_none() || result.is_err() || !has_more;
            match (before, next(&pages)) {
                (Some(before), Some(after)) => prop_assert_eq!(after, before + size),
                (_, after) => prop_assert!(after.is_none()),
            }
        }
    }

    #[test]
    fn paging_by_cursor_ends_and_requests_no_cursor_twice(
        start in option::of(prop::sample::select(CURSORS)),
        responses in vec((0..3_u64, option::of(any::<bool>()), option::of(prop::sample::select(CURSORS))), 1..40),
    ) {
        let params = start.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        let list = Operation::ListAgentJobs.declaration();
        let mut pages = Pages::new(Call::parse(list, &params).unwrap());
        let max = CURSORS.len() + MAX_EMPTY_PAGES as usize;
        let mut requested = Vec::new();
        // The server never ends the list.
        for (rows, has_more, next_cursor) in responses.into_iter().cycle() {
            let Some(call) = pages.next() else { break };
            let cursor = call.text("cursor").map(str::to_owned);
            prop_assert!(!requested.contains(&cursor), "{:?} after {:?}", cursor, requested);
            requested.push(cursor);
            prop_assert!(requested.len() <= max, "{:?}", requested);
            let result = pages.advance(&PageInfo { rows, has_more, next_cursor, ..PageInfo::default() });
            let continues = pages.next().is_some();
            prop_assert!(!continues || result.is_ok());
            prop_assert!(!continues || next_cursor.is_some() && has_more != Some(false));
        }
        prop_assert_eq!(pages.next(), None);
    }
}

/// The cursors of a server that returns them in any order.
pub const CURSORS: &[&str] = &["a", "b", "c", "d", "aa", "é", " "];

// polls and retries

pub fn status() -> impl Strategy<Value = Option<JobStatus>> {
    option::of(prop_oneof![
        8 => Just(JobStatus::Active),
        3 => any::<String>().prop_map(JobStatus::from),
        1 => Just(JobStatus::Completed),
        1 => Just(JobStatus::Archived),
        1 => Just(JobStatus::Failed),
    ])
}

pub fn random() -> impl Strategy<Value = f64> {
    prop_oneof![6 => 0.0..=1.0, 1 => any::<f64>(), 1 => Just(f64::NAN)]
}

pub fn hint() -> impl Strategy<Value = Option<Millis>> {
    option::of(prop_oneof![0..100_000_u64, any::<u64>()].prop_map(Millis))
}

/// One poll of a job: its result, or `Err` for a failed request, and the time until it arrives.
#[derive(Debug, Clone)]
struct Observation {
    result: Result<Option<JobStatus>, ()>,
    hint: Option<Millis>,
    delay: u64,
    jitter: f64,
}

fn observation() -> impl Strategy<Value = Observation> {
    let result = prop_oneof![3 => status().prop_map(Ok), 1 => Just(Err(()))];
    (result, hint(), 0..60_000_u64, random()).prop_map(|(result, hint, delay, jitter)| {
        Observation {
            result,
            hint,
            delay,
            jitter,
        }
    })
}

proptest! {
    #[test]
    fn polling_neither_hot_loops_nor_sleeps_past_its_deadline(
        timeout in option::of(0..600_000_u64),
        observations in vec(observation(), 1..40),
    ) {
        let start = Millis(1_700_000_000_000);
        let deadline = timeout.map(|timeout| start.plus(Millis(timeout)));
        let mut poll = Poll::new(start, timeout.map(Millis));
        let mut now = start;
        let mut failures = 0;
        for Observation { result, hint, delay, jitter } in observations {
            now = now.plus(Millis(delay));
            let step = match &result {
                Ok(status) => poll.on_status(status.as_ref(), hint, now, jitter),
                Err(()) => poll.on_failure(hint, now, jitter),
            };
            failures = if result.is_ok() { 0 } else { failures + 1 };
            let terminal = matches!(&result, Ok(Some(status)) if status.is_terminal());
            let known = !matches!(&result, Ok(None | Some(JobStatus::Other(_))));
            let expired = deadline.is_some_and(|deadline| now >= deadline);
            match step {
                PollStep::Done => prop_assert!(terminal),
                PollStep::GiveUp => prop_assert!(failures >= 5),
                PollStep::Expired => prop_assert!(expired && !terminal),
                PollStep::Wait(wait) => {
                    prop_assert!(!terminal && !expired && failures < 5);
                    let cut = deadline.is_some_and(|deadline| now.plus(wait) == deadline);
                    let hint = hint.unwrap_or_default();
                    let shortest = Millis(if known { 2_000 } else { 5_000 }).max(hint);
                    prop_assert!(wait >= shortest || cut, "{:?}", wait);
                    prop_assert!(wait <= hint.max(Millis(30_000)), "{:?}", wait);
                    prop_assert!(deadline.is_none_or(|deadline| now.plus(wait) <= deadline));
                    prop_assert!(wait > Millis(0));
                    now = now.plus(wait);
                }
            }
        }
    }

    #[test]
    fn polling_with_a_deadline_ends_at_the_deadline(timeout in 0..3_600_000_u64, jitter in random()) {
        let mut now = Millis(0);
        let mut poll = Poll::new(now, Some(Millis(timeout)));
        let mut polls = 0;
        while let PollStep::Wait(wait) = poll.on_status(Some(&JobStatus::Active), None, now, jitter) {
            now = now.plus(wait);
            polls += 1;
            prop_assert!(polls < 200, "{} polls by {:?}", polls, now);
        }
        prop_assert_eq!(now, Millis(timeout));
    }
}
