import { decodePath } from "./page_path.ts";

/** A parsed sitemap, or the reason why it is invalid. */
export type SitemapReading =
  | { ok: true; paths: readonly string[]; origin: string | null }
  | { ok: false; reason: string };

/**
 * The maximum number of addresses to read. A sitemap has at most 50,000, so several sitemaps fit.
 */
const MAX_PATHS = 200_000;

/** Parses a sitemap in XML, or a list of addresses and paths, one per line. Makes no requests. */
export function readSitemap(text: string): SitemapReading {
  if (text.trim() === "") return refused("Paste a sitemap, or choose a file.");
  if (/<(?:\w+:)?sitemapindex[\s>]/i.test(text)) {
    return refused(
      "This is a sitemap index. Open the sitemaps it lists, then paste or choose all of them together.",
    );
  }
  const isXml = /<(?:\w+:)?(?:urlset|url|loc)[\s>]/i.test(text);
  const places = isXml
    ? [
        ...text.matchAll(
          /<(?:\w+:)?loc>\s*(?:<!\[CDATA\[)?([^<\]]*?)(?:\]\]>)?\s*<\/(?:\w+:)?loc>/gi,
        ),
      ].map(([, place = ""]) => decodeEntities(place))
    : text.split(/\r?\n/).map((line) => line.trim());
  const found = places.filter(Boolean).slice(0, MAX_PATHS).map(readPlace);
  const known = found.filter((place) => place !== null);
  if (known.length === 0) {
    return refused("No addresses found. A sitemap has them in <loc>; a list has one on each line.");
  }
  const origin = known.find((place) => place.origin !== null)?.origin ?? null;
  // Ignore addresses of other sites.
  const own = known.filter((place) => place.origin === null || place.origin === origin);
  return { ok: true, paths: [...new Set(own.map(({ path }) => path))], origin };
}

function readPlace(text: string): { path: string; origin: string | null } | null {
  if (text.startsWith("/") && !text.startsWith("//")) return { path: text, origin: null };
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  const { pathname, origin } = new URL(text);
  return { path: decodePath(pathname), origin };
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|(amp|lt|gt|quot|apos));/g, (whole, code, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const point = Number(code);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}

function refused(reason: string): SitemapReading {
  return { ok: false, reason };
}
