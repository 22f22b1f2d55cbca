/** Text before a token in a header or in a shell script. */
const BEFORE_TOKEN =
  /^(?:export\b|(?:set\s|\$env:)(?=\w+\s*=)|\w+\s*=|authorization\s*:|bearer|["'`“‘«\s])+/i;

/**
 * Returns the token in a pasted text. Removes quotation marks, line breaks, invisible characters, and
 * beginnings such as `Bearer` and `export QUILLGATE_TOKEN=`.
 */
export function extractToken(pasted: string): string {
  const visible = pasted.replace(/\p{Cf}/gu, "");
  return visible.replace(BEFORE_TOKEN, "").replace(/["'`”’»\s;]/g, "");
}

/** Returns the problem with a pasted token; null if the page finds none. The gateway judges claims. */
export function complainAboutToken(text: string): string | null {
  const token = extractToken(text);
  if (token === "") return "Paste your access token.";
  if (token.startsWith("mint_"))
    return "This is a Mintlify API key, not an access token. It belongs on the server: don’t paste it into any web page.";
  return isJwt(token)
    ? null
    : "This isn’t an access token. Tokens have three parts, separated by dots.";
}

function isJwt(token: string): boolean {
  const [, payload = "", ...others] = token.split(".");
  if (others.length !== 1 || !/^[\w.-]+$/.test(token)) return false;
  try {
    return atob(payload.replaceAll("-", "+").replaceAll("_", "/")).startsWith("{");
  } catch {
    return false;
  }
}
