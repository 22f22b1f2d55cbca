/** Maximum length of a path in an address. */
const MAX_PATH = 1000;

/**
 * Returns whether a string can be the path of a page with its own route. Excludes line breaks and
 * other control characters, because the path becomes part of a job's prompt.
 */
export function isPagePath(text: string | null): text is string {
  return text !== null && text.length <= MAX_PATH && /^\/[^\p{C}\p{Zl}\p{Zp}]*$/u.test(text);
}

/**
 * Returns whether a prompt is about a page rather than about a longer path that contains its path.
 * The gateway sends only the start of a long prompt. If the path is not in it, returns true,
 * because the gateway found the path in the rest.
 */
export function mentionsPage(prompt: string, path: string): boolean {
  if (!prompt.toLowerCase().includes(path.toLowerCase())) return true;
  const escaped = path.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const whole = new RegExp(`(?:^|https?://[^\\s/]+|[^\\w/.~-])${escaped}(?![\\w/~-])`, "i");
  return whole.test(prompt);
}
