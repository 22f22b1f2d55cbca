/** Git repositories in temporary folders. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "../harness/folder.mjs";

export function gitIn(folder) {
  return (...args) => {
    const author = ["-c", "user.name=alice", "-c", "user.email=alice@acme.example"];
    // The settings of the contributor, such as signatures and hooks, do not apply.
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
    const options = { cwd: folder, encoding: "utf8", env, stdio: ["ignore", "pipe", "ignore"] };
    return execFileSync("git", [...author, ...args], options).trim();
  };
}

/** Makes a repository for one test. `commit` changes files and returns the id of the commit. */
export function startRepository(t) {
  const folder = makeFolder(t, "origin");
  const git = gitIn(folder);
  git("init", "--quiet", "--initial-branch", "main");
  git("config", "uploadpack.allowAnySHA1InWant", "true");
  const commit = (...paths) => {
    for (const path of paths) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), `${path} ${Math.random()}\n`);
    }
    git("add", "--all");
    git("commit", "--quiet", "--message", "a change", "--allow-empty");
    return git("rev-parse", "HEAD");
  };
  return { folder, git, commit };
}
