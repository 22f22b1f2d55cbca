/** Detects which features a terminal supports. */

import type { Host, Stream } from "./host.js";

type Env = Host["env"];

/** The lowest version of VTE, the library of GNOME Terminal, that supports hyperlinks. */
const MIN_VTE = 5000;
const LINKING_PROGRAMS = ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby"];

/**
 * Returns whether to write colors. `FORCE_COLOR` takes precedence over `NO_COLOR`, as in Node.js.
 */
export function supportsColor({ isTTY }: Pick<Stream, "isTTY">, env: Env): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: unwanted, TERM: term } = env;
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTTY === true && !unwanted && term !== "dumb";
}

/** Returns whether the program runs in a CI system. Some set `CI=false` elsewhere. */
export function isCi({ CI }: Env): boolean {
  return Boolean(CI) && CI !== "false" && CI !== "0";
}

/** Returns whether a terminal supports hyperlinks (OSC 8). `FORCE_HYPERLINK` overrides the answer. */
export function supportsLinks({ isTTY }: Pick<Stream, "isTTY">, env: Env): boolean {
  const { FORCE_HYPERLINK: forced, TERM: term, TERM_PROGRAM: program = "" } = env;
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if (isTTY !== true || term === "dumb" || isCi(env)) return false;
  return (
    LINKING_PROGRAMS.includes(program) ||
    /^(xterm-kitty|xterm-ghostty|foot|alacritty)/.test(term ?? "") ||
    env.WT_SESSION !== undefined ||
    env.KONSOLE_VERSION !== undefined ||
    Number(env.VTE_VERSION) >= MIN_VTE
  );
}

/** Returns text as a hyperlink, or unchanged if the URL is not a valid http or https URL. */
export function writeLink(text: string, url: string): string {
  if (!URL.canParse(url)) return text;
  // The parser encodes control characters, which could end the escape sequence.
  const { protocol, href } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return text;
  return `\u001b]8;;${href}\u001b\\${text}\u001b]8;;\u001b\\`;
}
