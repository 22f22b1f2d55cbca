use quillgate::pull_request::stated_link;
use quillgate::{PullRequestLink, RepositoryHost};

fn name(link: &str) -> Option<String> {
    PullRequestLink::parse(link).map(|link| link.to_string())
}

#[test]
fn pull_requests_of_each_host_are_named() {
    use RepositoryHost::{BitbucketCloud, BitbucketServer, GitHub, GitLab};
    // Each line has a link, its host and the name of the pull request.
    for (kind, links) in [
        (
            GitHub,
            "https://github.com/acme/docs/pull/12 github.com acme/docs#12
            HTTPS://GitHub.com:443/acme/docs/pull/12/ github.com acme/docs#12
            https://github.com/Acme-1_corp/.docs_v2.x/pull/12/files#diff-1 github.com Acme-1_corp/.docs_v2.x#12
            https://git.acme.example:8443/acme/docs/pull/1?w=1 git.acme.example:8443 acme/docs#1",
        ),
        (
            GitLab,
            "https://gitlab.com/acme/docs/-/merge_requests/3 gitlab.com acme/docs!3
            https://gitlab.acme.example/a/b/c/d/-/merge_requests/3/diffs gitlab.acme.example a/b/c/d!3
            https://gitlab.com/a/b/pull/-/merge_requests/3 gitlab.com a/b/pull!3
            https://gitlab.com/acme/docs/merge_requests/3 gitlab.com acme/docs!3",
        ),
        (
            BitbucketCloud,
            "https://bitbucket.org/acme/docs/pull-requests/7/diff bitbucket.org acme/docs#7",
        ),
        (
            BitbucketServer,
            "https://git.example/projects/DOC/repos/docs/pull-requests/9/overview git.example DOC/docs#9
            https://acme.example/bitbucket/projects/~zoe/repos/docs/pull-requests/9 acme.example ~zoe/docs#9",
        ),
    ] {
        for line in links.lines() {
            let [link, host, name] = *line.split_whitespace().collect::<Vec<_>>() else {
                panic!("{line}");
            };
            let found = PullRequestLink::parse(link).unwrap();
            assert_eq!((&*found.host, found.kind), (host, kind), "{link}");
            assert_eq!(found.to_string(), name);
        }
    }
}

#[test]
fn other_pages_and_disguised_addresses_have_no_name() {
    let long = "a".repeat(101);
    for link in [
        "",
        "acme/docs#12",
        "https://github.com/acme/docs",
        "https://github.com/acme/docs/pull/",
        "https://github.com/acme/docs/pull/012",
        "https://github.com/acme/docs/pull/12345678901",
        "https://github.com//docs/pull/12",
        "https://github.com/../docs/pull/12",
        "https://github.com/acme/%2e%2e/pull/12",
        "https://github.com/acme/docs?/pull/12",
        "https://github.com/acme/döcs/pull/12",
        "https://gitlab.com/a/../b/-/merge_requests/3",
        "https://gitlab.com/acme/docs/-/merge_requests",
        "https://bitbucket.org/acme/docs/pull-requests/new",
        "https://bitbucket.acme.example/projects/DOC/repos/pull-requests/9",
        "http://github.com/acme/docs/pull/12",
        "https://github.com@evil.example/acme/docs/pull/12",
        "https://evil.example\\@github.com/acme/docs/pull/12",
        "https://evil.example/https://github.com/acme/docs/pull/12",
        "//github.com/acme/docs/pull/12",
        &format!("https://github.com/acme/{long}/pull/12"),
    ] {
        assert_eq!(name(link), None, "{link}");
    }
}

#[test]
fn blank_and_null_links_are_no_links() {
    for text in ["", " \n", "null", "NULL "] {
        assert_eq!(stated_link(text), None, "{text:?}");
    }
    let expected = Some("https://a.example/1");
    assert_eq!(stated_link(" https://a.example/1 "), expected);
}
