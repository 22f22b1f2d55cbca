use quillgate::Rule;
use quillgate::credential::{AdminKey, BaseUrl, PlainHttp, check_idempotency_key, is_header_value};

#[test]
fn a_target_is_appended_to_the_base_url() {
    for (base, joined) in [
        (BaseUrl::UPSTREAM, "https://api.mintlify.com/v2/x"),
        ("https://docs.example", "https://docs.example/v2/x"),
        ("https://docs.example/", "https://docs.example/v2/x"),
        (
            "https://docs.example/gate/",
            "https://docs.example/gate/v2/x",
        ),
        ("http://127.0.0.1:8787", "http://127.0.0.1:8787/v2/x"),
        ("http://[::1]:8787/", "http://[::1]:8787/v2/x"),
    ] {
        let found = BaseUrl::new(base).unwrap().join("/v2/x");
        assert_eq!(found, joined, "{base:?}");
    }
}

#[test]
fn an_unsafe_base_url_is_rejected_without_repeating_it() {
    for base in [
        "",
        "docs.example",
        "//docs.example",
        "https:///gate",
        "https:docs.example",
        "ftp://docs.example",
        "javascript:alert(1)",
        "https://user:secret@docs.example",
        "https://docs.example?key=secret",
        "https://docs.example/#secret",
        "https://docs.example\\@evil.example",
        " https://docs.example",
        "https://dócs.example",
    ] {
        let error = BaseUrl::new(base).expect_err(base);
        let expected = ("baseUrl", Rule::BaseUrl);
        assert_eq!((error.field.as_ref(), error.rule), expected, "{base}");
        let expected =
            "baseUrl must be an absolute http or https URL without credentials, query or fragment";
        assert_eq!(error.message(), expected);
    }
}

#[test]
fn a_credential_requires_https_or_a_loopback_host() {
    let secure = |base| BaseUrl::new(base)?.for_credential(PlainHttp::Loopback);
    for base in [
        BaseUrl::UPSTREAM,
        "https://docs.example:8443/gate",
        "http://localhost",
        "http://localhost:8788/",
        "http://127.0.0.1:8788/under/here",
        "http://[::1]:8788",
    ] {
        assert_eq!(secure(base), BaseUrl::new(base), "{base}");
    }
    for base in [
        "http://docs.example",
        "http://localhost.docs.example",
        "http://docs.example/localhost",
        "http://127.0.0.1.docs.example:80",
        "http://127.0.0.10",
        "http://10.0.0.1",
        "http://[::2]:8788",
        "http://localhost:80:80",
    ] {
        let error = secure(base).expect_err(base);
        let expected = ("baseUrl", Rule::SecureBaseUrl);
        assert_eq!((error.field.as_ref(), error.rule), expected, "{base}");
        let expected = "baseUrl must be https, or http on this machine, because others can read the credential";
        assert_eq!(error.message(), expected);
        let base = BaseUrl::new(base).unwrap();
        assert_eq!(base.clone().for_credential(PlainHttp::AnyHost), Ok(base));
    }
    let error = secure("ftp://localhost").unwrap_err();
    assert_eq!(error.rule, Rule::BaseUrl);
}

#[test]
fn an_admin_key_is_exposed_on_request_and_hidden_in_debug_output() {
    let key = AdminKey::new("mint_canary").unwrap();
    assert_eq!(key.expose(), "mint_canary");
    assert_eq!(format!("{key:?}"), "AdminKey(…)");
    assert!(AdminKey::new("mint_dscovery").is_ok());
}

#[test]
fn a_key_of_another_kind_is_rejected_without_repeating_it() {
    for key in [
        "",
        "mint_",
        "mint_dsc_canary",
        "mint_us_canary",
        "MINT_canary",
        "canary",
        " mint_canary",
        "mint_canary\n",
        "mint_can ary",
        "mint_canäry",
        "Bearer mint_canary",
    ] {
        let error = AdminKey::new(key).expect_err(key);
        let expected = ("adminKey", Rule::AdminKey);
        assert_eq!((error.field.as_ref(), error.rule), expected, "{key}");
        let output = format!("{error} {error:?}");
        for part in ["canary", "ary\\n"] {
            assert!(!output.contains(part), "{output}");
        }
    }
}

#[test]
fn a_credential_consists_of_visible_ascii_characters() {
    for code in 0..=255_u8 {
        let text = char::from(code).to_string();
        let expected = (0x21..=0x7e).contains(&code);
        assert_eq!(is_header_value(&text), expected, "{code:#x}");
    }
    assert!(!is_header_value(""));
    assert!(!is_header_value("a b"));
}

#[test]
fn an_idempotency_key_is_visible_ascii_without_commas_and_a_leading_quotation_mark() {
    let longest = "k".repeat(255);
    for key in ["k", "7f9c-42", "a\"b", &longest] {
        assert_eq!(check_idempotency_key(key), Ok(()));
    }
    let too_long = "k".repeat(256);
    for key in [
        "", " ", "a b", "k\n", "ключ", "a,b", ",", "\"a", "\"a\"", &too_long,
    ] {
        let error = check_idempotency_key(key).expect_err(key);
        let expected = ("idempotencyKey", Rule::IdempotencyKey);
        assert_eq!((error.field.as_ref(), error.rule), expected);
        let expected = "idempotencyKey must be 1 to 255 visible ASCII characters, without commas or a leading quotation mark";
        assert_eq!(error.message(), expected);
    }
}
