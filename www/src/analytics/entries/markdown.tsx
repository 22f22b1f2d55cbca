/**
 * Renders Markdown that readers can influence. Tokens become elements of a fixed set, and
 * everything else becomes text, so no HTML of the source reaches the document.
 */
import { Lexer, type MarkedToken, type Token, Tokenizer, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import * as styles from "./markdown.module.css";
import { OutsideLink } from "./outside_link.tsx";

/** Longer sources stay text, because parsing time can grow faster than the length. */
const MAX_LENGTH = 20_000;
/** Sources with more marks stay text. The parser takes quadratic time to pair them. */
const MAX_EMPHASIS_MARKS = 1000;
/** Deeper nesting stays text. */
const MAX_DEPTH = 12;
/** The parser recurses for each quotation mark and list marker in a line. */
const DEEP_NESTING = new RegExp(
  `^[ \\t]*(?:>[ \\t]*|(?:[*+-]|\\d{1,9}[.)])[ \\t]+){${MAX_DEPTH + 1}}`,
  "m",
);

/** `*` or `**` around text on one line. */
const EMPHASIS = /^(\*\*?)(?![\s*])([^*\n]*[^*\s])\1(?!\*)/;
const EAST_ASIAN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]/u;

/** CommonMark needs spaces around emphasis that ends with punctuation. East Asian text has none. */
class SpacelessTokenizer extends Tokenizer {
  override emStrong(source: string, masked: string, before = "") {
    const token = super.emStrong(source, masked, before);
    if (token) return token;
    const [raw = "", mark, text = ""] = EMPHASIS.exec(source) ?? [];
    const neighbours = before.slice(-1) + text + source.charAt(raw.length);
    if (raw === "" || !EAST_ASIAN.test(neighbours)) return undefined;
    const inside = { raw, text, tokens: this.lexer.inlineTokens(text) };
    return mark === "**"
      ? { type: "strong" as const, ...inside }
      : { type: "em" as const, ...inside };
  }
}

export function renderMarkdown(source: string): ComponentChildren {
  if (isCostly(source)) return <p class={styles.plain}>{source}</p>;
  return renderTokens(new Lexer({ gfm: true, tokenizer: new SpacelessTokenizer() }).lex(source), 0);
}

function isCostly(source: string): boolean {
  if (source.length > MAX_LENGTH || DEEP_NESTING.test(source)) return true;
  return (source.match(/[*_]/g)?.length ?? 0) > MAX_EMPHASIS_MARKS;
}

function renderTokens(tokens: readonly Token[], depth: number): ComponentChildren {
  return tokens.map((token) => renderToken(token as MarkedToken, depth));
}

function renderToken(token: MarkedToken, depth: number): ComponentChildren {
  if (depth >= MAX_DEPTH) return token.raw;
  const inside = () => renderTokens(("tokens" in token && token.tokens) || [], depth + 1);
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "paragraph":
      return <p>{inside()}</p>;
    case "heading":
      // One level for all, because the source may skip levels.
      return <h4>{inside()}</h4>;
    case "blockquote":
      return <blockquote>{inside()}</blockquote>;
    case "code":
      return (
        <pre>
          <code>{token.text}</code>
        </pre>
      );
    case "hr":
      return <hr />;
    case "list":
      return renderList(token, depth);
    case "table":
      return renderTable(token, depth);
    case "strong":
      return <strong>{inside()}</strong>;
    case "em":
      return <em>{inside()}</em>;
    case "del":
      return <del>{inside()}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "link":
      return <OutsideLink url={decode(token.href)}>{inside()}</OutsideLink>;
    case "image":
      // A link, because loading an image tells its server that someone reads the answer.
      return <OutsideLink url={decode(token.href)}>{decode(token.text || token.href)}</OutsideLink>;
    case "text":
      return token.tokens ? inside() : decode(token.text);
    case "escape":
      return token.text;
    default:
      return token.raw;
  }
}

function renderList({ ordered, start, items }: Tokens.List, depth: number): ComponentChildren {
  const entries = items.map(({ tokens }) => <li>{renderTokens(tokens, depth + 1)}</li>);
  return ordered ? <ol start={start === "" ? 1 : start}>{entries}</ol> : <ul>{entries}</ul>;
}

function renderTable({ header, rows }: Tokens.Table, depth: number): ComponentChildren {
  return (
    <table>
      <thead>
        <tr>
          {header.map(({ tokens }) => (
            <th scope="col">{renderTokens(tokens, depth + 1)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells) => (
          <tr>
            {cells.map(({ tokens }) => (
              <td>{renderTokens(tokens, depth + 1)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};

/** Decodes six common entities and numeric ones. The result is text too, never HTML. */
function decode(text: string): string {
  return text.replace(
    /&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7}|[Xx][\dA-Fa-f]{1,6}));/g,
    (_, name, code) => ENTITIES[name] ?? characterOf(Number(`${code}`.replace(/^x/i, "0x"))),
  );
}

function characterOf(code: number): string {
  const isValid = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isValid ? String.fromCodePoint(code) : "\ufffd";
}
