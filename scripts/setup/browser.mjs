/**
 * Requirement for browsers. It finds or installs Chromium, a chromedriver of the same major version
 * and, where apt has it, the headless shell. Browser tests use the shell, because it takes less
 * processor time.
 */
import { StepError } from "../child.mjs";
import { canInstallBrowsers, installWithApt } from "./apt.mjs";
import { findOnPath, versionOf } from "./programs.mjs";

const CHROMIUM_NAMES = ["chromium", "chromium-browser", "google-chrome"];
const HEADLESS_SHELL_NAMES = ["chromium-headless-shell", "chrome-headless-shell"];
/** Whether apt has no package of the headless shell. */
let isShellUnavailable = false;

export const browser = {
  title: "Chromium, its headless shell and chromedriver",
  async find(env) {
    const browsers = await findBrowsers(env);
    const isComplete = browsers.headlessShell || isShellUnavailable || !canInstallShell(env);
    return problemOf(browsers) === undefined && isComplete ? browsers : undefined;
  },
  async install(context) {
    const { env } = context;
    const problem = problemOf(await findBrowsers(env));
    if (problem !== undefined) {
      if (env.CHROME || !canInstallBrowsers(env)) {
        throw new StepError(
          `${problem}: install Chromium or Chrome, and the chromedriver of ` +
            "the same major version; put them on the PATH, or set CHROME and CHROMEDRIVER to their paths",
        );
      }
      await installWithApt("Chromium", ["chromium", "chromium-driver"], context);
    }
    if (!canInstallShell(env)) return;
    try {
      await installWithApt("Chromium's headless shell", ["chromium-headless-shell"], context);
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      isShellUnavailable = true;
    }
  },
  provide({ chromium, headlessShell, chromedriver }, { env, bin }) {
    bin.chromium = chromium;
    env.CHROME = headlessShell ?? chromium;
    bin.chromedriver = env.CHROMEDRIVER = chromedriver;
  },
};

async function findBrowsers(env) {
  const findFirst = (names) => names.map((name) => findOnPath(name, env)).find(Boolean);
  const chromium = findFirst(env.CHROME ? [env.CHROME] : CHROMIUM_NAMES);
  const headlessShell = env.CHROME ? undefined : findFirst(HEADLESS_SHELL_NAMES);
  const chromedriver = findOnPath(env.CHROMEDRIVER || "chromedriver", env);
  const [version, driverVersion] = await Promise.all(
    [chromium, chromedriver].map((program) => program && versionOf(program, env)),
  );
  return { chromium, headlessShell, chromedriver, version, driverVersion };
}

function problemOf({ chromium, chromedriver, version, driverVersion }) {
  if (!chromium) return "Chromium is missing";
  if (!chromedriver) return "chromedriver is missing";
  const [major, driverMajor] = [version, driverVersion].map((text) => text?.split(".")[0]);
  if (major !== undefined && major === driverMajor) return undefined;
  return `Chromium ${version} and chromedriver ${driverVersion} differ in their major version`;
}

function canInstallShell(env) {
  return !env.CHROME && canInstallBrowsers(env);
}
