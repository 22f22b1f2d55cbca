/** The address of a documentation site as it was typed, or why it is none. */
export type SiteReading = { ok: true; site: string } | { ok: false; reason: string };

/** Reads the address of a site; a path is kept, for sites below one. */
export function readSite(text: string): SiteReading {
  const typed = text.trim();
  const address = /^[a-z][a-z\d+.-]*:/i.test(typed) ? typed : `https://${typed}`;
  if (typed === "" || !URL.canParse(address)) {
    return { ok: false, reason: "Enter the site’s address, such as https://docs.example.com." };
  }
  const { protocol, username, password, origin, pathname } = new URL(address);
  if (protocol !== "https:" && protocol !== "http:") {
    return { ok: false, reason: "The address must begin with https://." };
  }
  if (username !== "" || password !== "") {
    return { ok: false, reason: "Leave user name and password out of the address." };
  }
  return { ok: true, site: origin + pathname.replace(/\/+$/, "") };
}

/** The address of a page of the site; null for a path that would lead elsewhere. */
export function linkToPage(site: string | null, path: string | null): string | null {
  if (site === null || path === null || !/^\/(?![/\\])/.test(path)) return null;
  const segments = path.split("/").map(encodeSegment);
  const href = site + segments.join("/");
  return URL.canParse(href) && new URL(href).origin === new URL(site).origin ? href : null;
}

/** Encodes what would end the path; what is encoded already stays. */
function encodeSegment(segment: string): string {
  return segment.replace(/[?#\\\s]|%(?![\dA-Fa-f]{2})/g, encodeURIComponent);
}
