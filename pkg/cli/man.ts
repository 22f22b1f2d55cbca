/** Generates the man page from the declarations of the commands. */

import type { Command, Option } from "./command.js";
import { COMMANDS } from "./commands.js";
import { EXIT_CODES } from "./exit_codes.js";
import { writeOption, writeUsage } from "./help.js";
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from "./shared_options.js";
import { readVersion } from "./version.js";

/** Returns the man page `quillgate(1)`, written with the macros of man(7). */
export function writeManPage(): string {
  const lines = [
    `.TH QUILLGATE 1 "" "quillgate ${readVersion()}" "User Commands"`,
    ".SH NAME",
    "quillgate \\- agent jobs and analytics of Mintlify from the command line",
    ".SH SYNOPSIS",
    ".B quillgate",
    "\\fICOMMAND\\fR [\\fIFLAGS\\fR]",
    ".SH DESCRIPTION",
    "Settings come from flags, QUILLGATE_* variables, a settings file or a profile, in that order. " +
      "No flag takes a secret. Results go to stdout, everything else to stderr.",
    ".SH COMMANDS",
    ...COMMANDS.flatMap(writeCommand),
    ".SH CONNECTION FLAGS",
    ...writeOptions(CONNECTION_OPTIONS),
    ".SH COMMON FLAGS",
    ...writeOptions(COMMON_OPTIONS),
    ".SH EXIT STATUS",
    ...Object.values(EXIT_CODES).flatMap(([code, meaning]) => writeTerm(String(code), meaning)),
    ".SH FILES",
    ...writeTerm("~/.config/quillgate/config.json", "The user's settings file."),
    ...writeTerm("~/.config/quillgate/profiles/", "The profiles that quillgate login stores."),
  ];
  return `${lines.join("\n")}\n`;
}

function writeCommand(command: Command): string[] {
  const { summary, description = [], arguments: args, options, examples } = command;
  return [
    `.SS ${escapeRoff(writeUsage(command))}`,
    ...[summary, ...description].flatMap((paragraph) => [".PP", escapeRoff(paragraph)]),
    ...args.flatMap((argument) => writeTerm(argument.name, argument.summary)),
    ...writeOptions(options),
    ...examples.flatMap(({ text, line }) => [
      ".PP",
      `${escapeRoff(text)}:`,
      ".PP",
      ".RS 4",
      ".EX",
      escapeRoff(line),
      ".EE",
      ".RE",
    ]),
  ];
}

function writeOptions(options: Readonly<Record<string, Option>>): string[] {
  return Object.entries(options).flatMap((option) => writeTerm(...writeOption(option)));
}

function writeTerm(term: string, text: string): string[] {
  return [".TP", `\\fB${escapeRoff(term)}\\fR`, escapeRoff(text)];
}

/** Escapes the characters that roff interprets, and removes backticks. */
function escapeRoff(text: string): string {
  const escaped = text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("`", "")
    .replaceAll("~", "\\(ti")
    .replaceAll("'", "\\(aq");
  return escaped.replace(/^\./, "\\&.");
}
