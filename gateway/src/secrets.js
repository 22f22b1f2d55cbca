/**
 * The gateway's secrets, which do not belong among the variables of a configuration: that is a file
 * of a repository.
 *
 * This is JavaScript, since the repository's own check needs it before anything is compiled.
 */

/** What docs/deploy.md calls a secret and nothing else. */
export const SECRETS = Object.freeze([
  "ADMIN_API_KEY",
  "ADMIN_READ_KEY",
  "ACCESS_TOKEN_SECRET",
  "WEBHOOK_SECRET",
  "TURNSTILE_SECRET",
  "SIGN_IN_CLIENT_SECRET",
]);

/**
 * Finds secrets among variables, and says where they belong; never a value.
 *
 * @param {Record<string, unknown>} vars those of one environment
 * @param {string} file the configuration's name
 * @param {string} [env] the environment, unless it is the top level
 * @returns {{ name: string, message: string }[]}
 */
export function findSecrets(vars, file, env) {
  const place = env === undefined ? file : `[env.${env}.vars] of ${file}`;
  const flag = env === undefined ? "" : ` --env ${env}`;
  return SECRETS.filter((name) => Object.hasOwn(vars, name)).map((name) => ({
    name,
    message: `is a secret: take it out of ${place} and use wrangler secret put ${name}${flag}`,
  }));
}
