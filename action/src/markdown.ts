/** Writes Markdown for summaries and comments. Escapes text that the action does not control. */

import type { PullRequest } from "quillgate/values";

/** Formats a safe URL as a link, and any other as code. */
export function formatLink({ href, name }: Pick<PullRequest, "href" | "name">): string {
  return href === null ? formatCode(name) : `[${escapeMarkdown(name)}](<${href}>)`;
}

/** Formats the URL of a preview. Only a web address becomes a link. */
export function formatUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === "https:" && url.username === "" && url.password === "";
  return formatLink({ href: isSafe ? url.href : null, name: isSafe ? url.host : text });
}

/** Formats rows of a name and a value, which is Markdown. */
export function formatRows(rows: readonly (readonly [string, string])[]): string {
  const lines = rows.map(([name, value]) => `| ${name} | ${value.replaceAll("|", "\\|")} |`);
  return ["| | |", "| --- | --- |", ...lines].join("\n");
}

export function escapeMarkdown(text: string): string {
  return joinLines(text).replace(/[\\`*_{}[\]<>~@&]/g, "\\$&");
}

/**
 * The maximum length of a reason in a comment. Escaped, ten reasons are below GitHub's limit
 * of 65,536 characters.
 */
const MAX_IN_COMMENT = 1_500;

/** Shortens and escapes Markdown. A zero-width space after each `@` prevents notifications. */
export function escapeComment(text: string): string {
  return escapeMarkdown(shorten(text, MAX_IN_COMMENT)).replaceAll("@", "@\u200b");
}

/** Returns text with at most `length` characters. A note replaces the others. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  // Half of a surrogate pair at the cut would become a replacement character.
  const start = text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
  return `${start}\n… (${text.length} characters in all)`;
}

export function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

export function formatCode(text: string): string {
  const line = joinLines(text);
  const marks = "`".repeat(findLongestRun(line) + 1);
  return marks.length === 1 ? `\`${line}\`` : `${marks} ${line} ${marks}`;
}

/** Formats a code block. Its fence is longer than any run of backticks in the content. */
export function formatBlock(text: string): string {
  const marks = "`".repeat(Math.max(3, findLongestRun(text) + 1));
  return `${marks}text\n${text}\n${marks}`;
}

function findLongestRun(text: string): number {
  return Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
}

function joinLines(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
