/**
 * Finds secrets among the variables of a wrangler configuration. The file is committed, so it must
 * not contain secrets.
 *
 * This file is JavaScript because the repository's own check imports it before anything is compiled.
 */

/** The variables that docs/deploy.md allows only as secrets. */
export const SECRETS = Object.freeze([
  "ADMIN_API_KEY",
  "ADMIN_READ_KEY",
  "ACCESS_TOKEN_SECRET",
  "WEBHOOK_SECRET",
  "TURNSTILE_SECRET",
  "SIGN_IN_CLIENT_SECRET",
]);

/**
 * Finds secrets among variables. The messages explain how to move them, and never contain a value.
 *
 * @param {Record<string, unknown>} vars the variables of one environment
 * @param {string} file the name of the configuration file
 * @param {string} [env] the environment; omitted for the top level
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
