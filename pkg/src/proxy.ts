/** Reads and checks the proxy of the environment, and makes `fetch` use it. */

type Env = Readonly<Record<string, string | undefined>>;

/** The checked proxies. Empty strings are none. */
export interface Proxies {
  http: string;
  https: string;
  /** The hosts to connect to directly, separated by commas. A leading dot means subdomains. */
  exceptions: string;
}

/** Thrown for an invalid variable. The message names it, and never repeats its value. */
export class ProxyError extends Error {}

/**
 * Reads the proxies of `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY`. Names in lower case take
 * precedence, as in curl and Node.js. Without a proxy of their own, `https:` addresses use that of
 * `http:`, as in Node.js. Returns `undefined` if no request may use a proxy.
 *
 * @throws {ProxyError} if a variable is invalid
 */
export function readProxies(env: Env): Proxies | undefined {
  const hosts = (env.no_proxy?.trim() || env.NO_PROXY || "").split(/[\s,]+/).filter(Boolean);
  if (hosts.includes("*")) return undefined;
  const exceptions = hosts.flatMap((host) => spellIpv6(host) ?? spellName(host));
  const [http = "", https = ""] = ["http_proxy", "https_proxy"].map((name) => {
    const names = [name, name.toUpperCase(), "all_proxy", "ALL_PROXY"];
    const variable = names.find((each) => env[each]?.trim());
    return variable === undefined ? "" : parseProxy(variable, env[variable] as string);
  });
  if (http === "" && https === "") return undefined;
  return { http, https: https || http, exceptions: exceptions.join(",") };
}

/** As in curl, a name includes its subdomains, for which undici 6 needs a dot, and can end with one. */
function spellName(host: string): string[] {
  const name = host.replace(/\.(?=$|:)/, "");
  return /^[.*]/.test(name) ? [name] : [name, `.${name}`];
}

/**
 * Returns the spellings of an IPv6 address that versions of undici compare with that of a URL, which is
 * the shortest; `undefined` for any other host. nodejs/undici#5616
 */
function spellIpv6(host: string): string[] | undefined {
  const [, inBrackets, port = ""] = /^\[(.*)\](:\d+)?$/.exec(host) ?? [];
  const url = `http://[${inBrackets ?? host}]`;
  if (!URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return port === "" ? [hostname.slice(1, -1), hostname] : [hostname + port];
}

function parseProxy(variable: string, value: string): string {
  const text = value.trim();
  const [, scheme = "http"] = /^([a-z][a-z\d+.-]*):\/\//i.exec(text) ?? [];
  if (!/^https?$/i.test(scheme)) {
    const named = /^socks\w*$/i.test(scheme) ? ` ${scheme.toLowerCase()}` : "";
    throw new ProxyError(
      `${variable} names a${named} proxy, which is not supported: set an http or https proxy`,
    );
  }
  const url = text.includes("://") ? text : `http://${text}`;
  if (!isProxyUrl(url)) {
    throw new ProxyError(
      `${variable} is not a proxy's URL, such as http://user:password@proxy.example:3128: ` +
        "percent-encode special characters of the password, such as # as %23",
    );
  }
  return url;
}

function isProxyUrl(text: string): boolean {
  // `URL` ignores tabs and line breaks, and reads a backslash as a slash.
  if (/[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const { username, password, pathname, search, hash } = new URL(text);
  if (pathname !== "/" || search !== "" || hash !== "") return false;
  try {
    // The dispatcher of undici decodes both.
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes `fetch` use proxies.
 *
 * Node.js 24.14 and later can enable them at run time. Some earlier versions can with
 * `NODE_USE_ENV_PROXY=1`.
 *
 * @returns whether the proxies are used
 */
export async function useProxies({ http, https, exceptions }: Proxies, env: Env): Promise<boolean> {
  const { setGlobalProxyFromEnv } = (await import("node:http")) as {
    setGlobalProxyFromEnv?: (env: Env) => void;
  };
  if (setGlobalProxyFromEnv === undefined) {
    const isSupported = process.allowedNodeEnvironmentFlags.has("--use-env-proxy");
    return isSupported && env.NODE_USE_ENV_PROXY === "1";
  }
  setGlobalProxyFromEnv({ http_proxy: http, https_proxy: https, no_proxy: exceptions });
  return true;
}
