import { counted } from "../../shell/wording.ts";
import { decodePath } from "./page_path.ts";
import type { Sitemap } from "./sitemap.ts";

/** A parsed sitemap, or the reason why it is invalid. */
export type SitemapReading = ({ ok: true } & Sitemap) | { ok: false; reason: string };

/**
 * The maximum number of addresses to read. A sitemap has at most 50,000, so several sitemaps fit.
 */
const MAX_PATHS = 200_000;

/** A complete sitemap or sitemap index. A pasted text can contain several. */
const DOCUMENTS = /<((?:[\w-]+:)?(?:urlset|sitemapindex))[\s>][\s\S]*?<\/\1\s*>/g;
const TAGS = /<(?:[\w-]+:)?(?:urlset|sitemapindex|url|loc)[\s>]/;
/** The addresses of Markdown links, as in Mintlify's `llms.txt`. */
const LINKS = /\]\(<?((?:\([^\s()]*\)|[^\s()<>])+)/g;
/** Files that `llms.txt` lists besides pages. */
const FILES = /\.(?:json|pdf|txt|xml|ya?ml)$/i;

/**
 * Parses sitemaps in XML, and lists: one address or path per line, or Markdown links. Makes no
 * requests.
 *
 * @param known the address of the documentation's site, if it is known
 */
export function readSitemap(texts: readonly string[], known: string | null): SitemapReading {
  if (texts.every((text) => text.trim() === "")) {
    return refused("Paste a sitemap, or choose a file.");
  }
  let places: string[] = [];
  let files = 0;
  let sitemaps = 0;
  for (const text of texts) {
    if (!TAGS.test(text)) {
      const listed = listedPlaces(text);
      const pages = listed.filter((place) => !FILES.test(place));
      places = places.concat(pages);
      files += listed.length - pages.length;
      continue;
    }
    const documents = text.match(DOCUMENTS);
    if (documents === null) return refused("The XML isn’t complete. Copy the whole sitemap.");
    for (const document of documents) {
      const root = parseXml(document);
      if (root === null) return refused("The XML is not well-formed. Copy the sitemap unchanged.");
      if (root.localName === "urlset") places = places.concat(locationsIn(root, "url"));
      else sitemaps += locationsIn(root, "sitemap").length;
    }
  }
  if (places.length === 0 && sitemaps > 0) {
    return refused(
      `This is a sitemap index. Open the ${counted(sitemaps, "sitemap")} it lists, then paste or choose all of them together.`,
    );
  }
  return readPlaces(places, files, known);
}

/** Finds the addresses in Markdown links. Other lines are one address each. */
function listedPlaces(text: string): string[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const links = [...line.matchAll(LINKS)].map(([, place = ""]) => place);
    const place = line.trim();
    return links.length > 0 || !/^(?:https?:|\/)/i.test(place) ? links : [place];
  });
}

/** Parses a document. Many sitemaps contain `&` unescaped, which is not well-formed. */
function parseXml(text: string): Element | null {
  for (const xml of [text, text.replace(/&(?!#\d+;|#x[\da-f]+;|\w+;)/gi, "&amp;")]) {
    const parsed = new DOMParser().parseFromString(xml, "application/xml");
    if (parsed.querySelector("parsererror") === null) return parsed.documentElement;
  }
  return null;
}

/** Returns each `loc` of the root's own namespace. Extensions have others, such as `image:loc`. */
function locationsIn(root: Element, entry: "url" | "sitemap"): string[] {
  const childrenOf = (parent: Element, name: string) =>
    [...parent.children].filter(
      ({ localName, namespaceURI }) => localName === name && namespaceURI === root.namespaceURI,
    );
  return childrenOf(root, entry)
    .flatMap((found) => childrenOf(found, "loc"))
    .map(({ textContent }) => (textContent ?? "").trim());
}

function readPlaces(
  places: readonly string[],
  files: number,
  knownSite: string | null,
): SitemapReading {
  const known = places.slice(0, MAX_PATHS).flatMap(readPlace);
  const site = chooseSite(known, knownSite);
  const own = known.filter(({ url }) => url === null || siteOf(url) === site);
  if (own.length === 0) {
    return refused("No addresses found. A sitemap has them in <loc>; a list has one on each line.");
  }
  const urls = own.flatMap(({ url }) => url ?? []);
  const secure = urls.find(({ protocol }) => protocol === "https:") ?? urls[0];
  const reasons: [number, string][] = [
    [known.length - own.length, "on other sites"],
    [files, "not a page"],
    [Math.min(places.length, MAX_PATHS) - known.length, "not valid"],
    [Math.max(0, places.length - MAX_PATHS), "above the limit"],
  ];
  const named = reasons.filter(([number]) => number > 0);
  const all = named.reduce((sum, [number]) => sum + number, 0);
  const why = named.map(([number, reason]) => (named.length > 1 ? `${number} ${reason}` : reason));
  const ignored =
    all === 0 ? null : `Ignored ${counted(all, "address", "addresses")}: ${why.join(", ")}.`;
  const paths = [...new Set(own.map(({ path }) => path))];
  return { ok: true, paths, origin: secure?.origin ?? null, ignored };
}

interface Place {
  path: string;
  /** The whole address; null for a path. */
  url: URL | null;
}

function readPlace(text: string): Place[] {
  if (text.startsWith("/") && !text.startsWith("//")) return [{ path: text, url: null }];
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return [];
  const url = new URL(text);
  return [{ path: decodePath(url.pathname), url }];
}

/**
 * Returns the known site if the list has one of its addresses. Otherwise, returns the site of most
 * addresses, because a list can begin with a link to another site.
 */
function chooseSite(places: readonly Place[], known: string | null): string | undefined {
  const wanted = known !== null && URL.canParse(known) ? siteOf(new URL(known)) : null;
  const counts = new Map<string, number>();
  for (const { url } of places) {
    if (url !== null) counts.set(siteOf(url), (counts.get(siteOf(url)) ?? 0) + 1);
  }
  if (wanted !== null && counts.has(wanted)) return wanted;
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** One site can be listed with and without `www.`, and with both schemes. */
function siteOf({ host }: URL): string {
  return host.replace(/^www\./, "");
}

function refused(reason: string): SitemapReading {
  return { ok: false, reason };
}
