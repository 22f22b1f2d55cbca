/** Programs that apt installs on Debian and Ubuntu, if this process runs as root. */
import { readFileSync } from "node:fs";
import { run, StepError } from "../child.mjs";
import { findOnPath } from "./programs.mjs";

/** The update of the package lists, which runs at most once per process. */
let updating;

export async function installWithApt(title, packages, context) {
  const options = { ...context, env: { ...context.env, DEBIAN_FRONTEND: "noninteractive" } };
  updating ??= run("updating the package lists", "apt-get", ["update"], options);
  await updating;
  // Another apt can hold the lock, such as that of unattended upgrades.
  const wait = ["-o", "DPkg::Lock::Timeout=300"];
  const args = [...wait, "install", "-y", "--no-install-recommends", ...packages];
  await run(`installing ${title}`, "apt-get", args, options);
}

export function canUseApt(env) {
  return process.getuid?.() === 0 && findOnPath("apt-get", env) !== undefined;
}

/** Ubuntu's apt has no browsers, only packages that install them with snap. */
export function canInstallBrowsers(env) {
  return canUseApt(env) && isDebian();
}

function isDebian() {
  try {
    return /^ID="?debian"?$/m.test(readFileSync("/etc/os-release", "utf8"));
  } catch {
    return false;
  }
}

export const firefox = aptProgram({
  title: "Firefox",
  names: ["firefox-esr", "firefox"],
  packages: ["firefox-esr"],
  variable: "FIREFOX",
  key: "firefox",
});

function aptProgram({ title, names, packages, variable, key }) {
  return {
    title,
    async find(env) {
      const candidates = env[variable] ? [env[variable]] : names;
      return candidates.map((name) => findOnPath(name, env)).find(Boolean);
    },
    async install(context) {
      if (context.env[variable] || !canInstallBrowsers(context.env)) {
        throw new StepError(
          `${title} is missing: install it and put ${names.at(-1)} on the PATH, or set ${variable} to its path`,
        );
      }
      await installWithApt(title, packages, context);
    },
    provide(path, { env, bin }) {
      bin[key] = env[variable] = path;
    },
  };
}

/** Programs of the command line's tests. Tests are skipped where their program is missing. */
export const cliPrograms = {
  title: "zsh, fish and jq",
  async find(env) {
    const missing = missingPrograms(env);
    return missing.length === 0 || !canUseApt(env) ? { missing } : undefined;
  },
  install(context) {
    const missing = missingPrograms(context.env);
    return installWithApt(missing.join(", "), missing, context);
  },
};

function missingPrograms(env) {
  return ["zsh", "fish", "jq"].filter((name) => !findOnPath(name, env));
}
