/**
 * Lists every command of `quillgate`. The help, the man page, `docs/reference/cli.md` and the
 * completion scripts are generated from these declarations.
 */

import type { Command } from "./command.js";
import { DEPLOYMENT_COMMANDS } from "./deployment_commands.js";
import { ARCHIVE_COMMANDS, GATEWAY_COMMANDS } from "./gateway_commands.js";
import { JOB_COMMANDS } from "./job_commands.js";
import { PROGRAM_COMMANDS } from "./program_commands.js";
import { makeReportCommands, STATS } from "./report_commands.js";

const covered = ARCHIVE_COMMANDS.flatMap(({ operations = [] }) => operations);

export const COMMANDS: readonly Command[] = [
  ...JOB_COMMANDS,
  ...DEPLOYMENT_COMMANDS,
  STATS,
  ...makeReportCommands(covered),
  ...ARCHIVE_COMMANDS,
  ...GATEWAY_COMMANDS,
  ...PROGRAM_COMMANDS,
];
