//! Stored paths.

use quillgate_worker::analytics::archive::stored_path::{MAX_BYTES, StoredPath};

fn page(path: &str) -> StoredPath {
    StoredPath::Page(path.to_owned())
}

fn prefix(path: &str) -> StoredPath {
    StoredPath::Prefix(path.to_owned())
}

#[test]
fn an_ordinary_path_is_stored_unchanged() {
    for path in [
        "/",
        "",
        "/a/b",
        "/a/",
        "a/b",
        "//",
        "/caf%C3%A9",
        "/été/日本",
    ] {
        assert_eq!(StoredPath::of(path), page(path), "{path}");
    }
}

#[test]
fn control_characters_are_percent_encoded() {
    for (path, stored) in [
        ("/\0x", "/%00x"),
        ("\u{7f}\t\r\n", "%7F%09%0D%0A"),
        ("/\u{85}", "/%C2%85"),
    ] {
        assert_eq!(StoredPath::of(path), page(stored), "{path:?}");
    }
}

#[test]
fn a_deep_path_is_counted_in_its_prefix_of_16_segments() {
    let segments = |count| "/s".repeat(count);
    assert_eq!(StoredPath::of(&segments(16)), page(&segments(16)));
    for count in [17, 18, 6000] {
        assert_eq!(StoredPath::of(&segments(count)), prefix(&segments(16)));
    }
    let doubled = "//s".repeat(17);
    assert_eq!(StoredPath::of(&doubled), prefix(&"//s".repeat(16)));
}

#[test]
fn a_long_path_is_counted_in_the_longest_prefix_that_fits() {
    let long = "x".repeat(MAX_BYTES);
    for (path, stored) in [
        (format!("/a/b/{long}"), "/a/b"),
        (format!("/a//{long}/c"), "/a"),
        (format!("/{long}"), "/"),
        (format!("{long}/a"), long.as_str()),
        ("/".repeat(MAX_BYTES + 1), "/"),
    ] {
        assert_eq!(StoredPath::of(&path), prefix(stored), "{stored}");
    }
}

#[test]
fn limits_apply_to_the_encoded_path() {
    let path = "/a/".to_owned() + &"\0".repeat(MAX_BYTES / 2);
    assert_eq!(StoredPath::of(&path), prefix("/a"));
}
