/** Sends requests to GitHub's REST API. */

/** Thrown when GitHub's API does not do what was requested. The message has the reason. */
export class GithubError extends Error {
  /** The HTTP status of GitHub's response; `undefined` without a response. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/** A repository at GitHub's API. */
export interface GithubApi {
  /** The base URL. */
  api: string;
  /** The repository, such as `acme/docs`. */
  repository: string;
  token: string;
}

/** The default timeout of a request, in milliseconds. */
const TIMEOUT = 5_000;

/** Returns the repository of the run, or `undefined` without a token. */
export function findApi(env: NodeJS.ProcessEnv, token: string | undefined): GithubApi | undefined {
  const { GITHUB_API_URL: api = "https://api.github.com", GITHUB_REPOSITORY: repository } = env;
  return token === undefined || !repository ? undefined : { api, repository, token };
}

/**
 * Sends a request and returns the JSON of the response.
 *
 * @param target the path and the query
 * @throws {GithubError}
 */
export async function callGithub(
  { api, token }: GithubApi,
  method: string,
  target: string,
  options: {
    content?: unknown;
    /** In milliseconds. */
    timeout?: number;
    signal?: AbortSignal | undefined;
  } = {},
): Promise<unknown> {
  const { content, timeout = TIMEOUT, signal } = options;
  const deadline = AbortSignal.timeout(timeout);
  const response = await fetch(api + target, {
    method,
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "user-agent": "quillgate-action",
      "x-github-api-version": "2022-11-28",
      ...(content === undefined ? {} : { "content-type": "application/json" }),
    },
    body: content === undefined ? null : JSON.stringify(content),
    redirect: "error",
    signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
  }).catch(() => {
    throw new GithubError("GitHub's API did not answer");
  });
  const text = await response.text().catch(() => {
    throw new GithubError("GitHub's API broke off its answer");
  });
  if (!response.ok) {
    throw new GithubError(`GitHub's API answered with status ${response.status}`, response.status);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new GithubError("GitHub's API answered with something that is not JSON");
  }
}
