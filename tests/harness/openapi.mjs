/**
 * Checks responses of the gateway against the OpenAPI document that it serves. `gateway.mjs`
 * registers each gateway that it starts. Responses to `fetch`, to `node:http` and to the raw client
 * of the gateway's tests are checked automatically. A process with a response that contradicts the
 * document fails at its end.
 */
import { subscribe } from "node:diagnostics_channel";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** The gateway's header fields that the document's introduction describes for all responses. */
const GENERAL_FIELDS = new Set(
  `connection content-encoding content-length content-type date keep-alive strict-transport-security
  transfer-encoding vary x-content-type-options access-control-allow-credentials
  access-control-allow-headers access-control-allow-methods access-control-allow-origin
  access-control-expose-headers access-control-max-age timing-allow-origin`.split(/\s+/),
);
const PROBLEM = "application/problem+json";
const JSON_TYPE = /[/+]json$/;
/** Key of the document in Ajv. */
const ROOT = "openapi";

export class Description {
  #ajv = new Ajv2020({ strict: false, validateSchema: false });
  #paths;
  #validators = new Map();

  constructor(document) {
    this.document = document;
    addFormats(this.#ajv);
    this.#ajv.addSchema(document, ROOT);
    const variables = (path) => path.split("{").length;
    this.#paths = Object.keys(document.paths)
      .sort((a, b) => variables(a) - variables(b))
      .map((path) => [path, new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`)]);
  }

  /** Returns what contradicts the document, one line each. */
  findViolations(response) {
    if (isFromRuntime(response)) return [];
    const found = this.#findPath(response.target);
    if (found === undefined) return this.#checkProblem(response);
    const operation = this.document.paths[found][response.method.toLowerCase()];
    if (operation === undefined) {
      if (response.method === "OPTIONS" && response.status === 204) return [];
      return response.status < 400 ? ["the method is not described"] : this.#checkProblem(response);
    }
    const { status } = response;
    const keys = [String(status), `${Math.floor(status / 100)}XX`, "default"];
    const key = keys.find((candidate) => candidate in operation.responses);
    if (key === undefined) return [`status ${status} is not described`];
    const place = ["paths", found, response.method.toLowerCase(), "responses", key];
    const described = operation.responses[key];
    return [
      ...this.#checkHeaders(described, response),
      ...this.#checkContent(described, place, response),
    ];
  }

  #findPath(target) {
    if (!URL.canParse(target, "http://gateway")) return undefined;
    const { pathname } = new URL(target, "http://gateway");
    return this.#paths.find(([, pattern]) => pattern.test(pathname))?.[0];
  }

  /** Checks that a problem has the schema of its type. */
  #checkProblem({ headers, body }) {
    if (mediaTypeOf(headers) !== PROBLEM || !body) return [];
    return this.#validate(["components", "schemas", schemaName(body)], body);
  }

  #checkHeaders({ headers: described = {} }, { headers }) {
    const lines = [];
    for (const [name, place] of Object.entries(described)) {
      const { schema, required } = this.#resolve(place);
      const values = headers.filter(([other]) => other === name.toLowerCase());
      if (values.length === 0 && required) lines.push(`${name} is missing`);
      if (values.length === 0 || name === "Set-Cookie") continue;
      const text = values.map(([, value]) => value).join(", ");
      const value = schema.type === "integer" ? Number(text) : text;
      if (!this.#ajv.validate(schema, value)) {
        lines.push(`${name}: ${text}: ${this.#ajv.errorsText()}`);
      }
    }
    const names = new Set(Object.keys(described).map((name) => name.toLowerCase()));
    const others = headers.filter(([name]) => !names.has(name) && !GENERAL_FIELDS.has(name));
    return [...lines, ...others.map(([name]) => `${name} is not described`)];
  }

  #checkContent({ content }, place, { method, headers, body }) {
    const type = mediaTypeOf(headers);
    if (method === "HEAD" || content === undefined) {
      return body ? ["the content is not described"] : [];
    }
    if (!(type in content)) return [`content of type ${type} is not described`];
    const isReadable = body !== undefined && !headers.some(isContentEncoding);
    if (!isReadable || !JSON_TYPE.test(type)) return [];
    if (type === PROBLEM) {
      // The errors of one schema are shorter than those of all problems with this status.
      const lines = this.#validate(["components", "schemas", schemaName(body)], body);
      if (lines.length > 0) return lines;
    }
    return this.#validate([...place, "content", type, "schema"], body);
  }

  #resolve(value) {
    if (value.$ref === undefined) return value;
    return value.$ref
      .slice("#/".length)
      .split("/")
      .reduce((place, name) => place[name], this.document);
  }

  #validate(path, body) {
    const pointer = path.map((name) => name.replaceAll("~", "~0").replaceAll("/", "~1")).join("/");
    let validate = this.#validators.get(pointer);
    try {
      validate ??= this.#ajv.compile({ $ref: `${ROOT}#/${encodeURI(pointer)}` });
    } catch (error) {
      return [error.message];
    }
    this.#validators.set(pointer, validate);
    if (validate(JSON.parse(body))) return [];
    return [`${this.#ajv.errorsText(validate.errors)}: ${body.slice(0, 500)}`];
  }
}

/** Returns the name of a problem's schema: `QuotaExceeded` for `/problems/quota-exceeded`. */
function schemaName(body) {
  const kind = String(JSON.parse(body).type).split("/").at(-1);
  return kind.replaceAll(/(?:^|-)(.)/g, (_, letter) => letter.toUpperCase());
}

function mediaTypeOf(headers) {
  const field = headers.find(([name]) => name === "content-type");
  return field?.[1].split(";")[0];
}

/** Whether the runtime rejected a malformed request, which the gateway has not received. */
function isFromRuntime({ status, headers }) {
  const isNamed = headers.some(([name]) => name === "x-request-id");
  return status >= 400 && !isNamed && [undefined, "text/plain"].includes(mediaTypeOf(headers));
}

const isContentEncoding = ([name]) => name === "content-encoding";

const descriptions = new Map();
/** The description of each running gateway, by origin. */
const gateways = new Map();
const violations = new Map();

/** Checks the responses of a gateway from now on. Returns whether it serves its document. */
export async function registerGateway(origin) {
  const response = await fetch(`${origin}/openapi.json`);
  const text = await response.text();
  if (!response.ok || !JSON_TYPE.test(mediaTypeOf([...response.headers]))) return false;
  if (!descriptions.has(text)) {
    const document = JSON.parse(text);
    if (document.openapi === undefined) return false;
    if (descriptions.size === 0) watchClients();
    descriptions.set(text, new Description(document));
  }
  gateways.set(origin, descriptions.get(text));
  return true;
}

export function unregisterGateway(origin) {
  gateways.delete(origin);
}

export function checkResponse(origin, response) {
  const found = gateways.get(origin)?.findViolations(response) ?? [];
  const { method, target, status } = response;
  for (const line of found) {
    const [path] = target.split("?");
    violations.set(
      `${method} ${path}, ${status}: ${line.slice(0, 80)}`,
      `${method} ${target}, ${status}: ${line}`,
    );
  }
}

/**
 * Checks all responses to `fetch`, and the heads of all responses to `node:http`. A violation fails
 * the process at its end, because an exception could look like an error of the network to a client
 * that repeats requests.
 */
function watchClients() {
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    checkFetched(init?.method ?? input.method ?? "GET", response);
    return response;
  };
  subscribe("http.client.response.finish", ({ request, response }) => {
    const { method, path: target, host } = request;
    const headers = pairsOf(response.rawHeaders);
    const origin = `http://${host}:${response.socket?.remotePort}`;
    checkResponse(origin, { method, target, status: response.statusCode, headers });
  });
  process.on("exit", () => {
    if (violations.size === 0) return;
    console.error(["responses contradict /openapi.json:", ...violations.values()].join("\n  "));
    process.exitCode = 1;
  });
}

/** Reads a copy of a body only if it is JSON: a stream may never end. */
async function checkFetched(method, response) {
  if (!URL.canParse(response.url) || response.redirected) return;
  const { origin, pathname, search } = new URL(response.url);
  if (!gateways.has(origin)) return;
  const headers = [...response.headers];
  const text = JSON_TYPE.test(mediaTypeOf(headers)) ? response.clone().text() : undefined;
  // The client may cancel the body.
  const body = await text?.catch(() => undefined);
  const [target, { status }] = [pathname + search, response];
  checkResponse(origin, { method: method.toUpperCase(), target, status, headers, body });
}

function pairsOf(rawHeaders) {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return names.map((name, index) => [name.toLowerCase(), rawHeaders[2 * index + 1]]);
}
