use quillgate_worker::http::url::{
    decode_percent, is_host, is_loopback, is_origin, is_secure_url, origin_of, split_url,
};

use crate::fixtures::Predicate;

#[test]
fn url_is_split_into_origin_path_and_query() {
    for (url, path, query) in [
        ("https://h/a/b?x=1", "/a/b", Some("x=1")),
        ("https://h/a", "/a", None),
        ("https://h/a?", "/a", Some("")),
        ("https://h/a?b?c", "/a", Some("b?c")),
        ("https://h/a#b?c", "/a", None),
        ("https://h/a?b#c?d", "/a", Some("b")),
        ("https://h", "", None),
        ("https://h?x", "", Some("x")),
        ("https://h#x", "", None),
        ("https://h//a", "//a", None),
        ("https://h/a://b/c", "/a://b/c", None),
        ("https://user@h:8/a", "/a", None),
        ("https://h/%3Fx#y", "/%3Fx", None),
        ("/a?b", "/a", Some("b")),
        ("", "", None),
    ] {
        assert_eq!(split_url(url), (path, query), "{url}");
    }
}

#[test]
fn percent_encoding_is_decoded_once() {
    for (text, decoded) in [
        ("", Some("")),
        ("a-b", Some("a-b")),
        ("a%20b", Some("a b")),
        ("%2f%2F", Some("//")),
        ("%252f", Some("%2f")),
        ("%25", Some("%")),
        ("+", Some("+")),
        ("%C3%BC", Some("ü")),
        ("ü", Some("ü")),
        ("%00", Some("\0")),
        ("%", None),
        ("%g0", None),
        ("%%32", None),
        ("%+2", None),
        ("%c0%ae", None),
        ("%ff", None),
        ("%ed%a0%80", None),
    ] {
        assert_eq!(decode_percent(text).as_deref(), decoded, "{text}");
    }
}

#[test]
fn origin_ends_where_the_path_starts() {
    for (url, origin) in [
        ("https://h/a?b#c", "https://h"),
        ("https://h:8443/a", "https://h:8443"),
        ("https://h", "https://h"),
        ("https://h?x", "https://h"),
        ("https://h#x", "https://h"),
        ("http://[::1]:80/a://b/c", "http://[::1]:80"),
        ("h/a", "h"),
        ("", ""),
    ] {
        assert_eq!(origin_of(url), origin, "{url}");
    }
}

#[test]
fn only_the_local_machine_is_loopback() {
    is_loopback.accepts(&[
        "localhost",
        "localhost:1/a",
        "127.0.0.1",
        "[::1]:9000",
        "[::1]/",
    ]);
    is_loopback.rejects(&[
        "",
        "localhost.example",
        "127.0.0.2",
        "localhost:80:80",
        "[::1",
        "::1",
        "LOCALHOST",
    ]);
}

#[test]
fn secure_url_is_https_or_loopback() {
    is_secure_url.accepts(&[
        "https://a",
        "https://a:8443/b?c=d",
        "http://localhost:1/b",
        "http://[::1]",
    ]);
    is_secure_url.rejects(&[
        "",
        "a",
        "http://a",
        "HTTPS://a",
        "https://",
        "https://:443",
        "https:///a",
        "https://u@a",
        "https://a#b",
        "https://a b",
        "https://a\\b",
        "https://a/\"",
        "https://ä",
    ]);
}

#[test]
fn origins_and_hosts_must_be_normalized() {
    is_origin.accepts(&[
        "https://a.example",
        "http://localhost:5173",
        "https://[::1]:80",
        "https://my_app.example",
    ]);
    is_origin.rejects(&[
        "",
        "a.example",
        "https://",
        "https://A",
        "https://a/",
        "ftp://a",
        "null",
        "*",
    ]);
    is_host.accepts(&[
        "a.example",
        "a.example:8443",
        "my_app.example",
        "127.0.0.1:9000",
        "[::1]",
        "[::1]:9000",
    ]);
    is_host.rejects(&[
        "", "a:", "a:0", "a:080", "a:+80", "a:65536", "::1", "[]", "[::1", "A", "a/b", "a:b",
    ]);
}
