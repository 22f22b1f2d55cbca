/**
 * `npm run token -- --sub alice --project demo-docs --scope "jobs:create jobs:read"`: prints an
 * access token for the gateway, like `quillgate token mint` but without a build. Its id and its
 * permissions go to stderr. The secret comes from the variable ACCESS_TOKEN_SECRET or from stdin,
 * because other users of the machine could read an argument.
 */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import {
  describeToken,
  mintFromOptions,
  newSecret,
  SCOPES,
  TokenError,
} from "../pkg/cli/access_token.js";

export { accessClaims, mintToken, newSecret, SCOPES } from "../pkg/cli/access_token.js";

const USAGE = `usage: npm run token -- --sub <name> --project <id> [--project <id>…] --scope "<scope>…"
                        [--ttl 30d] [--jti <id>] [--quota <n> | --quota <policy>=<n>…]
       npm run token -- --new-secret
scopes: ${SCOPES.join(" ")}
The secret is read from ACCESS_TOKEN_SECRET, or from standard input.`;

function readOptions(args) {
  try {
    return parseArgs({
      args,
      options: {
        sub: { type: "string" },
        project: { type: "string", multiple: true },
        scope: { type: "string", multiple: true },
        ttl: { type: "string", default: "30d" },
        jti: { type: "string" },
        quota: { type: "string", multiple: true },
        "new-secret": { type: "boolean" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    // The error repeats only the flag, because a value could be a misplaced secret.
    const flag = /'(-[^'\s=]*)/.exec(error.message)?.[1];
    if (error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION")
      throw new TokenError(`unknown flag ${flag}`);
    if (error.code === "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL") {
      throw new TokenError("an argument belongs to no flag");
    }
    throw new TokenError(`${flag ?? "a flag"} is used wrongly`);
  }
}

function readSecret() {
  const given = process.env.ACCESS_TOKEN_SECRET?.trim();
  if (given !== undefined) return given;
  if (process.stdin.isTTY) {
    throw new TokenError("no secret: set ACCESS_TOKEN_SECRET or pipe it to standard input");
  }
  const piped = readFileSync(0, "utf8").trim();
  if (!piped) throw new TokenError("no secret: ACCESS_TOKEN_SECRET is not set, nothing was piped");
  return piped;
}

/** Returns the output for stdout and, optionally, for stderr. */
async function main(args) {
  const options = readOptions(args);
  if (options.help) return [USAGE];
  if (options["new-secret"]) return [newSecret()];
  const { token, claims } = await mintFromOptions(options, readSecret);
  return [token, describeToken(claims).join("\n")];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    const [result, note] = await main(process.argv.slice(2));
    console.log(result);
    if (note !== undefined) console.error(note);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    console.error(`token: ${error.message}\n\n${USAGE}`);
    process.exitCode = 2;
  }
}
