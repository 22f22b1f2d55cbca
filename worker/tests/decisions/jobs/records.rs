use quillgate::Millis;
use quillgate_worker::jobs::job_row::JobRow;
use quillgate_worker::jobs::records::{
    Position, decode_cursor, encode_cursor, has_room_for_whole, summarize_prompt as summarize,
};
use quillgate_worker::jobs::resource::Resource;
use quillgate_worker::jobs::search::{Found, MAX_SCANNED, SEARCH_BATCH, Scan, searched_part};

use crate::fixtures::{NOW, encode, field_and_rule};

#[test]
fn full_prompts_are_stored_while_space_remains() {
    for (bytes, has_room) in [
        (0, true),
        (5_000_000_000, true),
        (8_000_000_000, true),
        (8_000_000_001, false),
        (10_000_000_000, false),
    ] {
        assert_eq!(has_room_for_whole(bytes), has_room, "{bytes}");
    }
}

#[test]
fn summary_is_the_first_nonblank_line() {
    let blank_lines = "\n\n  \t\r\n\u{a0}\u{2003}\n  Fix the typos \t\nnow";
    for (prompt, expected) in [
        ("Fix the typos", "Fix the typos"),
        ("Fix the typos\nin every guide", "Fix the typos"),
        ("Fix the typos\r\nin every guide", "Fix the typos"),
        ("Fix the typos\n", "Fix the typos"),
        (blank_lines, "Fix the typos"),
        ("# Fix the  typos #", "# Fix the  typos #"),
        (" ", ""),
        ("\n", ""),
        (" \r\n\t\n\u{3000}", ""),
    ] {
        assert_eq!(summarize(prompt), expected, "{prompt:?}");
    }
}

#[test]
fn summary_is_truncated_after_120_characters() {
    for character in ["x", "ü", "語", "😀", "\u{301}"] {
        assert_eq!(summarize(&character.repeat(119)), character.repeat(119));
        assert_eq!(summarize(&character.repeat(120)), character.repeat(120));
        let cut = format!("{}…", character.repeat(120));
        assert_eq!(summarize(&character.repeat(121)), cut);
        assert_eq!(summarize(&character.repeat(40_000)), cut);
        // Surrounding whitespace and the lines after the first do not count.
        let framed = format!("\n  {}  \nmore", character.repeat(120));
        assert_eq!(summarize(&framed), character.repeat(120));
    }
}

#[test]
fn summary_omits_control_characters() {
    for (prompt, expected) in [
        ("a\0b", "ab"),
        ("a\x1b[31mb", "a[31mb"),
        ("a\rb", "ab"),
        ("a\u{85}b", "ab"),
        ("a\tb", "ab"),
    ] {
        assert_eq!(summarize(prompt), expected, "{prompt:?}");
    }
}

#[test]
fn cursor_decodes_to_its_position() {
    for (created, row) in [
        (0, 0),
        (1_766_000_000_000, 7),
        (1_766_000_000_000, 10),
        (9_007_199_254_740_991, 9_007_199_254_740_991),
        (u64::MAX, u64::MAX),
    ] {
        let job = Position { created, row };
        let cursor = encode_cursor(&job);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        assert!(cursor.bytes().all(plain), "{cursor}");
        assert_eq!(decode_cursor(&cursor), Ok(job));
    }
}

#[track_caller]
fn assert_forged(cursor: &str) {
    let problem = decode_cursor(cursor).unwrap_err();
    assert_eq!(field_and_rule(&problem), ["cursor", "cursor"], "{cursor}");
    assert!(cursor.len() < 9 || !problem.to_json("an-id").contains(cursor));
}

#[test]
fn cursor_must_be_base64url() {
    let valid = encode_cursor(&Position {
        created: 1_766_000_000_000,
        row: 7,
    });
    assert!(decode_cursor(&valid).is_ok());
    for forged in [
        String::new(),
        "x".to_owned(),
        "1766000000000.7".to_owned(),
        format!("{valid}="),
        format!(" {valid}"),
        format!("{valid} "),
        format!("{valid}{valid}"),
        valid[1..].to_owned(),
        valid.to_ascii_uppercase(),
        "😀".to_owned(),
        "_".repeat(10_000),
        "+/+/".to_owned(),
        // Nonzero trailing bits would be a second encoding of the same cursor.
        "MS4x".to_owned() + "MX",
    ] {
        assert_forged(&forged);
    }
}

#[test]
fn cursor_with_other_content_is_rejected() {
    let (too_large, object) = ("18446744073709551616.1", "{\"created\":1,\"row\":2}");
    for text in [
        "", "1", ".1", "1.2.3", "-1.2", "+1.2", " 1.2", "1.2\n", "1e3.2", "NaN.NaN", too_large,
        "١.٢", object, "1\0.2",
    ] {
        assert_forged(&encode(text));
    }
    assert_forged(&encode([0xff, b'.', b'1']));
    assert_forged(&encode([b'1', b'.', 0xc0, 0xb1]));
}

#[test]
fn cursor_in_a_noncanonical_encoding_is_rejected() {
    for text in ["01.2", "1.02", "00.0", "0000000000000000000000001.1"] {
        assert_forged(&encode(text));
    }
}

const fn position(row: u64) -> Position {
    Position { created: 7, row }
}

/// Scans the jobs 1 to `count` below `before` for one page.
fn scan(
    count: u64,
    before: Position,
    limit: usize,
    is_match: impl Fn(u64) -> bool,
) -> (Found, usize) {
    let mut scan = Scan::new(before, limit, SEARCH_BATCH);
    let mut scanned = 0;
    while let Some(before) = scan.next_batch() {
        let batch: Vec<_> = (1..=count.min(before.row - 1))
            .rev()
            .take(SEARCH_BATCH)
            .map(|row| (position(row), is_match(row)))
            .collect();
        scanned += batch.len();
        scan.on_batch(&batch);
    }
    (scan.finish(), scanned)
}

#[test]
fn request_scans_a_bounded_number_of_jobs() {
    let (found, scanned) = scan(1_000_000, Position::NEWEST, 20, |_| false);
    let expected = Found {
        jobs: vec![],
        next: Some(position(1_000_001 - MAX_SCANNED as u64)),
    };
    assert_eq!((found, scanned), (expected, MAX_SCANNED));
}

#[test]
fn full_page_ends_the_scan() {
    let (found, scanned) = scan(1_000_000, Position::NEWEST, 3, |_| true);
    assert_eq!(found.next, Some(position(999_998)));
    assert_eq!((found.jobs.len(), scanned), (3, SEARCH_BATCH));
}

#[test]
fn pages_contain_each_match_once_and_in_order() {
    for every in [1, 2, 99, 100, 101, 1_234, 1_999, 2_000, 2_001, 7_000] {
        let is_match = |row: u64| row.is_multiple_of(every);
        let mut before = Some(Position::NEWEST);
        let mut all = Vec::new();
        while let Some(start) = before {
            let (found, _) = scan(6_000, start, 30, is_match);
            assert!(found.jobs.len() <= 30, "every {every}");
            all.extend(found.jobs);
            before = found.next;
        }
        let expected = (1..=6_000).rev().filter(|row| is_match(*row));
        let expected: Vec<_> = expected.map(position).collect();
        assert_eq!(all, expected, "every {every}");
    }
}

#[test]
fn full_last_page_has_no_next_page() {
    let (found, _) = scan(3, Position::NEWEST, 3, |_| true);
    let expected = Found {
        jobs: [3, 2, 1].map(position).to_vec(),
        next: None,
    };
    assert_eq!(found, expected);
}

#[test]
fn only_the_first_characters_are_searched() {
    assert_eq!(searched_part("short"), "short");
    assert_eq!(searched_part(&"ä".repeat(5_000)).chars().count(), 4_096);
}

#[test]
fn only_a_terminal_status_ends_a_job_or_a_deployment() {
    for (status, job, deployment) in [
        (Some("completed"), true, false),
        (Some("failed"), true, false),
        (Some("archived"), true, false),
        (Some("success"), false, true),
        (Some("failure"), false, true),
        (Some("active"), false, false),
        (Some("queued"), false, false),
        (Some("in_progress"), false, false),
        (Some("Completed"), false, false),
        (Some("Success"), false, false),
        (Some(""), false, false),
        (None, false, false),
    ] {
        let ends = |resource: Resource| resource.find_end(status).is_some();
        assert_eq!(ends(Resource::Job), job, "{status:?}");
        assert_eq!(ends(Resource::Deployment), deployment, "{status:?}");
    }
}

#[test]
fn job_with_an_id_that_no_path_can_have_is_not_polled() {
    for (id, expected) in [
        ("j".repeat(256), true),
        ("j".repeat(257), false),
        ("é".repeat(129), false),
        ("..".to_owned(), false),
    ] {
        let row = JobRow {
            row: 1,
            id,
            is_listed: true,
            webhook: None,
            created_at: NOW,
            status: Some("active".to_owned()),
            data: "{}".to_owned(),
            version: 1,
            checked_at: NOW,
            last_started_at: NOW,
            not_before: Millis(0),
            missing_since: None,
            since: None,
            is_given_up: false,
            webhook_poll: None,
        };
        let found = row.record(Resource::Job).is_pollable;
        assert_eq!(found, expected, "{}", row.id);
    }
}
