//! Stored paths.

use quillgate_worker::analytics::archive::{MAX_PATH_BYTES, store_path};

#[test]
fn an_ordinary_path_is_stored_unchanged() {
    let deep = "/s".repeat(MAX_PATH_BYTES / 2);
    for path in [
        "/",
        "",
        "/a/b",
        "/a/",
        "a/b",
        "//",
        "/caf%C3%A9",
        "/été/日本",
        &deep,
    ] {
        assert_eq!(store_path(path), path);
    }
}

#[test]
fn control_characters_are_percent_encoded() {
    for (path, stored) in [
        ("/\0x", "/%00x"),
        ("\u{7f}\t\r\n", "%7F%09%0D%0A"),
        ("/\u{85}", "/%C2%85"),
    ] {
        assert_eq!(store_path(path), stored, "{path:?}");
    }
}

#[test]
fn a_long_path_is_cut_between_characters() {
    for (path, start) in [
        ("x".repeat(MAX_PATH_BYTES + 1), "x".repeat(1021)),
        ("é".repeat(MAX_PATH_BYTES), "é".repeat(510)),
        (
            "\0".repeat(MAX_PATH_BYTES),
            format!("{}%", "%00".repeat(340)),
        ),
    ] {
        let stored = store_path(&path);
        assert_eq!(stored, start + "…");
        assert_eq!(store_path(&stored), stored);
    }
}
