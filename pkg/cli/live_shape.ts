/**
 * Describes the shapes of responses without their values: names of properties, types and formats.
 * `quillgate doctor --live` reports nothing else of a response's body.
 */

/**
 * The strings of Mintlify's enumerations, by property. They identify no person, so a report can
 * contain them. In another property, such as a search term, a reader can have typed the same word.
 */
const WORDS: ReadonlyMap<string, readonly string[]> = new Map([
  [
    "status",
    [
      ...["active", "completed", "archived", "failed"],
      ...["pending", "in_progress", "resolved", "dismissed"],
    ],
  ],
  ["source", ["code_snippet", "contextual", "agent", "thumbs_only"]],
  ["responseType", ["answer", "clarifying_question"]],
  ["resolutionStatus", ["answered", "unanswered"]],
  ["feedback", ["positive", "negative"]],
  ["role", ["user", "assistant"]],
]);
/** The documented properties of responses (docs/mintlify, 2, 4 and 7). */
const DOCUMENTED: ReadonlySet<string> = new Set([
  ...["totals", "views", "visitors", "path", "human", "ai", "total", "hasMore", "nextCursor"],
  ...["feedback", "id", "source", "status", "comment", "createdAt", "helpful", "contact"],
  ...["code", "filename", "lang", "thumbsUp", "thumbsDown", "searches", "searchQuery", "hits"],
  ...["ctr", "topClickedPage", "lastSearchedAt", "totalSearches", "conversations", "timestamp"],
  ...["query", "response", "responseType", "sources", "title", "url", "resolutionStatus"],
  ...["queryCategory", "pageUrl", "web", "api", "other", "repository", "ref", "model", "prLink"],
  ...["archivedAt", "error", "details", "message"],
]);
/** A name that a programmer chose. Excludes ids, paths and most of what readers type. */
const PROPERTY_NAME = /^[a-z][a-zA-Z_]{0,29}$/;
const MAX_DEPTH = 6;

const FORMATS: readonly (readonly [RegExp, string])[] = [
  [/^$/, "empty string"],
  [/^[\p{White_Space}\p{Default_Ignorable_Code_Point}]+$/u, "blank string"],
  [/^\d{4}-\d\d-\d\d$/, "date"],
  [/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]*(?: ?(?:Z|UTC|GMT))$/i, "date-time in UTC"],
  [/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]* ?[+-]\d\d:?\d*$/, "date-time with an offset"],
  [/^\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.,]*$/, "date-time without a zone"],
  [/^\d{4}-\d\d-\d\d \d\d:\d\d[\d:.,]*$/, "date-time with a space, without a zone"],
  [/^https?:\/\//i, "URL"],
  [/^\//, "path"],
  [/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i, "ULID"],
  [/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i, "UUID"],
  [/^[\da-f]{24}$/i, "24 hexadecimal digits"],
  [/^[^\s@]+@[^\s@]+\.[^\s@]+$/, "email address"],
];

/** Returns the type of a value, or the format of a string. Never returns a value of a reader. */
export function describeValue(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") {
    return FORMATS.find(([format]) => format.test(value))?.[1] ?? "text";
  }
  if (typeof value !== "number") return typeof value;
  if (value < 0) return "negative number";
  return Number.isInteger(value) ? "integer" : "fraction";
}

/** Quotes a word of the property's enumeration. Describes other values as {@link describeValue}. */
export function describeProperty(name: string, value: unknown): string {
  const isWord = typeof value === "string" && WORDS.get(name)?.includes(value);
  return isWord ? `“${value}”` : describeValue(value);
}

/**
 * Returns the types at each path of a body, such as `views[].path`. An object without a documented
 * property may have keys that identify a person, so that only their number is reported.
 */
export function describeShape(body: unknown): Map<string, Set<string>> {
  const shape = new Map<string, Set<string>>();
  const add = (path: string, what: string) => {
    const types = shape.get(path) ?? new Set();
    shape.set(path, types.add(what));
  };
  const walk = (value: unknown, path: string, depth: number, property: string): void => {
    if (typeof value !== "object" || value === null) {
      add(path, describeProperty(property, value));
    } else if (depth > MAX_DEPTH) {
      add(path, "deeper object");
    } else if (Array.isArray(value)) {
      if (value.length === 0) add(`${path}[]`, "empty list");
      for (const item of value) walk(item, `${path}[]`, depth + 1, property);
    } else if (!Object.keys(value).some((name) => DOCUMENTED.has(name))) {
      add(path, `object with ${Object.keys(value).length} undocumented properties`);
    } else {
      for (const [name, inner] of Object.entries(value)) {
        const shown = nameProperty(name);
        walk(inner, path === "" ? shown : `${path}.${shown}`, depth + 1, name);
      }
    }
  };
  walk(body, "", 0, "");
  return shape;
}

/** Returns the names of a row's properties that Mintlify does not document. */
export function listUndocumented(rows: readonly object[]): string[] {
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  return [...names].filter((name) => !DOCUMENTED.has(name)).map(nameProperty);
}

function nameProperty(name: string): string {
  return DOCUMENTED.has(name) || PROPERTY_NAME.test(name) ? name : "(unusual name)";
}
