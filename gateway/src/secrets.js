/**
 * Finds secrets in a wrangler configuration. Users commit that file, so a secret there leaks.
 *
 * Written in JavaScript, because the command line's tests import it without the gateway's build.
 */

/** The variables that must be secrets, as in docs/reference/configuration.md. */
export const SECRETS = Object.freeze([
  "ADMIN_API_KEY",
  "ADMIN_READ_KEY",
  "ACCESS_TOKEN_SECRET",
  "WEBHOOK_SECRET",
  "SIGN_IN_CLIENT_SECRET",
  "GITHUB_TOKEN",
]);

/**
 * Returns a problem for each secret. The message explains how to move the secret, but never
 * contains its value.
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
