/**
 * Splits JSON without parsing it, so that numbers and escapes keep the server's spelling. All input must
 * be valid JSON; callers have parsed it before.
 */

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN = [0x5b, 0x7b];
const CLOSE = [0x5d, 0x7d];

/** Removes the whitespace between tokens. */
export function compact(json: string): string {
  let kept = "";
  let begin = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endString(json, at) - 1;
    else if (code <= SPACE) {
      kept += json.slice(begin, at);
      begin = at + 1;
    }
  }
  return kept + json.slice(begin);
}

/**
 * Returns the properties of a compact object, each value as compact JSON. The last of several
 * properties with the same name wins, as in `JSON.parse`.
 */
export function readMembers(json: string): Map<string, string> {
  const members = new Map<string, string>();
  for (let at = 1; at < json.length - 1; at++) {
    const colon = endString(json, at);
    const end = endValue(json, colon + 1);
    members.set(readString(json.slice(at, colon)), json.slice(colon + 1, end));
    at = end;
  }
  return members;
}

/** Returns the elements of a compact array, each as compact JSON. */
export function readElements(json: string): string[] {
  const elements: string[] = [];
  for (let at = 1; at < json.length - 1; at++) {
    const end = endValue(json, at);
    elements.push(json.slice(at, end));
    at = end;
  }
  return elements;
}

/** Returns the value of a JSON string. */
export function readString(json: string): string {
  return json.includes("\\") ? JSON.parse(json) : json.slice(1, -1);
}

/** Returns the index after the string that starts at `begin`. */
function endString(json: string, begin: number): number {
  for (let end = begin + 1; ; end++) {
    end = json.indexOf('"', end);
    let escapes = end;
    while (json.charCodeAt(escapes - 1) === BACKSLASH) escapes--;
    if ((end - escapes) % 2 === 0) return end + 1;
  }
}

/** Returns the index after the value that starts at `begin`. */
function endValue(json: string, begin: number): number {
  let depth = 0;
  for (let at = begin; ; at++) {
    const code = json.charCodeAt(at);
    if (depth === 0 && at > begin && (code === COMMA || CLOSE.includes(code))) return at;
    if (code === QUOTE) at = endString(json, at) - 1;
    else if (OPEN.includes(code)) depth++;
    else if (CLOSE.includes(code)) depth--;
  }
}
