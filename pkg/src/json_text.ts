/**
 * JSON as text, so that numbers and escapes stay as the server wrote them. It has been parsed before:
 * what is not JSON does not come here.
 */

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN = [0x5b, 0x7b];
const CLOSE = [0x5d, 0x7d];

/** The same JSON without whitespace between its tokens. */
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
 * The members of a compact object, each as compact JSON. Of a name that comes more than once the
 * last counts, as for `JSON.parse`.
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

/** The elements of a compact array, each as compact JSON. */
export function readElements(json: string): string[] {
  const elements: string[] = [];
  for (let at = 1; at < json.length - 1; at++) {
    const end = endValue(json, at);
    elements.push(json.slice(at, end));
    at = end;
  }
  return elements;
}

/** What a string says. */
export function readString(json: string): string {
  return json.includes("\\") ? JSON.parse(json) : json.slice(1, -1);
}

/** Where the string ends that begins here. */
function endString(json: string, begin: number): number {
  for (let end = begin + 1; ; end++) {
    end = json.indexOf('"', end);
    let escapes = end;
    while (json.charCodeAt(escapes - 1) === BACKSLASH) escapes--;
    if ((end - escapes) % 2 === 0) return end + 1;
  }
}

/** Where the value ends that begins here. */
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
