/** Finds the paths that the event changed: with Git in the checkout, or else with GitHub's API. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type CommitRange, readCommitRange } from "./event.js";
import { callGithub, type GithubApi, GithubError } from "./github_api.js";
import type { Runner } from "./runner.js";

export type ChangedPaths = { paths: string[]; isCut: boolean } | { reason: string };

/** The largest number of files in a response of GitHub's compare API. */
const MAX_COMPARED_FILES = 300;
/** The timeout of each Git command, in milliseconds. */
const GIT_TIMEOUT = 60_000;
const MAX_GIT_OUTPUT = 256 * 1024 * 1024;
/** The timeout of a comparison, in milliseconds. GitHub needs several seconds for large ones. */
const COMPARE_TIMEOUT = 20_000;
/** A partial clone otherwise requests missing objects, which can ask for a password. */
const GIT_VARIABLES = { GIT_NO_LAZY_FETCH: "1", GIT_TERMINAL_PROMPT: "0" };

/** Returns the paths, or the reason why they cannot be found. */
export async function findChangedPaths({
  runner,
  api,
  signal,
}: {
  runner: Runner;
  api: GithubApi | undefined;
  signal: AbortSignal;
}): Promise<ChangedPaths> {
  const range = readCommitRange(runner.env);
  if (typeof range === "string") return { reason: range };
  const paths = await diffCheckout(range, runner.env, signal);
  if (paths !== undefined) return { paths, isCut: false };
  if (api === undefined) {
    return { reason: "the checkout lacks a commit, and the input github-token is missing" };
  }
  try {
    return await compareAtGithub(range, api, signal);
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    return { reason: `the checkout lacks a commit, and ${error.message}` };
  }
}

/** Returns `undefined` if the workspace is not a checkout with the commits of the range. */
async function diffCheckout(
  { base, head, fromMergeBase }: CommitRange,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  const git = async (...args: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)("git", args, {
      ...{ cwd: env.GITHUB_WORKSPACE ?? process.cwd(), env: { ...env, ...GIT_VARIABLES } },
      ...{ timeout: GIT_TIMEOUT, maxBuffer: MAX_GIT_OUTPUT, signal },
    });
    return stdout;
  };
  try {
    for (const commit of [base, head]) await git("cat-file", "-e", `${commit}^{commit}`);
    let from = base;
    if (fromMergeBase) {
      // A shallow clone may lack the merge base, and Git would find an older one.
      if ((await git("rev-parse", "--is-shallow-repository")).trim() !== "false") return undefined;
      from = (await git("merge-base", base, head)).trim();
    }
    const options = ["--name-only", "-z", "--no-renames", "--no-relative", "--no-ext-diff"];
    const paths = await git("diff", ...options, from, head, "--");
    return paths.split("\0").filter((path) => path !== "");
  } catch {
    return undefined;
  }
}

interface Comparison {
  status?: unknown;
  files?: { filename?: unknown; previous_filename?: unknown }[];
}

async function compareAtGithub(
  { base, head, fromMergeBase }: CommitRange,
  api: GithubApi,
  signal: AbortSignal,
): Promise<ChangedPaths> {
  const target = `/repos/${api.repository}/compare/${base}...${head}?per_page=1`;
  const options = { timeout: COMPARE_TIMEOUT, signal };
  const { status, files } = (await callGithub(api, "GET", target, options)) as Comparison;
  // GitHub compares with the merge base. After a forced push, that misses what the push removed.
  if (!fromMergeBase && status !== "ahead" && status !== "identical") {
    return { reason: "a forced push replaced the previous commit, and the checkout lacks it" };
  }
  if (!Array.isArray(files)) return { reason: "GitHub's API lists no files" };
  const names = files.flatMap(({ filename, previous_filename }) => [filename, previous_filename]);
  const paths = names.filter((name) => typeof name === "string");
  return { paths, isCut: files.length >= MAX_COMPARED_FILES };
}
