/** `quillgate token mint`: signs an access token, or prints a new secret. */

import {
  describeToken,
  mintFromOptions,
  newSecret,
  summarizeToken,
  TokenError,
} from "./access_token.js";
import { type Context, readList, readSwitch, readText } from "./command.js";
import { UsageError } from "./errors.js";
import { readSecret } from "./standard_input.js";
import { toLine } from "./table.js";

export async function run(context: Context): Promise<undefined> {
  const { output } = context;
  if (readSwitch(context, "new-secret")) {
    const secret = newSecret();
    await (output.json ? output.printJson({ secret }) : output.print(secret));
    return;
  }
  const { token, claims } = await mint(context);
  if (output.json) {
    await output.printJson({ token, ...summarizeToken(claims) });
    return;
  }
  await output.print(token);
  for (const line of describeToken(claims)) output.note(toLine(line));
}

async function mint(context: Context): ReturnType<typeof mintFromOptions> {
  const options = Object.fromEntries([
    ...["sub", "jti", "ttl"].map((name) => [name, readText(context, name)]),
    ...["project", "scope", "quota"].map((name) => [name, readList(context, name)?.slice()]),
  ]);
  try {
    return await mintFromOptions({ ttl: "30d", ...options }, () =>
      readSecret(context.host, "ACCESS_TOKEN_SECRET"),
    );
  } catch (error) {
    if (error instanceof TokenError) throw new UsageError(error.message);
    throw error;
  }
}
