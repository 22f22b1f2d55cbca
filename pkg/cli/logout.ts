/** `quillgate logout`: deletes a profile. */

import type { Context } from "./command.js";
import { UsageError } from "./errors.js";
import { DEFAULT_PROFILE, deleteProfile, readProfileName } from "./profile.js";

export async function run(context: Context): Promise<undefined> {
  const { output, host } = context;
  const name = readProfileName(context) ?? DEFAULT_PROFILE;
  if (!(await deleteProfile(host, name))) throw new UsageError(`there is no profile ${name}`);
  if (output.json) await output.printJson({ deleted: name });
  else output.note(`quillgate: profile ${name} is deleted`);
}
