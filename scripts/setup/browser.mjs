/**
 * Chromium, the chromedriver of the same major version, and Chromium's headless shell, which needs a
 * third less processor time for the same tests.
 */
import { StepError } from "../child.mjs";
import { canUseApt, installWithApt } from "./apt.mjs";
import { findOnPath, versionOf } from "./programs.mjs";

const CHROMIUM_NAMES = ["chromium", "chromium-browser", "google-chrome"];
const HEADLESS_SHELL_NAMES = ["chromium-headless-shell", "chrome-headless-shell"];
const APT_PACKAGES = ["chromium", "chromium-driver", "chromium-headless-shell"];

/** @type {import("../setup.mjs").Requirement} */
export const browser = {
  title: "Chromium and chromedriver",
  async find(env) {
    const browsers = await findBrowsers(env);
    const isMissingShell = !browsers.headlessShell && !env.CHROME && canUseApt(env);
    return problemOf(browsers) === undefined && !isMissingShell ? browsers : undefined;
  },
  async install(context) {
    const { env } = context;
    if (env.CHROME || !canUseApt(env)) {
      throw new StepError(
        `${problemOf(await findBrowsers(env))}: install Chromium or Chrome, and the chromedriver of ` +
          "the same major version; put them on the PATH, or set CHROME and CHROMEDRIVER to their paths",
      );
    }
    await installWithApt("Chromium", APT_PACKAGES, context);
  },
  provide({ chromium, headlessShell, chromedriver }, { env, bin }) {
    bin.chromium = chromium;
    env.CHROME = headlessShell ?? chromium;
    bin.chromedriver = env.CHROMEDRIVER = chromedriver;
  },
};

async function findBrowsers(env) {
  const names = env.CHROME ? [env.CHROME] : CHROMIUM_NAMES;
  const [chromium, headlessShell] = [names, env.CHROME ? [] : HEADLESS_SHELL_NAMES].map((list) =>
    list.map((name) => findOnPath(name, env)).find(Boolean),
  );
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
