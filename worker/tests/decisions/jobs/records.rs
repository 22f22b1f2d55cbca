//! Summaries and cursors.

use quillgate_worker::jobs::records::{
    Position, decode_cursor, encode_cursor, has_room_for_whole, summarize_prompt as summarize,
};

use crate::fixtures::{encode, field_and_rule};

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
    for (prompt, expected) in [
        ("Fix the typos", "Fix the typos"),
        ("Fix the typos\nin every guide", "Fix the typos"),
        ("Fix the typos\r\nin every guide", "Fix the typos"),
        ("Fix the typos\n", "Fix the typos"),
        (
            "\n\n  \t\r\n\u{a0}\u{2003}\n  Fix the typos \t\nnow",
            "Fix the typos",
        ),
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
    let problem = match decode_cursor(cursor) {
        Ok(position) => panic!("{cursor} was taken for {position:?}"),
        Err(problem) => problem,
    };
    assert_eq!(problem.status, 400, "{cursor}");
    let expected = ("cursor".to_owned(), "cursor".to_owned());
    assert_eq!(field_and_rule(&problem), expected, "{cursor}");
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
    for text in [
        "",
        "1",
        ".1",
        "1.2.3",
        "-1.2",
        "+1.2",
        " 1.2",
        "1.2\n",
        "1e3.2",
        "NaN.NaN",
        "18446744073709551616.1",
        "١.٢",
        "{\"created\":1,\"row\":2}",
        "1\0.2",
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
