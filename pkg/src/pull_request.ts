/** The pull request, or GitLab's merge request, that the `prLink` of a job names. */
export interface PullRequest {
  /** The URL to open. `null` unless it uses `https:` and has no user name and no password. */
  href: string | null;
  /**
   * A short name: `acme/docs#7`, or `acme/docs!7` for a merge request. A host that is not
   * `github.com`, `gitlab.com` or `bitbucket.org` precedes it. Without a known form, the host and
   * the path. Without an `href`, the link unchanged.
   */
  name: string;
  /** The host's term for it. */
  noun: "pull request" | "merge request";
  /** The number with its mark: `#7` or `!7`. `null` if the URL has an unknown form. */
  number: string | null;
  /** The repository, such as `acme/docs`. `null` if the URL has an unknown form. */
  repository: string | null;
  /** The URL of the repository's requests. `null` if the URL has an unknown form. */
  listHref: string | null;
}

interface Form {
  /** Matches the start of a path, and captures the repository and the number. */
  path: RegExp;
  noun: PullRequest["noun"];
  mark: "#" | "!";
  /** The path of the repository's list of requests. */
  list(repository: string): string;
}

/** The forms of paths. Self-hosted servers can have any host, so only the path tells them apart. */
const FORMS: readonly Form[] = [
  {
    // GitHub, and Forgejo and Gitea, which write `pulls`.
    path: /^\/([^/]+\/[^/]+)\/pulls?\/(\d+)(?:\/|$)/,
    noun: "pull request",
    mark: "#",
    list: (repository) => `/${repository}/pulls?q=is:pr+sort:created-desc`,
  },
  {
    // GitLab. Old versions have no `/-`.
    path: /^\/([^/]+(?:\/(?!-\/)[^/]+)+?)(?:\/-)?\/merge_requests\/(\d+)(?:\/|$)/,
    noun: "merge request",
    mark: "!",
    list: (repository) => `/${repository}/-/merge_requests?scope=all&state=all`,
  },
  {
    // Bitbucket Cloud.
    path: /^\/([^/]+\/[^/]+)\/pull-requests\/(\d+)(?:\/|$)/,
    noun: "pull request",
    mark: "#",
    list: (repository) => `/${repository}/pull-requests/`,
  },
];
/** Bitbucket Server and Data Center, which can be served below a path. */
const BITBUCKET_SERVER =
  /^(.*?\/(?:projects|users)\/([^/]+)\/repos\/([^/]+)\/pull-requests)\/(\d+)(?:\/|$)/;
const PUBLIC_HOSTS: readonly string[] = ["github.com", "gitlab.com", "bitbucket.org"];
/** Texts that programs write for a missing value. */
const MISSING = /^(?:null|undefined|none)?$/i;

/**
 * Reads the `prLink` of a job: its safe URL, and a name for a person.
 *
 * Recognizes GitHub, GitLab, Bitbucket Cloud and Bitbucket Server on any host.
 *
 * @returns `null` if there is no link, which includes the empty string and `"null"`
 *
 * @example
 * ```ts
 * import { readPullRequest } from "quillgate/values";
 *
 * readPullRequest("https://github.com/acme/docs/pull/7")?.name; // "acme/docs#7"
 * readPullRequest("https://gitlab.com/acme/docs/-/merge_requests/7")?.name; // "acme/docs!7"
 * ```
 */
export function readPullRequest(link: string | null | undefined): PullRequest | null {
  const text = link?.trim() ?? "";
  if (MISSING.test(text)) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  // "https://github.com@elsewhere.example" looks like GitHub but opens another site.
  const isSafe = url?.protocol === "https:" && `${url.username}${url.password}` === "";
  const unknown = { noun: "pull request", number: null, repository: null, listHref: null } as const;
  if (url === null || !isSafe) return { href: null, name: text, ...unknown };
  const { href, host } = url;
  const known = matchForm(url);
  if (known === null) return { href, name: host + url.pathname.replace(/\/$/, ""), ...unknown };
  const shown = PUBLIC_HOSTS.includes(host) ? "" : `${host}/`;
  return { href, name: `${shown}${known.repository}${known.number}`, ...known };
}

function matchForm({ origin, pathname }: URL): Omit<PullRequest, "href" | "name"> | null {
  const [, list, owner, name, id] = BITBUCKET_SERVER.exec(pathname) ?? [];
  if (list !== undefined) {
    const repository = `${owner}/${name}`;
    return { noun: "pull request", number: `#${id}`, repository, listHref: origin + list };
  }
  for (const { path, noun, mark, list } of FORMS) {
    const [, repository, number] = path.exec(pathname) ?? [];
    if (repository === undefined) continue;
    const listHref = origin + list(repository);
    return { noun, number: `${mark}${number}`, repository, listHref };
  }
  return null;
}
