/** The validated address of a documentation site, or the reason why it is invalid. */
export type SiteReading = { ok: true; site: string } | { ok: false; reason: string };

/**
 * Validates the address of a site. Adds `https://` to an address without a scheme. Keeps a path,
 * for sites that are served below one.
 */
export function readSite(text: string): SiteReading {
  const typed = text.trim();
  const address = /^[a-z][a-z\d+.-]*:/i.test(typed) ? typed : `https://${typed}`;
  if (typed === "" || !URL.canParse(address)) {
    return { ok: false, reason: "Enter your site’s URL, such as https://docs.example.com." };
  }
  const { protocol, username, password, origin, pathname } = new URL(address);
  if (protocol !== "https:" && protocol !== "http:") {
    return { ok: false, reason: "The URL must begin with https:// or http://." };
  }
  if (username !== "" || password !== "") {
    return { ok: false, reason: "Remove the username and password from the URL." };
  }
  return { ok: true, site: origin + pathname.replace(/\/+$/, "") };
}

/**
 * Returns the address of a page. Returns null if the site is unknown, if the path does not start
 * with one slash, or if it would leave the site.
 */
export function linkToPage(site: string | null, path: string | null): string | null {
  if (site === null || path === null || !/^\/(?![/\\])/.test(path)) return null;
  const segments = path.split("/").map(encodeSegment);
  const href = site + segments.join("/");
  return URL.canParse(href) && new URL(href).origin === new URL(site).origin ? href : null;
}

/**
 * Encodes whitespace and characters that would end the path or change its meaning. Existing escapes
 * stay.
 */
function encodeSegment(segment: string): string {
  return segment.replace(/[?#\\\s]|%(?![\dA-Fa-f]{2})/g, encodeURIComponent);
}
