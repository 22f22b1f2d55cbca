// Made by scripts/action.mjs from action/src and the npm package quillgate: do not edit.

// action/src/cancellation.ts
var SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143, SIGBREAK: 149 };
var controller = new AbortController();
for (const [name, code] of Object.entries(SIGNAL_CODES)) {
  process.on(name, () => {
    if (controller.signal.aborted) process.exit();
    process.exitCode = code;
    controller.abort(new Error("the step was cancelled"));
  });
}
var cancellation = controller.signal;

// pkg/dist/proxy.js
var ProxyError = class extends Error {
};
function readProxies(env) {
  const hosts = (env.no_proxy?.trim() || env.NO_PROXY || "").split(/[\s,]+/).filter(Boolean);
  if (hosts.includes("*"))
    return void 0;
  const exceptions = hosts.flatMap((host) => spellIpv6(host) ?? spellName(host));
  const [http = "", https = ""] = ["http_proxy", "https_proxy"].map((name) => {
    const names = [name, name.toUpperCase(), "all_proxy", "ALL_PROXY"];
    const variable2 = names.find((each) => env[each]?.trim());
    return variable2 === void 0 ? "" : parseProxy(variable2, env[variable2]);
  });
  if (http === "" && https === "")
    return void 0;
  return { http, https: https || http, exceptions: exceptions.join(",") };
}
function spellName(host) {
  const name = host.replace(/\.(?=$|:)/, "");
  return /^[.*]/.test(name) ? [name] : [name, `.${name}`];
}
function spellIpv6(host) {
  const [, inBrackets, port = ""] = /^\[(.*)\](:\d+)?$/.exec(host) ?? [];
  const url = `http://[${inBrackets ?? host}]`;
  if (!URL.canParse(url))
    return void 0;
  const { hostname } = new URL(url);
  return port === "" ? [hostname.slice(1, -1), hostname] : [hostname + port];
}
function parseProxy(variable2, value2) {
  const text4 = value2.trim();
  const [, scheme = "http"] = /^([a-z][a-z\d+.-]*):\/\//i.exec(text4) ?? [];
  if (!/^https?$/i.test(scheme)) {
    const named = /^socks\w*$/i.test(scheme) ? ` ${scheme.toLowerCase()}` : "";
    throw new ProxyError(`${variable2} names a${named} proxy, which is not supported: set an http or https proxy`);
  }
  const url = text4.includes("://") ? text4 : `http://${text4}`;
  if (!isProxyUrl(url)) {
    throw new ProxyError(`${variable2} is not a proxy's URL, such as http://user:password@proxy.example:3128: percent-encode special characters of the password, such as # as %23`);
  }
  return url;
}
function isProxyUrl(text4) {
  if (/[\s\\\p{Cc}]/u.test(text4) || !URL.canParse(text4))
    return false;
  const { username, password, pathname, search, hash } = new URL(text4);
  if (pathname !== "/" || search !== "" || hash !== "")
    return false;
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}
async function useProxies({ http, https, exceptions }, env) {
  const { setGlobalProxyFromEnv } = await import("node:http");
  if (setGlobalProxyFromEnv === void 0) {
    const isSupported = process.allowedNodeEnvironmentFlags.has("--use-env-proxy");
    return isSupported && env.NODE_USE_ENV_PROXY === "1";
  }
  setGlobalProxyFromEnv({ http_proxy: http, https_proxy: https, no_proxy: exceptions });
  return true;
}

// action/src/idempotency.ts
import { createHash } from "node:crypto";
var STEP = [
  ...["GITHUB_SERVER_URL", "GITHUB_REPOSITORY_ID", "GITHUB_REPOSITORY", "GITHUB_WORKFLOW_REF"],
  ...["GITHUB_WORKFLOW", "GITHUB_RUN_ID"]
];
function deriveJobKey(env, prompt) {
  const { GITHUB_RUN_ID: run3 = "", GITHUB_RUN_ATTEMPT: attempt = "" } = env;
  const names = [...STEP, "GITHUB_RUN_ATTEMPT", "GITHUB_JOB", "GITHUB_ACTION"];
  return `github-${run3}-${attempt}-${digest([...names.map((name) => env[name] ?? ""), prompt])}`;
}
function deriveStartKey(env, parts) {
  const names = [...STEP, "GITHUB_JOB", "GITHUB_ACTION"];
  const values = names.map((name) => env[name] ?? "");
  return `github-${env.GITHUB_RUN_ID ?? ""}-${digest([...values, ...parts])}`;
}
function derivePreviewKey(jobId, branch) {
  return `github-preview-${digest([jobId, branch])}`;
}
function digest(parts) {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

// action/src/markdown.ts
function formatLink({ href, name }) {
  return href === null ? formatCode(name) : `[${escapeMarkdown(name)}](<${href}>)`;
}
function formatUrl(text4) {
  const url = URL.canParse(text4) ? new URL(text4) : void 0;
  const isSafe = url?.protocol === "https:" && url.username === "" && url.password === "";
  return formatLink({ href: isSafe ? url.href : null, name: isSafe ? url.host : text4 });
}
function formatRows(rows) {
  const lines = rows.map(([name, value2]) => `| ${name} | ${value2.replaceAll("|", "\\|")} |`);
  return ["| | |", "| --- | --- |", ...lines].join("\n");
}
function escapeMarkdown(text4) {
  return joinLines(text4).replace(/[\\`*_{}[\]<>~@&]/g, "\\$&");
}
var MAX_IN_COMMENT = 1500;
function escapeComment(text4) {
  return escapeMarkdown(shorten(text4, MAX_IN_COMMENT)).replaceAll("@", "@​");
}
function shorten(text4, length) {
  if (text4.length <= length) return text4;
  const start2 = text4.slice(0, length).replace(/[\ud800-\udbff]$/, "");
  return `${start2}
… (${text4.length} characters in all)`;
}
function capitalize(text4) {
  return text4.slice(0, 1).toUpperCase() + text4.slice(1);
}
function formatCode(text4) {
  const line = joinLines(text4);
  const marks = "`".repeat(findLongestRun(line) + 1);
  return marks.length === 1 ? `\`${line}\`` : `${marks} ${line} ${marks}`;
}
function formatBlock(text4) {
  const marks = "`".repeat(Math.max(3, findLongestRun(text4) + 1));
  return `${marks}text
${text4}
${marks}`;
}
function findLongestRun(text4) {
  return Math.max(0, ...Array.from(text4.matchAll(/`+/g), ([run3]) => run3.length));
}
function joinLines(text4) {
  return text4.replace(/\s+/g, " ").trim();
}

// pkg/dist/byte_text.js
var ONE_CHARACTER_BYTES = 90;
var DIGITS = 92;
var FIRST = 35;
var BACKSLASH = 92;
var EXCLAMATION_MARK = 33;
function decodeBytes(text4) {
  const bytes = new Uint8Array(text4.length);
  let length = 0;
  let from = 0;
  for (let at = 0; at < text4.length; at++) {
    const code = text4.charCodeAt(at);
    const digit = (code === EXCLAMATION_MARK ? BACKSLASH : code) - FIRST;
    if (from === 0 && digit >= ONE_CHARACTER_BYTES) {
      from = ONE_CHARACTER_BYTES + (digit - ONE_CHARACTER_BYTES) * DIGITS;
    } else {
      bytes[length++] = from + digit;
      from = 0;
    }
  }
  return bytes.subarray(0, length);
}

// pkg/dist/opaque_failure.js
var OPAQUE = /^(Failed to fetch|NetworkError when attempting|Load failed)/;
var PROXY_LOGIN = "set its user and password in the proxy variable, percent-encoded";
function explainOpaque(error, { host, origin }, page = globalThis.location?.origin) {
  const code = findCode(error);
  const isOpaque = listCauses(error).some(({ message }) => OPAQUE.test(String(message)));
  const isCrossOrigin = isOpaque && page !== void 0 && page !== origin;
  return {
    reason: isCrossOrigin ? "cors" : "interrupted",
    summary: `no answer from ${host}: the connection failed or broke${code ? ` (${code})` : ""}`,
    advice: isCrossOrigin ? `its ALLOWED_ORIGINS must contain ${page}` : "",
    sent: "maybe",
    canRetry: true
  };
}
function findCode(error) {
  const codes = listCauses(error).map(({ code }) => code);
  return codes.find((code) => typeof code === "string" && code !== "");
}
function listCauses(error) {
  const chain = [];
  let next = error;
  while (typeof next === "object" && next !== null && chain.length < 10) {
    chain.unshift(next);
    next = next.cause ?? next.errors?.[0];
  }
  return chain;
}
function explainResponse({ status, headers }, body) {
  const location = headers.get("location");
  if (status >= 300 && status <= 399 && location) {
    const target = URL.canParse(location) ? new URL(location).origin : location.split(/[?#]/, 1)[0];
    return {
      reason: "redirect",
      summary: `a redirect to ${target}, which is not followed`,
      advice: "if you trust it, set it as the base URL"
    };
  }
  if (status === 407) {
    return { reason: "proxy", summary: "the proxy requires credentials", advice: PROXY_LOGIN };
  }
  const ray = headers.get("cf-ray");
  const isHtml = /^text\/html/i.test(headers.get("content-type") ?? "");
  const isBlocked = headers.get("cf-mitigated") || status === 403 && ray && isHtml;
  if (!isBlocked || body !== void 0)
    return void 0;
  return {
    reason: "blocked",
    summary: `Cloudflare blocked the request before it reached the server (ray ${ray})`,
    advice: "ask the server's operator to allow this client"
  };
}

// pkg/dist/connection_failure.js
var ADDRESS = "check the address, the network and the proxy";
var TLS = "is the address http? does the server need a client certificate?";
var AUTHORITY = "if its authority is a company's, set NODE_EXTRA_CA_CERTS to a file with the authority's certificate";
var FAILURES = [
  [/\b(ENOTFOUND|EAI_\w+|dns error)/, "dns", "cannot be resolved"],
  [/ECONNREFUSED|Connection ?[Rr]efused/, "refused", "refuses connections"],
  [/connect E(HOST|NET)|EADDRNOTAVAIL/, "unreachable", "cannot be reached from here"],
  [/_CONNECT_TIMEOUT|connect ETIMEDOUT/, "unreachable", "does not take connections"],
  [/before secure TLS/, "unreachable", "closed the connection before TLS"],
  [/bad port/, "port", "is at a port that fetch does not use", "use another port"],
  [/SSL_(WRONG|UNS|PACKET|HTTP)|_ALERT_(?!BAD)|EPROTO/, "tls", "refuses this TLS handshake", TLS],
  [/CERT_HAS_EXPIRED/, "certificate", "has an expired certificate", "check the clock"],
  [/CERT_NOT_Y/, "certificate", "has a certificate that is not valid yet", "check the clock"],
  [/ALTNAME|HOSTNAME_MISM|NotValidForName/, "certificate", "has a certificate for another name"],
  [/CERT|UNABLE_TO_|UnknownIssuer/, "certificate", "has an untrusted certificate", AUTHORITY],
  [/HPE_|HTTPParserError/, "protocol", "does not answer with HTTP"]
];
var FINAL = ["port", "certificate", "tls"];
var REFUSED_TUNNEL = /Proxy response \((\d+)\)|\bERR_PROXY_TUNNEL\b(?:.*?HTTP\/[\d.]+ (\d+))?/s;
function explainConnection(error, server, page) {
  const chain = listCauses(error);
  const { host } = server;
  const code = findCode(error);
  const shown = code === void 0 ? "" : ` (${code})`;
  for (const cause of chain) {
    const text4 = [cause.code, cause.name, cause.message].map(String).join(" ");
    const tunnel = REFUSED_TUNNEL.exec(text4);
    if (tunnel !== null)
      return explainTunnel(Number(tunnel[1] ?? tunnel[2]), host);
    const row = FAILURES.find(([pattern]) => pattern.test(text4));
    if (row === void 0)
      continue;
    const [, reason, words, advice = ADDRESS] = row;
    const proxy = findProxy(cause, server);
    return {
      reason: proxy === void 0 ? reason : "proxy",
      summary: `${proxy ?? host} ${words}${shown}`,
      advice: proxy === void 0 ? advice : "check the proxy variables, such as HTTPS_PROXY",
      sent: reason === "protocol" ? "maybe" : "no",
      canRetry: !FINAL.includes(reason)
    };
  }
  return explainOpaque(error, server, page);
}
function explainTunnel(status, host) {
  const [words, advice] = status === 407 ? ["requires credentials to connect", PROXY_LOGIN] : ["does not connect", "ask the proxy's operator, or exclude the host in NO_PROXY"];
  const summary = `the proxy ${words} to ${host} (${status || "no status"})`;
  return { reason: "proxy", summary, advice, sent: "no", canRetry: status >= 500 };
}
function findProxy({ hostname, address, port, message }, server) {
  const attempted = /attempted address(?:es)?: ([^\s,]+)/.exec(String(message))?.[1];
  const expected = server.port || (server.protocol === "https:" ? "443" : "80");
  if (typeof hostname === "string" && hostname !== server.hostname)
    return `the proxy ${hostname}`;
  if (attempted !== void 0 && !attempted.endsWith(`:${expected}`))
    return `the proxy ${attempted}`;
  if (port === void 0 || String(port) === expected || address === void 0)
    return void 0;
  return `the proxy ${address}:${port}`;
}

// pkg/dist/core_text.js
var text = "#}*}<}6$###$~B$B})%}H}H#})$}H#})&}H}H}H#})'}H}H}H}H#})%}H}H$}H})&}H}H}H$}H})%}H}G#})(}H}H}H}H}H#})$}H$}H})'}H}H}H}H$}H})&}H}H}G#})(}H}H}H}H}H$}H})#$}E})(}H}H}H}E}E$}H})(}H}H}H}G}E#})#$}H})'}H}H}H}G#}))}H}H}H}H}H}H#})'}H}G}G}G#})(}H}H}G}G}E#})&}H}G}G#})(}H}H}H}H}G#})(}H}H}H}G}G#})*}H}H}H}G}G}G}E#})(}H}H}G}G}H#})&}H}G}H#})&}G}E}E$}G})%}H}G$}G})%}H}H$}G})(}H}H}H}G}H#})'}H}G}H}H#%}q%)/QR},}8};}.}(}+}0Q}3}<J}(}(}@}+}0}(}(}(}@}+}2}7}-}0}.}7}(}=}1};}8}@}(W},[[}-[}+}/UYW}/}-![W##/QR},}8};}.}(}+}0Q}3}<>}(}(}@}+}0}(}.}6}2}=}(VT}-},V[U}-}+[}.SSS[!#&/QR},}8};}.}(}+}0Q}3}<>}(}(}@}+}0}(}=}.}A}=}(},S},}*}*}+}*}*S}+W}.}+X}.}-#$/QR},}8};}.}(}+}0Q}3}<>}(}(}@}+}0}(};}.}*}-}(ZS}.}/Z}.}/}.TU[[}-}*}*W#(YQR}<}7}2}9}9}.}=}<R}:}>}2}5}5}0}*}=}.P}@}*}<}6PV[}/},TS}-}*}*}-VS!},S}-R}<};},R}1}8}<}=Q}3}<)}7}>}6}+}.};#//QR},}8};}.}(}+}0Q}3}<B}(}(}@}+}0}(};}.}*}-q}*}6}.}(X}+XZ}+SZ}.}-TT[S[}*}/#'&}a$}_$012-'#%$)3+*4)%%&$'-%%'##)5%(&%&#*.&&$%(#6+&*%(7&&8&#%#%*&#%+%(#(9(#%#&%&).',&:;&',<&#$%*&#()',=$,$#%>,##?)%$)#$$*#'+'*@$$$##$$$%A''$$#$'%##&#+#$$$#'&(&$#4)<&}H$d}I}I~-#.}H#d}u}~~-#.}H#d~-}~~-#.*}p$-)}6}.}6}8};}B%#2}(}(}@}+}0}(}=}*}<}4}(}/};}.}.#n.},}1}.},}4f}5}2}.}7}=#++}=}*}<}4}(}7}.}@#P,}=}*}<}4}(}<}=}.}9#)2}(}(}*}+}8};}=}(}1}*}7}-}5}.};&$8}(}(}2}7}<}=}*}7},}.}(}=}.};}6}2}7}*}=}.}-&%4}(}(}@}+}2}7}-}0}.}7}(}6}*}5}5}8},#t5}(}(}@}+}2}7}-}0}.}7}(};}.}*}5}5}8},#{2}(}(}@}+}2}7}-}0}.}7}(}/};}.}.#}X$/$o-}m}a%}_$~Za%6}H*}GF#d~M)}4E(G#%cC#h'cd>D#d~*}L~-#D)/$.C#K%#'cd~<#D#d~[}K~-#D)/$.C#d}HY%#C#d+}4E)C)K%#d$}3E,Y%#%c%c%c%c%c%c%c%c%c%c%c%c%cC,'cC(C#Y%}9C(C#d+}3Y%}5C(C)Y%}=C(C)Y%}I$C(C(L%}5E;Z&}AC&~i*D=C;}pD+%cC$d-p'cC$h0$C+L&#e%u0&/1.C+L&#e%t00d.D0/*.C(d}P}I}I}I}AY%}a&C(d$]#}e&d(D4C+K%}y$E#d'p'cC#d'i0&C#P#~K}NcD4.C+P#}}$E)d<i0'd#D#C)3}]$D$%c&cd$C#3(h0$C(d~%&}3E%3}/C$C(K%~)&C(K%~-&3k'cC#d$}3D#C%3}_$/$..C(K%~%&E#d}I}I}I}I}Ai0#C(L%~)&D;C(C#Y%}q&C(C;Z%}u&C(d#Y%~M(C(e}I}I}I}I3Z%~E(C(d~E(}3E#C;}pC;eC}Q}p3E=C(d8Y%}Q(C(d#Y%~-&C(e}I}I}I}I;Z%~%&C#C(d}Q(}3C(d~%&}33iD*C(d}q&}33}_$/'.C(d~%&}3E#C$K%KE,3}7C#C(K%~-&C,d'd/3}EC(K%~-&D#C,'cC#C,}3C(K%~)&C#d/}5}3D#C,D)&cC#d}I}I}I}I}AY%#C#d/}3D#C)d$}4E)0#.D#.C(C(L%~%&Z&}Q(C(C#Y%}Y(C#C,C#C,l>D7C(C$Y%}](C$K%GD8d#D$C(K%}U(D5%}H&c%c%c%c%}H%c%c%c%c%c%}H%cC$C7j'cC(d~%&}3C(d}a&}3C8C$d(}=}3E,K%3E9C,K%7E:3F%}HC(K%~%&d}P}I}I}I}Aj'cC(C(L&~-&Z&~M(C(C(L&~%&E;Z&~E(C;}p/$.C(d,Y%~M(C(d}X}}~-#Y%~I(C(d}O}I}I}I}AY%~E(d}O}I}I}I}A.d}I}I}I}I}Ai'cC(d~E(}33};d}I}I}I}I}AD)C(K%~I'D*//.C,K%7D1C,K%3D2d}q}x~-#D#%c%c%cC,K%#E%d'}41%$%#.C(d}y)}3C2C1C(d~E(}33HC(K%}y)d}I}I}I}I}Ai'cC(K%}})D#//.C(C1Y%~i'C(C2Y%~e'%c%c%c%c%c%c%c%cC(d~e'}3d}}}O~-#3}Q$h'cC(C(K%~%)Y%~E)C(C(L%}y)Z&~=)C%d$}41*+%&11'($.C(d~=)}3C(d}y)}33.C%d$}41**(%00&'#.C(K%~E)'cC(C(K%~E)Y%~]'C(C(L&~=)Z&~U'/1.C(d%Y%~%&C2C1C(d~%&}3d~@}y~-#d-3s/4.C(K%~E)D.C(K%~A)D0/'.C(d~%&}3C(K%~A)E0C(K%~E)E.3/C(K%~%&h0-C(K%~)&E%d<i0-C(L&~-&E;eC}Q}pD3C;}pD//1.C,K%+D3C,K%'D/C(C(K%~E)E.Y%~)&C(C(K%~A)E0Y%~%&C/C3C(d~%&}33}*0,//.C,K%+E3d&}=D6C,K%'D/d#D%C(K%~E)E.D*C(K%~A)E0D)&cC%d$}:0,d#D#%}H&cC#C*iE%'cC*D#C)/%.C#C)}3E-P##dOj'cC#d$}3D#/$..C#d}H}<C*}3D*C-d$}3.C(C#Y%}M(C(C)Y%}I(C6D#C/D)&cC#h00C(C)L%#Z%~%&C#d+}4D#C)d+}3D)C(d~%&}3C(d}I(}33}Bh0#.D)/#.#.C(d~M#}3C(K%~A)E0C(K%~E)E.d~)}O~-#d(3}@C(K%})E#0(.C.D#C0/(.C(d~U'}3C2C1C(d~=)}339/).C,K%'D#.C(d~%&}3C2C1C(d~E(}3C#34C(K%~%&d$i'cC(C(K%~)&Y%~I'C(d}J}I}I}I}AY%~E'/..C(d~E'}3C(L&~-&3}+/-.C(d~E#}3C(d}Q(}3E%d~(}J~-#d+3ZC(K%}%D)C(K%{D#C(d~=#}3C%d~0}J~-#d)3Z%cC#h0#C(K%sE$h0#C(K%wD,C(d~E(}3C#C)3/C(d~%&}3C$C,3/C(K%~E(0#C(K%~%&0#C(L&~M(C(L&~-&u0#C(L&~U(C(L&~5&v0#C#C)3},/0.C(d~%&}3E%C(d}Q(}3E#d~;}V~-#d'3}#%cC(L&~%&e$t'cC(L&~-&D<C(d~5#}3C#d~5}V~-#d)3Z%cC(K%kh'cC%C#d}f}M~-#d(3}#%}GC(K%~%&'cC(L&~-&/$.C(d~%&}3C(d}Q(}33}6C(L&~-&e#C(K%~%&>.D;C<s0&C(dS}3e$C;C;e${>C<e$}FE<3XC(L&[e#u0&C(d~%&}3C;C<}G3rC(K%~%&d$j0$C(K%~)&/3.C(d*Y%~%&d~;}V~-#d'C(d~%&}3d$d#3s/2.C(L&~-&D;C(d}Q(}3E#d~;}V~-#d'3fC(d~%&}3E%C;3}+C#d~5}V~-#d)C%3!.e%D<d$D#C(K%}Q(E)d}I}I}I}I}Ai'cC5D*/7.C(C(L&}Y(E;Z%}y&C(C5Y%}u&C(C)Y%}q&%c%c%c%c%cC4d$}41&%$&#.C(C(L%}y&Z&}Q'C(C(L%}q&Z&}I'e%D;C(e%Z&~e&C(d&]#~='C(e#Z&~]&C(d#]#~U&C(e%Z&~M&C(e~M~A&Z&~E&C(d#]#~A&C(d%Y%~=&C(e~M~A&Z&~5&C(e#Z&~%&/&.C;eC}Q}pd}f}M~-#d(3kD)C(dK}3C(d}q&}3E%d}f}M~-#d(3Z%cC(K%KE$C)h};0#C)K%#d'j0#C(d~E(}3E*C)K%'L&+3}+C%d}f}M~-#d(C*3!.C(d~E(}3C(d}q&}3C=3,C(K%~M(D*C(L&~E(E;e%t09C(d}Q(}3E%C(d~Q(}3d~9#~i-##C(d}M'}3C%d~2#~i-##C(C(R$~?(^$~;'C(C(K$~;(Y$~7'C(C$h]#~6'C(C*Y%}I'C(C;Z&~e&C(d&]#~='C(e#Z&~]&C(d#]#~U&C(e%Z&~M&C(e~M~A&Z&~E&C(d#]#~A&C(d%Y%~=&C(e~M~A&Z&~5&C(e#Z&~%&/%.C(d~E(}3C(d}q&}3C=3,C(K%~M(D*C(L&~E(E;e%t08C(d}M'}3C(d~Q(}3d~9#~i-##C(C*Y%}I'C(C;Z&~e&C(d&]#~='C(e#Z&~]&C(d#]#~U&C(e%Z&~M&C(e~M~A&Z&~E&C(d#]#~A&C(d%Y%~=&C(e~M~A&Z&~5&C(e#Z&~%&/$.C(d~E(}3d~M}M~-#d}Y}K~-#d*3vC(L&~E(E;e%u'cd$C(L&~M(e~-~[~Z#C;}pd$}:>E>d$d#3}P$C(e#Z&}i'C(d#Y%}a'C(e~=2Z&}Y'C(e$Z&}I'e(D;C(e(Z&~e&C(d#]#~-'C(e#Z&~%&C(e~M~A&Z&~5&C(d%Y%~=&C(d#]#~A&C(e~M~A&Z&~E&C(d#]#~U&C(e#Z&~]&C(d&]#~='C(e%Z&~M&C(C(L%}q&Z&}y'C(C(L%}y&Z&~%'C(e}HC=C>}EE>C=C>y>Z&}Q'C(C(L&~E(Z&}q'/$.C(K%~M(D*C(d}q&}33}1/7.C(d~E(}33NC(K%~I(D*C(K%~E(E)d}I}I}I}I}Ai'cC(d~%&}33}%/7.C(C(R#~B&^$~U$C(C(P#~D&]#~W$C(C(K#~V&Y%~M$C(C(K#~Y&Y#~P$C(K%~M(D$C(P#}I'D,C(d}Y$}3C(d}J'}3d~<#~i-##C(C(K#~A'Y#}T$C(C(K#~>'Y%}Q$e#D<d#D#/6.d~5}V~-#d)d~i}v~-#d}Q}w~-#d63s//.C(d~%&}3C#C(K%}-d~k#3MC(K%~1&C.C(K%~-&E%>D#C%C0C%>.D*d+D%%cC#'cd#D3C#d=i0$/).C.0$d#D./&.C*P##dZn0'd#D#&cC#d=i0$C#C*}3P##E)dS}4d~l$}:d-rC)d}(}:d~.#}4d~l$}:d<n}:0&C#d$}3D#dCd#C)d~N#}4d~l$}:d=l>C)}<d~l$}:d~6#}4E)d/nd$C)}=d~6C}:h};0#./'.C(C(K%~E)Y%~]'C(C(L&~=)Z&~U'.C(K%~U'd}I}I}I}I}Ai'cC(K%~Y'D#/(.C(C(K%~]'Y%~M'C(C(L&~U'Z&~E'/(.d#D3/$.d;D%.C(C%Y%}q&C(C/}vC3}veC}O}MZ%}u&C(d~%&}3E#C0C.3mC2C1C(d}q&}3C#3}0.D#C(d~=)}33}_$.C(d}J}I}I}I}AY%~E'C(C#Y%~I'.C(K%~I'E*C(K%~E'E)d}J}I}I}I}Ai0%=.C(K%~M'D%C5C$d/}5}3E#3}S$C#C%Y%+C#C*Y%'C#C)Y%#C$d$}3D$C)d}I}I}I}I}Aj0#C,P#;d$j0#.C(d#Y%~%&C9C:C(d~%&}3d$d#3s.D*C(d}Q(}33}1/&.#.%}H%c%c%c%c%c%c%c%c%c%cC$P#}h}wcE0d%}41,+#$%&'()*2.C(d~%&}3E#d}i}N~-#d}y}N~-#d-3FC(d~E'}3C#3_C#d}i}N~-#d~'}N~-#d*3F%}HC(K%~%&d}P}I}I}I}Ai'cC(d,Y%}y&C(d}X}}~-#Y%}u&C(d}O}I}I}I}AY%}q&d%/$.C(C(L&~-&Z&}y&C(C(L&~%&E;Z&}q&d%C(P#}u&C;}pd}N}I}I}I}Aj>.D.C(K%~M'D/C(K%~I'D#C(K%~E'C(d~%&}3E)d~5}N~-#d~E}N~-#d)3FC(d~U'}3C)3_C(K%~U'd}I}I}I}I}Ai'}Ge#(C(K%~Y'C(K%~]'3}8D<e$.D>d}I}I}I}I}AiD*C(d~%&}3E$d~5}N~-#d~a}w~-#d'3FC(d~E(}3C$3_%}HC(K%~E(d}I}I}I}I}Aj'cC(C(L%~E(Z&}y)C(C(K%~M(E$Y%~%)C(K%}})/$.d#D$C(d#Y%~%)C(e}I}I}I}I3Z&}y)d$.D)C%}vD?d#C#C*>D5C(d#Y%~5)C(e}I}I}I}I}I$Z&~-)d+D-d3D,d$D#&cC(d}Q(}3C)C$d-3MC(K%}Y(E$'cC(L%}Q(D;C(d~%&}3E6C$C(K%}](d-3MC(K%~1&C(K%~-&D)C(K%~%&D$C(C(K%~)&E*Y%~Y(C(C$Y%~U(C(d$Y%~Q(C(d~Z}N~-#Y%~M(C(C;Z%~E(C(d~=)}3C(d~E(}3d&3=C(K%~A)C(K%~E)3}8D@C6C$C*3`%}GC(K%~%&'cC(L&~-&D;e$/$.C(d~%&}3E4C$C*dC3Me#C(K%~-&E$h0#=C(K%~)&D*C(K%~%&D6C(C(K%~1&Y%~9&C(C$Y%~5&C(d$Y%~1&C(d~E}M~-#Y%~-&C(C*Y%~)&C(C6Y%~%&C(d}a&}3E$C4d&3=C(d}Y$}3C(K%}e&C(K%}i&3`C$3}_$C(L&}a$D;C(L&}Y$.DAC(d~=)}33}_$C(K%~-)C#d$}4i'cC(d~-)}3d+d;3}O$C(K%~1)D-.C,C-}3E$C@e~l~l~l~l~l~l~l2}LZ&#C$d+}4C;Z&#C$d3}4CAZ&#d#C)>D$C,d;}3D,C)d$C)>D)C(C#Y%~5)C#d$}3D#/$..C(d}y)}33}_$C(C/Y%~Y%C(C5Y%~U%C(C?Z&~M%C(C<Z&~E%C(C>Z&~=%C(C.]#~i%C(C(L&~-)Z&~]%C(C(K%~5)Y%~e%C(d~U'}33}S$C(d}q&}33};d$/,.C+33D#C(d~%&}3C=31C(C#]#~V%C(C%d#j]#~U%C(e)Z&~=%C(C(L&~-&Z&~M%C(C(L&~%&Z&~E%d#/+.C+33D#C(C%d#j]#~E%C(e(Z&~=%C(C#]#~F%d#/*.C(d~%&}3E#d}i}N~-#d~]}L~-#d*3FC(d~E(}3E$C#3_C(C(K%~M(Y%}]$C(d#C(K%~I(C(K%~E(d}I}I}I}I}AiE)>Y%}Y$d~l~l&C%C%d~l~l&r>D#%c%cC)h'cC(d}Y$}3d}I}M~-#3}Q$C$3}S$d(D)h0$/%.C(d~E(}33}S$.C(d}i}N~-#Y%}Y$C#d~c&j'cd#D)C#d}b&j0$C(d~%&}3E$C(d}Y$}33cC$d}y}I~-#3}R$D)C$3}_$/$.C(d~%&}3E$C(d}Y$}33cC(C(L%~)&Z%~E(d)d#d}Q}J~-#d&C(d~E(}33}*>D)C$3}_$.C(d~%&}3C=31e$D;%cC(L&~%&e$u'ce#D;/$.C(d~%&}3E$C(L&~-&E<3}+d)d#C(K%~)&C(K%~-&3$C$3}_$.C(C#^$~W%C(C)^$~U%C(C<Z&~M%C(C;Z&~E%C(e*Z&~=%/(.C(e#Z&~E%C(d%^$~U%C(e*Z&~=%/'.C(e#Z&~E%C(d'^$~U%C(e*Z&~=%/&.C(e#Z&~E%C(d*^$~U%C(e*Z&~=%/%.C(e+Z&~=%/$.C(e&Z&~=%.d#.D,C(d}I&}3C+C(d~=%}3C=C'3*/(.C(d~%&}3C(d}a&}3d~f}M~-#d'3bC(K%~)&D*C(K%~%&E)d}I}I}I}I}Ai0#C(C(K%~-&E#Y%~M(C(C*Y%~I(C(C)Y%~E(%cC#h0#C*P##dRj0#C#d$j'cC*P#$dRi0$.d#D)&c%c%c%c%c%c%c%c%cC)d$}4d%r'cC#h0(d$D,d}HD%C*P##E$dQ}41%+%$.C#h0,C*P##E$dQj0#d}HD%d$D,/*.C$dHiC#d&r}:0$C$dD}4d~l$}:d~K#r0+C$dF}4E)d?p0%/(.C#d$}4D#C*d$}3D*d#D)/).C*P#$dUj0%C*P#%dC};d~R#j0%d}FD%d&D,/'.d$C)}=d}J}i}I}I$}:h0%/(.C(d~E(}3E#3}_$C(d~%&}3E%C(d}a&}3d~j}M~-#d)3bC(K%~)&D*C(K%~%&E-d}I}I}I}I}Ai0(C(C(K%~-&Y%~M(C(C*Y%~I(C(C-Y%~E(C#d}Q}N~-#3}R$C#3}_$C%3NC(K%~)&D*C(K%~%&E)d}I}I}I}I}Ai0(d$}<D,C(K%~-&D$d#D#e&D;/*.C*d$}3D*C#d$}4D#d&D)/%.C*d$}3D*C#d$}4D#d&D)C$d~I#j0$/%.C)d$}3D)C#C%}3D#C*C,}3D*/#.#.C(d5Y%~%&d~f}M~-#d'C(d~%&}3d$d#3sD*C(d~E(}33}_$.e%D<d$D#/$.C(d8Y%~%&d$D#d~]}M~-#d,C(d~%&}3d$d#3sD*e%D<.C(d}a&}33}V$C#0(C(C(P#~W$]#~;%C(C(R$~U$^$~9%C(C(K%~M$Y%~1%C(C(K#~P$Y#~4%C(d~b$}3E#C(d}Y$}3d~<#~i-##C(C(K#}T$Y#~!$C(C(K%}Q$Y%~Y$C+3}M$C+d#]#?C+d%Y%;C+e~M~A&Z&3C+C*Y%+C+C<Z&#C+d#]#SC+e%Z&KC+e~M~A&Z&CC+C,]#kC+C;Z&cC+e#Z&[C+C(R$~9%^#@C+C(P#~;%]#BC+C(K%~1%Y#TC+C(K#~4%Y#WC+d~6#}3C#d~<#~i-##d&D#C+d&]#}a$C+C$Y%}q$C+C*Y%}m$C+C)Y%}i$C+C(K%~Y$Y#}b$C+C(K#~!$Y#}e$C+30/*.C(d~%&}3E#d}Y}N~-#d~6}J~-#d13LC(K%~)&D*C(K%~%&E.d}J}I}I}I}Ai0'C(C(K%~-&E-Y%}a$C(C*Y%}]$C(C.Y%}Y$%c%c%c%c%cC.d}I}I}I}I}Aj'cC(dEY%~%&C*C-C#d$3u0$d#D)&cC)E#C-j'cC#d$}3D)C#C*}3P##dOj0$..C-d}I%r0+C*C-3zhC#C-j};0+.C(d}Y}N~-#Y%}Q(C(d~%&}3d}Y}N~-#d~D}J~-#d-3LC(K%~%&E)d}J}I}I}I}Aj0$C(K%~)&D*/+.C-d}I%l0$/).C)d}I}I}I}I}Aj0$/%.C*C-3z=/'.C(K%~)&D#C(C(K%~-&E,Y%~M(C(C#Y%~I(C(C)Y%~E(C(dC}3C#C,d}I}I~-#d+3}@%c%c%c%c%cC(K%CE*'cC(K%GD-/$.C(d;}3C#C,d}Q}M~-#d*3}@C(K%;E*h0$C*C(K%?E-3;h0$.C-h0#C-D#C*E)P##dR}4E/d3pd#d$C/}=d}J}Y'}:>0#&c%cC#h'c&cC-h0%C*P##E#dR}4d~!$}:h0%C-d$}4D-C*d$}3D*C#d~-#j0#/'.#.C)P##E/dD}4d~l$}:d~J#nC/dFi};0%C#d$}4D#C)d$}3D)C/d~I#j0$/%..C,d}J3l0$.C(d4Y%~%&/$.C(d}Q(}3d~N}J~-#d*3W0$C(d7Y%~%&.d~D}J~-#d-C(d~%&}3d$d#3sD*C(d~E(}33}_$/(.C(d~E(}33}_$.C(d~%&}3E#d}Y}N~-#d~U}J~-#d-d~e}J~-#3JC(L&~%&E;e%t0$C(K%~-&D)C(K%~1&D*C#d}Y}N~-#d}Y}K~-#d*3vC(L&~%&E<e%t0$C(L&~-&D>C#d}Y}N~-#d}`}K~-#d/3vC(L&~%&E?e%t0$C(K%~1&D-C(K%~-&D/d#D,d#D#C.d}I}I}I}I}Aj'cC(d}Q(}3d}l}K~-#d/3WD#.C(d}Y$}33}S$C(C#]#~a%C(C)d%C*hC;}p}:>Y%~]%C(C>e~M~A&C<}pd$}:>Z&~U%C(C-Y%~Q%C(C/Y%~M%C(C?Z&~E%C(e%Z&~=%C(d}I&}3E#C+C(d~=%}3C=C'3*C$d-p0#C+C#3-d~l$}:D#/).%c%c%c%cC0d&}41'#&&$&.C+30C+L&ce$y0%C(d#Y%~M(C(e}I}I}I}I3Z%~E(C+K%}Ad%}=D#C+K%}=D)&cC#'cC(d~E(}3E$d}e}M~-#d$C(K%~M(E%>C%d#j3}3C(d~%&}3E%C)X%#3}+C$C(K%~)&C(K%~-&3}3C#d'}4D#C)d'}3D)C%3}_$/$..C(K%~M(E#'cd*d#C(K%~I(C#3$.C+P#}[$h0$d+d#d$d#3$/$.C(K%}I&d'i'cC+30/%.C+L&ce$y0$C+K%sd}I}I}I}I}Ai0$d~l~l&C%C%d~l~l&r>E#d~e&jC#d}g&j}:0$C(d3}3C+d~=#}3E%d~(}J~-#d+3ZC(K%3E#h0$C(K%7D$C(d+}3C%d~0}J~-#d)3ZC(K%+E)h0$C(K%/D*C(d~%&}3E%C#C$3`C(L&~%&e$u0$C(L&~-&D;C%C)C*3`C(K%~%&h0$C(d~E(}3E)C(L&~-&C;}Fe%}HC;}E3}<C(C(L%~I(Z%~=&C(d/Y%~9&C(d}o}y~-#Y%~5&C(C$Y%~1&C(C#Y%~-&C(dMY%~)&C(d~i}x~-#Y%~%&C(d}Y$}3E#C%d'3=C)3}_$C(K%}Y$d}I}I}I}I}Ai0$d,d#C(K%}]$C(K%}a$3$C#3}_$/$.C(d~E(}33}_$.C+C(d}I&}33-d~l$}:D#C,h0(C(d~E'}33}S$/(.C(K%~-&D*/$.C(d2Y%~%&d~6}J~-#d1C(d~%&}3d$d#3sD*.C(d}Y$}33}S$.C(C*Y%~%&C(d~%&}3E#3:C#3}I$d,D#/$.d(D#.C(d~e#}33}N$C(d~M)}3G#C#2.C(C#Y%}=C(C)Y%}9C(d#Y%}5d#D$%}HC(d~Y#}3E#K%#h'cC#K%+D$C#K%'/$.C#3}N$d#.D#C(C$Y%'C(C#Y%#C(K%#E#d$C#>C(K%'d#C#>3}b$#.}SD%3}H(}GF#d}y$}4E(G#%c%c%c%c%c%c%c%c%c%}H%c%c%c%c%c%c%c%c%c%c%c%c%c%cd%C%L&#E<}pE5d%}4C<e${>d$}41)$%'(&.#.C%dH}3D+C%d+}3D,C%P#GD*C%K%CD)C%L&;D8%c%c%cC$3}Cd~l$}:E%d$}41%#$%.d$D%C*d$}:0$.d%D%.C$C*]#?C$C)Y%;C$C8Z&3C$C&Z&[C$C%]#SC$d#Y%OC$C)Y%KC$C8Z&CC$C,L&+Z&+C$C,L&#Z&#C$C+R##^#@C$C+P#%]#BC$3S0(C$L&ce(u0-C$K%}1h0-C#d)Y%#C#C$L&}9E9C$L&sE8C&}FE&e#C&C8{>E&C&C9y>C9C$K%k>Z&+/9.C#d*Y%#/8.C$L&cE;e${'cC$K%sD)C$d}I}I}I}I}AY%sC)d}I}I}I}I}Ai05C(C)Y%}AC(C$L%wZ%}EC(C$K%}%Y%}M$C$L%})D&C$d}I}I}I}I}AY%})C$C$P#}Y$C&}pd}I}I}I}I}Aj};]#}Y$C(C$L%}1Z&;C(C&Z&3C(d3}33}T$C$K%}Q$E/'}HC/d#Y%}5C%K%GD+C%K%KD)C(d#Y%;C(e}I}I}I}I~-#Z%3C+C)d;}5}3D7d'D6&cC7C+E3j'cC,E*d$}3D,C+d;}3D+C/K%}1E.d&}=D)C3L&3D:C/K%}-E4D-%c&cC)h0$C:C-L&#u'cC)d+}4D)C-d+}3D-/$..C/C.d$}4E)Y%}1C-C4C)d&}=}3L&#Z&#C(K%3C0i'cC(d3}3d'd'3}O$C(K%7D6.C6C0d%}=}3C*Y%#C(C0d$}3E0Y%;.d?D)%cC3L&#e$u0#C/L&+D9C/C3L&+E8Z&+C/L&#D&C/e$Z&#d3D)C8C9tC&e$u};0#C/d#Y%;C/P#KD3C/C8C9|E*]#KC/C/P#}:C3d%jC*C3j}:};]#}:.C)C/}3C:3}9/$..C(K%3D-C(K%7(d'.D)C$dc}4D7C$d~=#}3D/C$d~M#}3D6C$d~]#}33}`$C$C0Y%}AC$C)Y%}=C$C-Y%}9C$L&kD&C%L&+D8C(e%Z&sC(e%Z&cC(C8Z&[C(C<Z&SC(C&Z&KC(C;Z&C%}H&cC1dCi'cd#D-d#/%.C(d3}3C1}3C1d3}3E*D1d3}3L&#e$u0#.C8C(C*}3d;}3L&#tD-C*dCj.D)C5d$}<C-};D,&cC)D*d#D)C*C,}:d$}:0#.C$C&C8C;}pd$}:E)>Z&kC$e$C<C)>Z&cC$C*C$P#}[$};d$}:]#}[$%c%c%c%cC(K%}M$E)P##E.d$}41%#$5.C)K%'D0C)K%+D-C(d3}3E,C(d~e#}3E*d}f}M~-#d(3}#C(L&;D&C(K%3D)C,C*d~5}V~-#d)3}#%}HC%L&3E9C&e~g$C)>E&y'cd}r}v~-#D)d}I}I}I}I}A/$.C&C9tC%P#OE5C5d%i>d$}:h05C(d3}3C(L&;e#C(K%3>3r%}HC(K%3d$i'cC(K%7/$.C(d}a$}3e}HC(L&;E8C&}EE&C&C8w>3rC(K%}a$d$j0&C(K%}e$.D)d}J}I}I}I}A.D2C)d+}?D$d?D1/9.C%P#OE5h03%cC%K%;E,h0#C%K%?E*h0#C)P#$D4C(d}a$}3E)C,C*3pC$d~i#}3D3C(d~M#}3C)3.C(K%}-E+C(K%}1E,3}8D8C$K%}M$E)d*}:C$K%}I$E0C)d~e~l~l~l#}:E2d&}=}3D1&cC2'cd#D-d#D)&cC-C)C0}3L&#C8t};D-C)d+}3E)d~-#j0#.C2d+}4D2C0dc}4D0C-d$}:h0$/3..d&}=D)&cC)h0&C)d+}4D)C1L&#C1d+}3D1C8u0#./1.C5d$j03d}O}v~-#D)d}I}I}I}I}AD2dFD1d}_C/1.C(d3}3E)C(L&}i$3}+C(d~e#}3d~5}V~-#d)C)3!/4.C3C83}9C(d~e#}3d}t}O~-#d)C(d~M#}33!/2.C#d*Y%#/6.C%L&3D9C%L&+D8C%R$=D+C%R$;D,%c%cC$L&cE;e(t'cd$C,}=E%d~U$}:d$C%d9}:C+d}a&i};C+d}v&iC+d~a&}4d~l~l&}:d~Q#l};};>h0$C#d#Y%#/9.C$P#Sd%i0$C$K%KE)h0$d$C,}=E%d~U$}:0-C%d9}:C+d}a&i};C+d}v&i};hC+d~a&}4d~l~l&}:d~P#n}:C8shC9e~M~A&y}:};0$C8}pD%%cC,d$j'cC)C$K%OE*i0&C$C*d$}3Y%OC%0$e~a&d'C*C*d'r>}v}Og######~UbC'3}.D9/$.C$L&CE8e~U*C9C9e~U*{>e~U*C%>E9w0.C$C8C9}FZ&C.d(D0C$L&#e$u0-C9C$L&+E:C&C$L&[}FE8e#C&C8}#>}FE8e#C8C:{>}#0$/-.C$C$K%})d$}3E%Y%})C#C$d~5#}3E#C%d'n'}Ge&(C(d3}3C#C9e#C8}p>C&C'3RC(L&;D9C(L&3.C9d#3x/7.d#D0C,C;e$y};0+C$K%sd}I}I}I}I}Ai0+C+d~e&i0(%cC+d}g&i'cC$K%})d}I}I}I}I}Aj0*C$K%}%E,d}t}O~-#d)3kE%h0*C%K%#0*C(d+}3C$d~=#}3E*d}t}O~-#d)3ZC(K%+h0*C$d~M#}3D+d}9D)&cC)h0%C,C)d~i}x~-#}3K%#C)d}I}y~-#}3K%#3kE%h0+C)d+}3D)C%P#;h0#./*.C$K%})d}I}I}I}I}Ai0,%cC+d}Y&}41(*---*#.C+d}o&i0)/,.C(d3}3C*3lC+3}T$C+C(L%;Z%+C+C(L%3Z%#/).C$L&ce(t0&C#d*Y%#/5.C$L&ce(t0$C#d*Y%#/4.C#d,Y%#/3.C%P#;D)C(d3}3C$d~5#}3E$C%P#<C%L&+C%L&3C&C'3wC#C$C(L&3C(L&;C)d$}:3x/2.C%P#+D)C%P#,D%C$e~=2Z&{C(d3}3C$d~5#}3E$C%e#C&C&C'3wC#C$e#C(L&3E&C&e%tE#>e#C(L&;C#>C)d$}:3x/1.C$K%}Q$E)h0%C)P#KD%%cC)P#}<h'cC)K%}5d)i0'C)P#}:d$}:h0$/'.C)K%}5d)iC%d%i};0&C)P#}:d$}:0&.%}GC)L&SE9e%u'cC%d%j'cC)P#}9C%j0(.C)L&cD;C)L&[/$.C)C)P#}9C%C%d%i>]#}9C(d3}3C)3QC(L&3E9e%t0&C(L&CD;C(L&;.D8C)L&+E:e#C:}FC%d$}:>C;C)L&#}pd$}:>C;C%d%j>D:%c%cC9}pd$}:'cC8C:}FE9e}I~'~$&v0$C)C9e$}QE9Z&{C:C;uC8C9C:}EE9u};0%/(.C)e}I}Q}{}i%C)L&{e%}HE8C8e}I}Q}{}i%z>E8Z&{C8C:}ED9/$.C8D9C:C;t0&.C(d3}3C)3}AC)d~M#}3E%C(dC}33}$C%C(dO}33}$C)K%}1d~R#r0%C)d$]#};C)C)K%}5d$}3Y%}5C(C:Z&}q$C(C9Z&}i$C(e$Z&}a$C(d}Q$}3C)C(d}a$}33DC(K%}Q$d}I}I}I}I}Ai0%C(C(L%}Y$Z&}I$C(C(L%}Q$Z&}AC$dc}4C(d~e#}33}=.C$d#]#SC$d#Y%OC$C$K%;Y%KC$C$L&3Z&C.C#C$C&3</..C#C9Z&+C#C0Y%#/-.C(d~Y#}3E)C+C,3mC(d>Y%}e$C(d~X}u~-#Y%}a$C(C(L%}9Z%}i$C(d3}3C(d}a$}3d%3=C)3}S$C(d~M#}33}_$C(P#7D)C(K%3E2d}K}I}I}I}Ai0$C(K%;D1C(R#8C(d:}3P##d3}=};.D$d}y}N~-#D0d-D-/).C)d$}:0$.%cC$K%}Q$E.h0#C.L&SD&C.e%Z&SC&e%t0#C.L&[D:C(d3}3C.3}AC(K%OD+C(K%SD)C.d~M#}3d#d~Q#C.K%}1E4}4E$d#C$d~Q#p>E3C(K%WE*C*C3n>C4d~P#nE,>3}Z$C.K%}1D2C.K%}-D$C(C3Y%}q$C(C)C*d&}=E-}3E*Y%}m$C(C+Y%}i$C(C)Y%}e$C(C)Y%}a$C,h'cC$C2d&}=}3D$d~Q#C4C4d~Q#r>d~Q#}4D1&c%cC-h'cC*D)/$.C$C)L&#Z&#C-d+}4D-C$d+}3D$C2d$}3D2C)d+}3D)C1d$}3E10$..C.C2Y%}1C(C)Y%}e$.C(d}a$}33}>C.P#};C.d#]#};h'cC.C.L&{E9C9}EE8eb}Pe}I}I}I}I}I}I}I}I}I}H}NC8C9e#vC8C9v}<>Z&{.C(d}a$}3C.3Q%}G%c%cC(L&}a$E8e%tC&e$u};0#C8e$u0$C:C(L&}i$E9t0#C:C.L&{E&}EE8eb}Pe}I}I}I}I}I}I}I}I}I}H}NC8C&e#vC8C:v}<>E&C9C&C9v>D&e$/%.C(dC}33}a$/%.e#.D8C(C&Z&}i$C(C8Z&}a$C(C:Z&}q$C(d}Q$}3E$C.C(d}a$}33DC(dC}33}a$C(K%}Q$d}I}I}I}I}Ai0#C7C$3}=.C(d~e#}33}1/&.C4d$}:0$C%L&3D9.C$C$K%}U$d$}3d#C9s>E)Y%}U$C)d(l0#d}y}N~-#d~'}N~-#C.d%iC5d%i}:E$>D0d-d*C$>D-d~5}u~-#D)d}_CD$d}I}I}I}I}AD2dFD1/%.%cC$P#}Y$h'cC(d}I}I}I}I}AY%3/$.C(d3}3C(d~e#}33l.C63}T$C6C(L%;Z%+C6C(L%3Z%#C/3}T$C/C(L%}I$Z%+C/C(L%}AZ%#.C#d*Y%#/$.C(d~e#}33}1C#C-Y%7C#C0Y%3C#C1Y%/C#C)d~l$}:C$d+}=};Y%+C#C2Y%'C#d&Y%#.C%dC}3d;3}K$.C(d}y$}3G#.}T2%.}H$}GF#d}Y$}4E#G#C#d}P}I}I}I}AY%[C#d#]#_C#d~U#}33NC#K%}5D$%}HC#K%}1E%d}I}I}I}I}Ai'cC#C$Y%OC#d}I}I}I}I}AY%Kd$/$.C#C#K%}9Y%})C#C$Y%}%C#C%Y%{C#d~E#}33}_$C#d~U#}3C#d[}3d}Q}I~-#d*3LC#K%}5D$%cC#K%}1E%d}J}I}I}I}Ai'cC#C$Y%OC#d}I}I}I}I}AY%K/$.C#C#K%}9E&Y%wC#C$Y%sC#C%Y%oC#d~U#}3C#d[}3d~-}w~-#d13F%}HC#K%}1d}P}I}I}I}Ai'cC#d,Y%})C#d}X}}~-#Y%}%C#d}O}I}I}I}AY%{d#/$.C#C#L&}9Z&})C#C#L&}1E.Z&{d#C.}pd}N}I}I}I}Aj0#=C#P#}%.D,C#d~E#}33};C#d~U#}3C#d[}3d}|}J~-#d+3L%cC#K%}1E'd}J}I}I}I}Ai'cC#C#K%}5Y%OC#d}I}I}I}I}AY%K/$.C'd}I}I}I}I}Aj'cC#K%}5D(C#C#K%}9E)Y%}I$C#C(Y%}EC#C'Y%}AC#d~E#}3C$d#C%d}I}I}I}I}Aj>E$d~;}w~-#C$>C&d;C$>3pC#dC}3C#K%}%E*C#K%})E%d}I}I~-#d+3}@%}HC#K%CE$'cC#K%G/$.C#d;}3C*C%d}Q}M~-#d*3}@C#K%;D$C#K%?.D&%c%cC$hC&h};0#C$P##E+d]iC+dRi};0#&c%cC&'cC$P##E+dD}4d~l$}:d~J#n0&C+dE}4E-dAnd$C-}=d}L}I}I}i*}:h};0$/&.C%C*}3d$}4D&d#D$C#d~E#}3C%%}H&cC%C$C%i0$=C$d$}3D$C&P##C&d$}4D&dRi0#.C$d$}4.}43})C#K%}%D$C#K%{E%d}I}I}I}I}Ai0&C#C#K%})Y%}U$C#C$Y%}Q$C#C%Y%}M$C#d3}3C(C)d}w}J~-#d(3}@%c%cC#K%3E$h0#C#K%7E%h0#C$C%d}^}M~-#d'3u0#C$C%d}b}M~-#d&3u0#C(C)3z0$.C#d1Y%}1d}|}J~-#d+C#d~U#}3d$d#3sD$C#d~e#}33}_$C#d}I}I}I}I}AY%KC#C$Y%OC#d}M$}33}_$/).C#C)Y%})C#C(Y%}%C#C'Y%{C#d~E#}33}_$C#dK}3C#d}M$}3C,d$}:3V/(.C&d$}4D&C$d$}3D$C+d~I#j0#..C#d/Y%}1d}Q}I~-#d*C#d~U#}3d$d#3sD$C#d~E#}33}_$.C#d}I}I}I}I}AY%KC#C$Y%OC#d~e#}33}_$/$.C#d~U#}3C#d[}3d}Q}I~-#d*3bC#K%}5D$C#K%}1E%d}I}I}I}I}Aj'cC#C#K%}9Y%}U$C#C$Y%}Q$C#C%Y%}M$C#d~E#}3C#d}M$}33}^$C#d+}3C#K%}%E(C#K%})E%d}I}I~-#d+3}@%}HC#K%+E$'cC#K%//$.C#C(C%d}Q}M~-#d*3}@C#K%#D$C#K%'.D&%c%cC$hC&h};0#C$P##E'd]iC'dRi};0#&c%cC&'cC$P##E'dD}4d~l$}:d~J#n0&C'dE}4E)dAnd$C)}=d}L}I}I}i*}:h};0$/&.C%C(}3d$}4D&d#D$&c%cC$C%i'cC%D$/$.C&P##dRj0#C&d$}4D&C$d$}3D$/$..C#d~E#}3C%C$}43})C#K%}%D$C#K%{E%d}I}I}I}I}Ai0&C#C#K%})Y%}I$C#C$Y%}EC#C%Y%}AC#d}M$}33}_$C#d~U#}3C#d[}3d}r}J~-#d(3L%c%c%cC#K%}1E$d}J}I}I}I}Ai'cC#C#K%}5Y%OC#d}I}I}I}I}AY%K/$.C$d}I}I}I}I}Ai0$C#K%}5D%C#C#K%}9E&Y%}U$C#C%Y%}Q$C#C$Y%}M$C%C&3z0%C#d3Y%}1d}r}J~-#d(C#d~U#}3d$d#3sD$C#d}M$}33}_$C#d}I}I}I}I}AY%KC#C$Y%O.C#d~e#}33}_$/*.C#C#K%}I$Y%SC#C#L%}AZ&K/).C#C&Y%})C#C%Y%}%C#C$Y%{C#d~E#}33}_$C#dK}3C#d~e#}3C,d$}:3VC#d~9#}33}S$/).C&d$}4D&C$d$}3D$C'd~I#j0#..C#d/Y%}1d}Q}I~-#d*C#d~U#}3d$d#3sD$C#d~E#}33}_$.C#d}I}I}I}I}AY%KC#C$Y%OC#d}M$}33}_$/$.C#C$Y%OC#d}I}I}I}I}AY%K.C#d~9#}33}S$.C#K%Kd}I}I}I}I}Ai.D$C#d[}33}V$%cC$'cC#C#K%OY%}1C#d~U#}3E%3:C%3}I$/$.d(d#C#K%OC#K%S3$C#dK}33}_$.C#d}Y$}3G#C$d$}<.~Q/%,}H&}GF#d~]%}4E&G#C&dK}3C$d~0}J~-#d)3Z%c%c%}H%c%cC&K%K0#C&dC}3C$d}t}O~-#d)3ZC&K%C0#C$K%/d~0}J~-#d)3kh0#C&d;}3C$d~(}J~-#d+3Ze~l~$~l}Y~j~;!C%C%e#v>E/C/e~M}p5}K}FD%%cC&K%;E'h0#C&d~]$}3C'C&K%?E(3/C&K%~]$d$i0#e}I~W~h}0D0C&L&}I%D1%c%c%cC&K%~e$d$}41%%$#.C1e}I~%}bL}GE0C%v0%C0e}I}_}M;}FC/|0'C/C0e~U*}MC/C0w>D%/%.e#D0.C%C1x0#C/E%C0C1}Ez0%.C&d~]$}3C%36C&K%}M%E'C&K%}I%E(d}I}I}I}I}Ai0%=C&C&K%}Q%Y%{C&C'Y%wC&C(Y%sC$d~0}J~-#d)C&d~=#}33!.C$K%'D'C$K%#E(d}I}I}I}I}Ai0%C&C$L%+Z%_C&C'Y%[C&C(Y%WC&d3}3C&dW}3d}t}O~-#d)3Z%c%cC&K%3E$h0#C&d+}3C$C&K%7d~)}O~-#d(3}@C&K%+E$h0#C&d~]$}3C$C&K%/d~k#3MC&K%~e$E+h0#C&K%~a$D'C&K%~]$D$C&K%~i$D)C&d#Y%oC&e}I}I}I}I}I$Z%g%c&cC$'cC&d~]$}3E(C$C'dQ3MC&K%~i$D'C&K%~e$D$C(C&K%~]$C&K%~a$3OC&K%~]$h0%C&d~1#}3C&L&~e$3}9/$..C&K%oE'd'p0#C&K%kE$L&CE%e~l~l~l~l2y0#C'd(}4E,C%}pE(l0#C$L&;D1C&d~]$}3C&dW}33IC&L&~]$E%e%t0#C$dK}3D*C&d~E#}3E-C&d~e$}3d~]#~i-##C&C%Z&sd$D'%cC$L&#}pE.d$}:h'cC&P#~-$D'/$.C&d$]#~-$.C&C.d$}?d$}:]#~.$C&d~]$}3C*C(3dC&d}y$}33}a$C&C&K%~e$Y%~%$C&C&L%~]$Z&}y$C$L&3D%C$L&+D/%c%}GC'd$}:h'cC%s0%C/e#uD'e}K~-}Z~e}o}Z1C%}FD0e}K~-}Z~e}o}Z1C/}F/$.C/s0$C%e#uD'C/e}J~-}Z~e}o}Z1}FD0C%e}J~-}Z~e}o}Z1}F.D/C&C'}vZ&~5$C&C0Z&~E$C&C/Z&~=$C&e}I~J~H$C/C0}FE%C%e}I~J~H$z>e}I~J~H$C'>Z&}q$C&d~M$}3C&d~=#}3C&d~5$}33DC1sh'cC&C1e}J~-}Z~e}o}Z1}FZ&{C&C1e#u}vZ&sC&C&P#~-$]#}AC&d~]$}3C*C(d&}=}3C,C(}43dC&d~M#}33}a$C&C&K%~e$Y%}1C&C&L%~]$Z&}).C)'cC&d$]#~0$C&d~]$}3E$C+C)3pC&d~M$}3d}t}O~-#d)C$3!.C&L&sD%C&d~]$}3E'C-d~]#~i-##C&C&L%~U$Z&~U%C&C&L%~M$Z&~M%C&d~1#}33}a$C%e%t0%d+d~e#3}W$E$C%Z&#C$d+}3C'd~]#~i-##C&d~=#}3C&d~M%}3C$38C&dW}33}1/&.C&d~=#}33}G.C&d~1#}33}a$.C&d~=#}3C&dW}3d#38.%cC&K%})d}I}I}I}I}Ai0#C&C&d~M#}3E'd}t}O~-#d)3Z%cC&K%#E$h0#C$C&K%'E(d~)}O~-#d(3uh0#C&%}HC&K%}5d}t}O~-#d)3kE)'cd+C)K%#d%i0$=.C&d$Y%~=$C&d~Y}v~-#Y%~9$d;.Y%~5$C&d~]$}3E'C$C(3md}t}O~-#d)C&d~5$}3C'3}0D$C#e%Z&#C#C$Y%+C&d~=#}33}?/(.C&K%}a$0#C&d~]$}3E(C'3Id#D$C&L&~]$e%u'cd+d~e#3}W$E$C(d~e#~i-##.C&d}a$}33}L$C&C$Y%}a$.C#C&d~=#}3d~E#~i-##/&.C'C(3},.D'C$3}1.C#e%Z&#C#C'Y%+.C&d~]%}3G#.}P.%0}H%}GF#d}I$}4E%G#d&D&d$D'%c%c%c%c%c%c%c%cd)C$K%#E.d'}4C.d&p>d$}41)%$*('&#.C$L&+D2C#3eE*h0(C*K%/E)K%Kd(}=D$C)K%GD&&cC$E.'cC$dC}4D$C&P#<C&dC}3D&d%j0$..C)P#OD1C%d#Y%SC%e}I}I}I}I3Z%KC#K%}q$D/C#K%}m$D0C)K%CD(C)K%?D'&cd#D&&c%c%c%cC&C(i0#C&C'}3P##d~h#j0$d#D$&cC$C(i0$C$C'}3P##d~j#j'cC$d$}3D$/$..C%dC}3D+F#d3}4E#G#C#d+}3C&C'C(3}(C#K%+E,h'c#.C#K%/D-C+C,Y%#C+C-Y%'C#d3}3G#C%K%GD-C%K%CD+C%d;}3C&d$}3C$C'C(3UC%K%;E&h0%C%K%?D,C%d3}3C$d$}3C'C(3oC%K%3E#h0%C+h0#C%K%7D(C%dK}3E$C+C-3}3C/D'C$C&C,d}i}J~-#d,3}-'}HC0(C%d+}3C*C&C,3ZC%K%/d#C%K%+E$>D'C$d$C$>.C'3GC#D'/'.C%dK}3C'C(3}3C%C*d~5}V~-#d)3Z%}H%cC%K%#h0#C%d~5#}3E#C*3}6C%L&ke$u0#C#C%L&s3}+C%K%kd}I}I}I}I}Ai/$.C%d}I}I}I}I}AY%kd$.D+C*K%+E#C)K%KE$C#C$l>D,C*K%'D0C)K%GD)d~a}v~-#D/d#D&&cC0C&d/}5}3D(C)C&d(}=}3D$%c&cC&C,i0$d#D'C+h'cC%d~5#}3d#C$d3}3d}m}M~-#3}Q$>D'.%cC'hC(K%#E-d}I}I}I}I}Ai}:h'cC$d<}3P##d$i0$.C&d$}3D&C(d/}3D(C$dC}3D$/$..C%dK}3E#C/d$3}3C#C$d3}3K%#C$d7}3K%#3}3C#d~b}v~-#d$3}3C#C'C(C-d}I}I}I}I}Ai>E#K%'C#K%+3GC&d$}3D&d~c}v~-#D//$..C%C%K%SY%}AC%C%L%KZ&}9C%d~5#}33}S$%cC.h'cC%d}I}I}I}I}AY%k/$.C%d~5#}3C*d%37.C%C%K%}AY%SC%C%L&}9Z&KC%C1]#cC%C%L%kE3Z%WC%C%K%sE#Y%_d#D&C%K%[D$C%d#C#C3}pd}I}I}I}I}AiE#>Y%}5C%d$C$C#>Y%}1C%d$Y%}-C%d~Z}N~-#Y%})C%C%L%OZ%{C%d$Y%wC%d~2}v~-#Y%sC%C1d%}=E#K%}Y}~cY%oC%C#K%}e}~cY%kC%d~]#}3E#C%d~5#}3d(3=d#C2C%K%}=C%K%}A3}P$C#3}_$C%dK}33}_$C%dW}33}S$/-.C&d$}3D&/$...#.d%D'.d$C$L&+d$d#3}P$C'D&/'.d)D&%c%c%cC.d$}41&#$%).d$C$L&+d$d#3}P$d*D&/(.d+D&/'.C%C$K%7Y%{C%C$L%/Z&sC%C$L%'E2Z&kC2}pd}J}I}I}I}Aj'cC%C%L%oZ%SC%C%L%wZ%Kd&d#C%dK}3d%3YC$d'}33}S$d-D&/'.C%d~5#}3d'};E#3:C#3}I$d,D&/&.d(D&/%.d'D&/$.d#D&d$C2d$d#3}P$.C%d}I$}3G#C&.~^+$.}HF#dS}4E&G#C&d?}3E%C$K%'C$K%+db3MC%C&K%GE%C&K%?C%>C&dK}3C&dC}3C%>K%#dF3MC&K%CD)C&K%?D'%c%c&cC'h0$C&d?}3C'C)dI3MC&K%KD)C&K%GD'C&d3}3C&K%?C&K%Cd~J}y~-#d*3}@C&K%3E%hC&K%7E+h};0#.C&e}I}I}I}I3Z%?d#D'd$D,&cC&C'Y%G%cC+'cC%d$}3D/C%P##E)dHjC+d$}4E(d%l};0$C&d+}3C%P#$3hC&P#,D.C&C%P#%3hdHD)C&P#+h0$C&P##d$}:h0$C+d&}4D(C%d&}3D/C&P#$C.d'}=}3D)/$.C'd*}4E%d#C%C'p>D+C&K%CE*d&}3d}E}:C*}4D/C&K%?D,d#D%&c%c%c%c%c%c%c%c%c%c%cC%C'l'cC%C*}3P##E)~-E.d#k'cd}J%D-C)P#}t}zcd%}41&(%&,.C/C%}4d&}:0-&c%cC%C+l'cC%C*}3E(d'}3K%#C(K%#};d}I}J}K}M}A}:h0$.C'C%C%C'l>D(&cC%C'r'cC(D%/2.C%C*}3O##d#k01C%d$}3D%/#.#.C%d+}3D%/#.#.C&C'Y%KC&C*Y%GC&C,Y%CC&d}I}I}I}I}AY%?C&dC}3D%/+.C%d$}3E(C'r0&C(C*}3O##D(%c%cC)d~M$j'cC)d~Z$j'cC.dB}3d~l$}:d/l0%C.d}G}:d}7j0-C(dck0&/-.C(d}h}Hm0,/%.C(d})}:d}i}Hi0$/+.C(dcq0*.d#D-C%d%}3E)C'r0)C)C*}3O##d~,}Ho0(/$.C%d$}3E(C'r0%C(C*}3O##D(%c%c%c%cC)d~]$}41($###%#.C.d2}3d~l$}:d%n0+C(dck0%/+.C(d~]#}3d~l$}:dSl0$/*.C(d}X}Hm0).C%d%}3E(C'r0%C(C*}3O##d~,}Hm0#d#D-C%d&}3E)C'r0(C)C*}3O##d~,}Ho0'd}J)D-/(.d}J'D-/'.C%d$}3E)C'l0$.d#D-/%.C)C*}3O##d~,}Hm0$.C)d$}3D%/&.C&C-Y%OC&C%Y%KC&C'Y%GC&C*Y%CC&C,Y%?C&dC}3C$C,d}I}I}I}I}AiE(>D%C$C&d?}3C(>D$.C#C%K%+Y%+C#C%L%#Z%#C$3}_$/(.C%d$}3D%/#.#.C&K%?C'i'cC&d?}3d$d$3}O$C&K%CD,.C'C,}3C)]##C'd$}3D'C(D+C/D%/#.#.C#C$K%+Y%+C#C$L%#Z%#.C&dS}3G#.}s)%'}H+}GF#d}I$}4E&G#C&dc}4E(d#d~-#~i.#C&d;}3d~-}x~-#d-C$C%C(35%c%c%c%cC&K%;E$h0#C&K%?E%h0%C&d3}3d~7}x~-#d)C$C%C(35C&K%3E%h0#d$D'C&K%7E$h0$%c%cC%P##d]j0#C&d+}3d~=}x~-#d&C%C$C(35C&K%+E%h0%C&K%/E$h0&C%P##dQj0#C$d$}4D(C%d$}3D)d#D$%c%c&cC$C(i'cC(D$/%.C$C)}3P##dS}4d~l$}:d,p'cC$d$}3D$/$..C$C(n0$.d#D%&cC%d&ih'ce#D*C$C%n'cC%C)}3P##dS}4}ve~l$}LD*.C%d$}3D%C*C+e-}G}ED+/$..C$h0&C$C)}3D%C(C$}4D$/%.#..%c%c%cC$1%(#$.C%P##E'd~G#j0$d%D'/'.C%P##D'.%cC'dN}41&#$#$.C&d~@}x~-#d(C%d$}3C$d$}4C&dc}435C&K%#h0#C&K%'0#e}He$C'dPi>D1d%D'/%.C#d#Y%/C#e,Z%'C#d$Y%#/%..C&L&}AD,C&L&}9D-C&L&}1D*C&L&})D.C&L&{D/C&dc}4C&L&cC&L&kC&L&s3CC&K%ch'cC#e}J}I}I}I}i$Z&#/$.C&C&L&kE0Z&CC&C/Z&KC&C.Z&SC&C*Z&[%cC-C/C-C/x>e:x0#C,C*C.C*C.x>E*C*C,v>e^x0#C&C&d[}3Y%oC&C&dS}3Y%kC&C&dK}3Y%gC&C&dC}3Y%ce#D*%c%c%cC'd$}41%#$%.e$D*C&dc}4C+3}4D0/$.C&dc}4C+3}4C-e}I}l}m}G}GC,e}i}t}E}G}EC1}G}ED0e%D*.C#C0Z&3C#C*Z&+C#d#Y%#/$.C#e}J}I}I}I}i$Z&#.C&d}I$}3G#.}N)%,}H'}GF#d~=#}4E$G#%cC#L&ce$y0#C#K%sd}I}I}I}I}Ai0#C#d~=#}3D*%c%c%cC#K%}Q$E&'c%}G%cC&L&SE-e%u'cC&P#}:E+d}H}<C&P#}9E(C&P#Ki}:D'C&L&[D.C&L&cD/C(d$}:h0$d$D)C.D0C-/%.C$dc}4C*3A/(.e$C/}FD0e$C.}FD/C-}pD)e$.D.d+dK3}W$E%C&X%}1Z&CC%e$C0e}J~-}Z~e}o}Z1}EE-C-e$z>e#C.}pd$}:>Z&3C%e$C/e}J~-}Z~e}o}Z1}EE-C-e$z>e#C)d$}:>Z&+C%C(C+d$}=};}ve~l$}LZ&#C%e$C&L&+e}J~-}Z~e}o}Z1}EE-C-e$z>e#C&K%#>e#C'>Z&;d(D)C$d(Y%?C$C%Y%;C$d(Y%7C$d7}3C&d~M#}33}!$C'0$/%.C$dc}4C*3A/%.C$d7}3C&d3}33}!$.C$d#Y%KC$e}I}I}I}I3Z%CC$K%7D'C$C$K%;E%C$K%?d&}=E(}3E+Y%_C$C'Y%[C$C%Y%Sd~)}O~-#D'&cC('cC%L&#D-C$dC}3E,C'C)3}3d$D)C,C-d$3|C(d+}4D(C%d+}3D%d~/}O~-#D'/$..C$C+Y%WC$dS}33}>C$dC}3E'd~.}O~-#d$3}3C$d+}3C*d}t}O~-#d)3ZC'C$K%+E%d$C%>C$K%/d#C%>3}3C$dc}4E%C&d~5#}33AC%d}t}O~-#d)C'3!.C#P#}Z$d$i'cC$dc}4d}f}M~-#d(3f.C$C$L%gZ&CC$C$K%oY%KC$K%cE#d}I}I}I}I}Ai0#C$C#Y%cC$C$L&CZ%gC$C$K%KY%oC$dS}3E#C$dc}4E%d$37d'd#C$K%WC$K%[3$C#3}_$C%3}1.C$d~=#}3G#.~<'%+}H$}GF#d~=#}4E%G#C%d}P}I}I}I}AY%+C%d(]#/C%dc}4E&C%d+}3d~S}w~-#d-3FC%dS}3C&3_%cC%K%SE&d}I}I}I}I}Ai'cC#e#Z&#/$.C%C%L%WE-Z%?C%C&Y%;C%dc}4E)C%d+}3d~]}w~-#d'3FC-}pE&C-eC}Q}pE(}3D'C%dG}3C)3_C%K%OD+C%K%KD,C%K%GD)&c%cC(h'cC'D&/$.C&P##d,}4E*d:nd$C*}=d}d}I}I'}:h};0#C&d$}3D&C(d$}4D(/$..%c%c&cC(h0$C&C(}3d$}4P##d,}4E'd:nd$C'}=d}d}I}I'}:h};h'cC(d$}4D(/$..d#D'&cC'C(i'ce#D$d#D'&ce~!~<}c~K~a}o~OCC$e-}GC&C'}3P##dS}4}ve~l$}L}EE-C-e~!~<}c~K~a}o~OC}#>D$C(C'd$}3E'j0#.C#e$Z&#C#e}HC$e~U*}GC-e~[~<}c~K~a}o~OCy>Z&+/&.C&C'}3C'd$}3D'P##dS}4d~l$}:d-l0#..%cC)d}I}I}I}I}Aj'cC%dS}3C,C+C$32/$.C%e#Z&S.C%dc}4C&C(C$32e#D-C#C%L&ce$t'}GC#C%L&kE-C%L&[C$C%K%S>}FE$e#C$C-{>Z&+e$(e#.Z&#.C%dG}33}S$C%d;}33}_$.C%d+}33}V$C%d~=#}3G#.~d&%'}H&}GF#d~M$}4E'G#%c%c%c&cC%C(i0$C$C(}3E)P##dOj'cC(d$}3D(/$..C'd~=#}3E*d}t}|~-#d<C)d$}3E$C(d}H}<C%}3E%3aC'L&se$t'cC'd+}3C*d~5#~i-##/%.C'd}a$}3d~.}M~-#d:C$C%3aC'C'K%}a$'}GC'L&}i$D+C'd;}3C'd}q$}3d[~i-##C'd}a$}3C&e}I~%}bL}H3BC'C+C'L&}a$eT}FE&}Fe~Q#}JE+C&}EC+eb}Pe~Q#}L}EZ&3e$(e#.Z&+/$.C%d&r'cC'd}a$}3E(d~1}|~-#d8C$d&}3E$C%d&}4E%3aC'L&}a$e$t'cC'd+}3C(d~5#~i-##/%.C'd+}3d}u}M~-#d8C$C%3a/$.C#e#Z&#/$.C'K%+h'cC#e#Z&#/$.C'L&[D&C'L&SD+C'L&KD,C'd}a$}3C'L&3C'L&;C'L&C3CC'K%}a$h'cC#e#Z&#/$.%cC,e:xC+e^x};C&e_x};0#C+e_}GC,e}Y?}G}EC&}EC'L&}i$e}I}l(}G}EE&e#v0#C#C&e~U*}GZ&+e$D-.C#C-Z&#.C'd~M$}3G#.}I'%'}H$}GF#dC}4E$G#C$d3}3E%d}i}N~-#d~Y}Z~-#d)3FC$d'}3C%3_%c%c%c%c%c%cC#3eE#'cC#K%/P#Qd(i0$.d}I}I}I}I}AD%d#D#C$K%'E'd}I}I}I}I}Ai0(%cC$K%+E#C$K%/E&d}m}S~-#d)3}-0#C#C&d}s}S~-#d,3}-'cd}J}I}I}I}AD%/$.C#C&d}|}S~-#d+3}-'cd}K}I}I}I}AD%/$.C#C&d~(}S~-#d)3}-h0%d}L}I}I}I}AD%.C$d'}33}_$/'.d}I}I}I}I}AD%d#D#C$K%'E'd}I}I}I}I}Ai0'%cC$K%+E#C$K%/E&d}a}}~-#d)3}-0#C#C&d}v}Z~-#d.3}-'cd}J}I}I}I}AD%/$.C#C&d}g}}~-#d*3}-'cd}K}I}I}I}AD%/$.C#C&d}n}}~-#d*3}-h0%d}L}I}I}I}AD%.C$d'}33}_$/%.C$L%+D(C'D%/%.C$L%+D(C'D%.C$C(Z%7C$C%Y%3d%C%dB}?C%d}J}I}I}I}An>D#C%d}N}I}I}I}Ak0$C$d3}33}_$/$.C$C(Z%7C$C%Y%3d%C%d}I}I}I}I}AiC%d}I}I}I}I}An>D#C%d}N}I}I}I}Ak0#C$d3}33}_$.C$dC}3G#C#.}w&&'}H%}G$}EF#dS}4E(G#%c%c%c%c%c%c%c%cd&C&K%#E)d}I}I}I}I}A}<C)d#q>d&}41%$#'.C&N&+E.C.~i)E-~&}+0$C-C-eb}PE,}NC,}FE,e}I}I}I}I}I}I}I3}#0$C-e#|0%C(dG}3E*d~E}x~-#d$3pC(d3}3E+C,3}+C*C(K%7C(K%;3}3C+3}_$/'.C(d3}3C&K%'E*C&K%+E+3OC(K%3h'cC(dG}3C*C+3mC&3}_$/'.C#C'C$C%C(L&;3[C&3}_$/'.C(dDY%OC(d}{}y~-#Y%KC(d}I}I}I}I}AY%G/%.C#C'C$C%C,3[/%.C(d+}3C&3]C(d}I}I}I}I}AY%GC(C(L&+Z%KC&3};C(d:Y%3C(C'Y%7C$C%C(d3}3C(dG}33}0D$C#d$Y%#C#C$Y%'/%.C(d:Y%3C(C'Y%7C$C%C(d3}3C(dG}33}0D$C#d$Y%#C#C$Y%'.C)d#q0#C&3};.C(dS}3G#.~U%%-}H%}G%c%cC%C'n0#C$C%}3D.C'C%}4D/C%C&}3D+&cC$C.i0%C,E'd$}3D,C$d$}3D*%c%c%cC$P##E)d~e$}:dSj'cC)d~-#i'cC*D$C(L&+sh0(C%C'l0%C&C'}3D0C%C'}4D1e$D4dGD$d~F}|~-#D'd#D)&cC4D3C)C$h};0(C3e.xD)C$d&C$C$d&r>E-}4D$e.C3C3e.|>e$}ED4C0C1C'C-3uC'C-}3D'h0#.C(C3Z&+C*D$/(.C%C'p0$C*D$C&C'}3P##C)j0(/'.C%C'n0$.#.C&C'}3P##dS}4E$d~l$}:d,n0%C(C)d&}=}3d}I&}4E'C'L&#e-}GC$}ve~l$}L}EZ&#C*D$/$..d#D+/$.d#D+.C#C/Y%'C#C+Y%#.}J&%'}H(}GF#dS}4E%G#C%d3}3E&e~l~$~l}Y~j~;!e}I~-~[}P~F~[}:C$C$e}I~-~[}P~F~[}:z>E$C$e~l~$~l}Y~j~;!|>E$C$e}I~%}bL}HE)e}I~%}bL}G}FE*eb}PE+C)}E3BC%L&CD)C%L&;D,C%L&3D-C&d;3}2C%C&Y%OC%dO}3E'd$d#C-d'3}FC'd~E}x~-#d$C,d%3}FC'd~E}x~-#d$C)d%3}FC'd~E}M~-#d$C+e}I~%}bL}LC*}E}pE&d}I~J~H$}7}vd%3}FC'd~f}v~-#d$C&d~M~A&}7d~l~l&}:d_}9}vd%3}FC'd~f}v~-#d$C&d~U*}7E(d_}9}vd%3}FC'd~/}O~-#d$C&C(d~U*}5}4}vd&3}FC%C%K%;E&Y%+C%C%L%3Z&#C%d$3}Y$C#C&d$}3E&Y%;C#C$Z&+C#e%Z&#C#C%L&#Z%3C%K%'C%K%+}3d~G#]##C%C&Y%+C%dS}3G#.~?%$-}HF#dC}4E&G#C&d7}3d~d}v~-#d$3pC$K%+E'C$K%/E)K%KE*C'C*l>D*C)K%GdC}4D-C$K%'D.d#D'C%d~l$}:D/d#D)d$D+&cC.C'd/}5}3D$C-C'd(}=}3D%C'C*C'C*n>d$}3D(%c%c&cC(C'd$}3E'i0$C%dC}3D%C&d+}3C$3}J$C$d/}3D$C&K%+E,h0#.C%d<}3P##C/j0%C&K%/D$C&d7}3E(C+C)3}3C(C%d3}3K%#C%d7}3K%#3>C(d~f}v~-#d$3}3C%K%#d'i'cC(C,C$3}3/%.C&d7}3C,C$3>/$.C&d7}3d~e}v~-#d$3}3C#C&K%?Y%+C#C&L%7Z%#C&dC}3G#2.d}e}M~-#D+d$D)/#.#.~Y%%'}H%}GF#dS}4E&G#C&d+}3C$d}f}M~-#d(3ZC&K%+D)C$K%/P##d$i'cC&dC}3C$d}f}M~-#d(3}#%}GC&K%C'cC&L&K/$.C&dC}3C$3}6C&L&Ke~g$C&K%C>.D*C&dC}3E'C$d~5}V~-#d)3}#C&L&KD+C&K%CD(C'C*3}+C$d}f}M~-#d(C'3!C'C+e#C(>3}+C$d~5}V~-#d)C'3!.C&d#Y%?C&e}I}I}I}I}I$Z%7C&C$d}t}O~-#d)3ZC&K%#E('cC&d7}3C(C&K%'3}83}9.C#d#]#sC#d}I}I}I}I}AY%CC#C%Y%kC#d#Y%oC#d#Y%[C#e}I}I}I}I~-#Z&SC#C&L%7Z%_C#C&K%?Y%gC#d#]#uC#e#Z&#C#C$L%+Z%;C#C$L%#Z%3C#C)h]#tC&dS}3G#.~5%$(}HF#dS}4E'G#%c%}HC&K%'E*C&K%+E)d$d#3}-h'c%cC*C)d~/}O~-#d$3}-h'cC*C)d}!}z~-#d%3}-h0$.C'd&Y%GC$C%C'dG}3d}q}z~-#d}m}z~-#C&d}e}z~-#3}R$E$>d&d'C$>3s/%.%cC)d}I%p'c&cC(C)i0%C*C)C(3gC(d$}3D(h0#.C'd)Y%;C'dG}3E(C*C)3mC$C%C'd;}3C(3}0/&.C'd/}3E(C)}v3}+C(d}^}z~-#d)3}3C'd(Y%GC$C%C'dG}3C(3}0/%.C#C&K%+Y%+C#C&L%#Z%#/%.C'd%Y%GC$C%C'dG}3d~@}y~-#d-3s.D(C#d}I}I}I}I}AY%#C#C(Y%'C&3}_$.C'dS}3G#.}z%$(}HF#dS}4E$G#C#K%#E%K%'D#%c%c%c%cC%K%#d:}41%#$%.C$dG}3E&C#L&#3}+C&d}d}w~-#d'3}3C&C#L&+d$3|/%.C$d#Y%OC$e}I}I}I}I3Z%GC%K%+d&}=D&&cC&h0%C$dG}3E'd}!}M~-#d$C$K%OE(>d%d#C(>3}3C'C#K%#C#K%'3}3C&d+}4D&C#d+}3D#/#.#.C$d#Y%OC$e}I}I}I}I3Z%G.C$C$L%KZ%7C$C%L%?Z%?C$C%L%3Z%/%c%c%cC%K%#E#d:}41%#$%.C%K%'P#3d;};D#/$.d:D#.d%C#C$d/}3d&3YC$dG}33}_$C$dS}3G#.~]$$+}HF#d3}4E&G#%c&c%cC'd;jD*C'd;i0#C&C'K%}]}xcE%Y%'C&C'K%}Y}xcY%#C'd+}3D'C$C%l0$C&C#Y%+C&C%Y%/C&d+}3C&3}Bh0$C$C%i0#C#C%}3E(P##E)d]j'cC)dRj0%/$.C(d$}3D)C$C%d}H}<}3D(d#D%&cC%C(iE+'cd$D*/%.C%C)}3E,P##dS}4d~l$}:d,p'cC%d$}3D%/$..C%C(n0%C+0#C,P##dRj0$..C&d3}3G#C*2.#.}Q%$&}GC$3Sh'cC$L&ce(t'cC$e#Z&}1C#d'Y%#C#e~U*C$L&sE&C%}FE%e#C%C&{>E%C%e~U*{>e~U*C$K%k>E%C$L&3E&C%C&w>Z&+2.C$L&3E'D&%c%c%c%cC$L&#e$t'cC$L&+E&C%C$L&[}FE(e#C%C(}#>E%{0$C&C%}FE%e#C%C&{>D&.C#d'Y%#C#C'C&C&C'y>Z&+C$3}Cd~l$}:E#d$}41%$%&.C#C&Z&+C#d$Y%#2.d$D#C$P#?0$.d%D#.C$C#]#}a$2.C#d,Y%#.~V$$(}HF#d3}4E(G#C%d&}=E*D%C$D&%c&cC%'cC%d+}4D%C&K%'D'C&d+}3D&C'C)}3E)C'r0$/%..C(d'}3E%C)3}2C%C$K%#C$K%'3}3C*d+}4D'C$d/}3D&C)C(K%/E%}4D$C(K%+C%}3D*&cC''cC$C&K%#E%l0%C%'cC*C&d'}4K%#C%~i-##.C'd+}4D'C&d+}3D&C$C%}4D$C%C*}3D*/$..C#C(L%'Z%#C#C)C$}4Y%+C(d3}3G#2.#.}V%$*}HC#d~S}x~-#d$3}3C$C%}3D,C$D*&cd#D'%c%c%}H%c%c%c%c%c&cC*C'E)}3E+C,i0+%c%cC+P##E(d,}41()'$$(#.C(dEi0)C(d~I#i0%.C)d$}3D'C(dBn0#.C#C$C%C&C&C'}3d$}43}'C#d~[}y~-#d'3}3C#C(d~_}y~-#3^/).d~S}y~-#/'.d~U}y~-#/&.d~W}y~-#/%.d~Y}y~-#/$.d~Q}y~-#.D'C#C$C%C&C&C)}33}'C#C'd%3}3.C&C)}3d$}3D&C+d$}3D*/$..C#C$C%C&C%3}'C#d~S}x~-#d$3}3.~]$$)}Hd#d+C#C#d+p>}4D(d+C$C$d+p>d*}3d}A}:E%d~l~l&}3E#d}I}I}E}:D)C#d3}?D*d}q}~~-#D#&c%c%}H%cC#E$K%#E#d}Hj'cC#K%'C#}3E&C%p0'C&C%}4C(}:E'C#l0'C&C%C'}3E%n0$C$D%C#/%.C*c#E#d}Hj0%d#2.C%C#Y%#C%C&C%}4Y%'C$C%Y%#C%K%#.D&C#C'j'cC&C'C#}4Y%'C'2.C%C&K%#Y%#C'2.C#d3}=C)3@d}q}~~-#D#/#.#.~J$$&}HC#d+C$C$d+p>d*}3d}A}:E%}3D&d}q}~~-#D$%c%c%c&cC$E'K%#E$d}Hi0%C$C&i0$C#C$p0#.C#C$C$K%'E&}3j'cC#C%Y%'C#C$Y%#C'C#Y%#2.C$C%C&}3Y%'2.C$K%'C%}3D%C$K%#E$d}Hi0$C$C$K%'E&}3C#j0$C$C%C&}3Y%'C'C$Y%#2.C#C%Y%'C#d}HY%#C'C#Y%#2.C'C#Y%#C#C$Y%#C#C%Y%'.~H$$)}HF#dC}4E%G#C$K%'D&C$K%/D*C%d+}3C$K%+E'3}7C'd/}5D(C%K%3E$C%K%+}4D)C%K%/C$d/}5}3D$&cC)hC(h};h'c%cC&K%#d}I}I}I}I}Aj'cC%d7}3C&3}^$/$.C%d}I}I}I}I}AY%7.C&d/}3D&C$C%K%?Y%+C$C%L%7Z%#C)d$}3D)C$d/}3D$C(d/}4D(/$..C%C'Y%3C#C*Y%/C#C%L%+Z%#C#C'Y%+C%dC}3G#.~)$%%}H%}GC#C$e~Y~aN}EE$C$e}z~b+}HE$e}z~b+}G}FE'eb}PE(C$}Ee}Y&}GC(e}z~b+}LC'}EE$C$e}x~b+y}v}F}pC$}pE%d}}.}7}4C%d}u}f%}7}3E%d~Z%}6}vE'}EC%d}]}f%}6}vC$C%d~9}=}6}u}E}EC'e}!}F}G}EE$e}z%xE%}v}EZ&#C#C$}pd(}5d%}3d}b$}6E&}ue}@e&C%>}EZ&+C#C$C&d}b$}5d%}3d}D}6}u}Ee$}EZ&3.~-$%&}G%}HF#dC}4E*G#C*d+}3C&e,e}FC%e&vE+>C%}Ee}b$}Ge%}Ee(}H}EC$C+}v}FE'C'e}Y&}HE'e}Y&}G}FE(eb}PE)C'}Ee}z~b+}G}EC)e}Y&}LC(}EE'e~Z%}G}EC'e%}Q}EC'}pd~l~l&}:d~Q#}7}v}Fe~Z~aN}FE(3Be#D'%cC*L&+C$u0#C*L&3C%u0#C*L&;C&u0#C#C(Z&+e$D'.C#C'Z&#C*dC}3G#.~?$%%}H(}GF#dC}4E&G#C&d+}3C$d~5#}33AC%L&+D(C%L&#D*C%L&3D)e$D+%}GC$P#}9'cC(D,C*/$.e$C)}FD,e$C(}FD)C*D+e$.D(C&C$Y%;C&C&d+}3Y%?C&d;}3E'd~(}J~-#d+C+C)3jC'd~0}J~-#d)C(C,3jC$d#]#}<C$C%L&#Z&SC$C%L&+Z&[C$C%L&3Z&cC#C&L%+Z%#C#C&L%3Z%+C&dC}3G#.}g$$*}HC$C%}3D,C$D(&cC'd$}4D&%c&cC(C,iE''cC%D&/%.C&d$}3D&C(O##C(d$}3D(dck0#.C*dCi0#C&d$}3D'C*d$}3D*C$C%C&3gE+h0$C#C$C%C)C&3}'C#d~P}x~-#d&3}3C&d$}3D'C&C+}3D)/$..C#C$C%C)C&3}'C'.}^%%&}H$}EF#d3}4E)G#%cC$K%#d}P}I}I}I}Aj'cC#d}I}I}I}I}AY%#/$.d}X}}~-#D'd}O}I}I}I}AD(g,#######D*%c%c%c%c%c%c%c%c%c%cC$P#'C%C&3&1+#$%&'()*,.d}I}I}I}I}AD(/+.d}J}I}I}I}AD(/*.C)d'}33}/C)N%+D*C)K%'D'd}K}I}I}I}AD(/).d}M}I}I}I}AD(3'D*/(.d#D'/&.d$D'/%.d~j}|~-#D'g+#######D*/%.d}N}}~-#D'g-#######D*/$.d}N}I}I}I}AD(.C#C*!&+C#C'Y%'C#C(Y%#.C)d3}3G#.}|$$)}HC$C%}3D+C$D(&cd#D)%c&cC(C)}3E*C+i0$C*P##E&dS}4d~l$}:d-lC&d~L$}:d~.#}4d~l$}:d=l};C&d~k#iC&dP}4d%l};};hC&d~L#j}:h'cC)d$}3D)/$..C#C$C%C'C'C)}3E(3}'C#d}K}z~-#d$3}3C#C&d}L}z~-#3^C(d$}3D'C*d$}3D(/$..C#C$C%C'C%3}'.~D$%%}H$}GF#dC}4E'G#%c%c%c%c%cd&C&K%#E(d}I}I}I}I}A}<C(d#q>1'#$%&$.C'd#Y%7C$C%C'd7}3d$d#3sD$C#d}I}I}I}I}AY%#C#C$Y%'/&.C'd$Y%7C'C&3]C$C%C'd7}3C'K%#C'K%'3sD$C#d}I}I}I}I}AY%#C#C$Y%'C&3};/%.C&d'}3D&.C#C&L%#E)Z%#C#C&K%+E#Y%+C'C#Y%3C'C)Z&+.C'dC}3G#.~B$$%}HF#d}I$}4E%G#%c%cC$K%/E&P##d%i'cC&K%'0$.C#e%Z&#/$.C%d~=#}3E&C$3AC%C$d}t}O~-#d)3ZC%d#]#}AC%e%Z&[C%e}I~J~H$Z&})C%d#^#}BC%e#Z&}9C%e}I}I}I}I}I$Z&}1C%d%]#SC%e+Z&KC%e#Z&CC%e}I}I}I}I}I$Z&;C%e#Z&+C%C%K%#d#j]#}DC&d}t}O~-#d)3fC#C%d+}3d~e#~i-##.C%d}I$}3G#.~.$%$}H$}GF#dC}4E(G#C(d3}3C$C%C&3F%c%cC(K%3d}P}I}I}I}Ai'cC(d,Y%+C(d}X}}~-#Y%'C(d}O}I}I}I}AY%#/$.C(C(L&;Z&+C(C(L&3E)Z&#C)}pd}I}I}I}I}Aj0#C#e#Z&#C(3};/$.C(d3}3C%C&C(C'34C#%}GC(K%3d$i'cC#C(K%7Y%+e%/$.C#C(L&;Z&+e$.Z&#.C(dC}3G#.}g$%%}H$}G%cC$C%}3E$C%l0#C'}vC$C#K%#E%d$}=E(C$C(n>E$d+d'C'd$i>E(C$C(n>E(}v}GE*eC}Q}p0#C*}pE$d}I}I}I}I}AC&}4n0#C&D)%}HC%'cC#K%'C%C'}5C&C$3}5/$.C&C$3}D.E'h0#C#C(Y%#C#C'Y%'d}J}I}I}I}AD).C).~=$%$}H$}GF#dC}4E'G#C'd3}3C$C%C&3F%c%cC'K%3d}P}I}I}I}Ai'cC'd,Y%+C'd}X}}~-#Y%'C'd}O}I}I}I}AY%#/$.C'C'L&;Z&+C'C'L&3E(Z&#C(}pd}I}I}I}I}Aj0#C#d}I}I}I}I}AY%#C'3};/$.C'd3}3C%C&C'3HC'K%3d}I}I}I}I}Ai'cC#C'K%7Y%'C#d}J}I}I}I}AY%#/$.C#C'K%;Y%+C#C'L%3Z%#.C'dC}3G#.}m$$&}HF#d3}4E'G#C&d~l$}:D&%c%c&cC%C(i0$C&C$C(}3P##j'cC(d$}3D(/$..C'd+}3C(C$C%3}(C'K%/D)C'K%+D&C'C(d$}3C$C%3oC#C'L&#Z%+C#C)d#C&>Y%'C#C&d$C&>Y%#/$.C#d#Y%+C#C%Y%'C#C$Y%#.C'd3}3G#.~($$&}HF#dC}4E$G#C$d7}3d}y}w~-#d}i}J~-#d,3bC$K%;D%%cC$K%7E&d}I}I}I}I}Ai'cC#d}I}I}I}I}AY%#C#C%Y%'/$.C$C$K%?Y%3C$C%Y%/C$C&Y%+C$d7}3d}i}J~-#d,C$d+}339C$K%7d}I}I}I}I}Ai'cC#C$K%;Y%'C#d}I}I}I}I}AY%#/$.C#C$K%?Y%+C#C$L%7Z%#.C$dC}3G#.}M$%$}G&}H%cC%d$}4d2n0#C%D'C$D(&cC''cC'd$}4D'C(P##C(d$}3D(d]}4d~l$}:d~c$r0$/%..&cC%'cC&e-}GC$P##dS}4}ve~l$}L}ED&C%d$}4D%C$d$}3D$/$..C#C&Z&+e$D&.C#C&Z&#.}~$$$}HF#d3}4E&G#C&C$Y%'C&C#Y%#C&C$Y%/C&C#Y%+d}0D$&c%cC$h'cd<D#/$.C$d}t}O~-#}3C$d$}3D$P##E#3}]$d7}3C&d+}33}Q$h0$..C&K%'E$'cC&K%#C$3}U$.d+d~5$3}W$E$C#]#~1$C$C%Y%~-$C$e%Z&3C$d#Y%+C$e}J}I}I}I3Z&#C&d3}3G#C$d+}3.}f$%%}H)}GF#d3}4E%G#C$P#}9D&C%C$d~(}J~-#d+3yC%L&+D(C%L&#D)C%C$d~0}J~-#d)3yC%L&+D*C%L&#D'%cC&'cC)D+C'D)C*D,/$.e$C(}FD,e$C*}FD(C'D+.e%D'C#C+s'}Ge%(C#C(Z&3C#C,Z&+C).Z&#C%d3}3G#.}Q$$%}GC$e}y~W$C$L&3E(e$}QC(}EE)C)e}y~W$}#>Z&3C%e}y~W$C(g######~abC'3}.E(C(e}y~W$}#>E(C%C(y>D%C#%}GC#C$L&#e$t'}Ge%C$L&+E)C&{0$=C)C&}FE&C%C%C&y>(C%.Z&+e#.Z&#.}]$%%}H$}G%c%c%c%cd%C#L&cE&}pd%}4C&e${>d%}41%$%#.%c%c%cC#3}Cd~l$}:d$}41%#$%.C#P#?0$.d$D%.C#P#}a$E#d&i0%C%C#d%i};D$/%.C#K%})d}I}I}I}I}AiC#K%sd}I}I}I}I}Ai}:D$/$.C#P#}Q$D$.C$d$}:.}F$%}HF#d3}4E'G#C'C&Y%/C'C%Y%+C$K%Kd(}=D&C$K%GD$d#D%&c%cC&'cC$d3}3C'd+}33}Q$h0$d$D(.C#C%Y%'C#C(Y%#C'd3}3G#2.C&dC}4D&C%d$}3D%C$dC}3D$/#.#.}A$%}H%cC$C%n0#%cC$h0#C$C'l'cC$C&}3O##d~,}Ho0%/$.C$C'j0$.%cC%h0#C%C'l'cC%C&}3O##d~,}Hm0$/%.C%C'j0$.C$C&}3D(C%C$}4D).C#C)Y%'C#C(Y%#.}!$$$}HF#dC}4E&G#C&d+}3C$K%'C$K%+d}Q}M~-#d*3}@%c%cC%0#C&K%+E%h0#C%C&K%/3;0#C&d0Y%7d}Q}I~-#d*C&d7}3d$d#3sD%C#d}I}I}I}I}AY%#C#C%Y%'C$3}_$/$.C#C$K%+Y%+C#C$L%#Z%#.C&dC}3G#.}Z$%$}H$}GF#dC}4E&G#C&d3}3C#K%#C$C%3F%}HC&K%3d}P}I}I}I}Aj'cC&C&L&3E'Z&#C&C&L&;Z&+C&P#'D%C'}p/$.C&d,Y%+d}X}}~-#D%C&d}X}}~-#Y%'C&d}O}I}I}I}AY%#d}O}I}I}I}A.C&3};C&dC}3G#d}N}I}I}I}AiC%}:.}+$'}GC#C%e~l~l~l~l2}LE&C$e~l~l~l~l2}LE'}GE(C'C%eC}QE%}GE'C&C$eC}QE)}G}EE$eC}O}EE&Z&#C#C&C(w}vC%C)}GC$C'w}veC}OC$eC}Q}M}E}EZ&+.}E$%}HF#d3}4E'G#C'd#Y%/C'e}I}I}I}I3Z%'C&d&}=D&&cC&'cC'd'}3E(C%K%#C%K%'3}3C(d~Z}N~-#d$3}3C&d+}4D&C%d+}3D%/$..C#C$C'K%+C'K%/3}[$C'd'}33}_$C'd3}3G#.};$$}HF#d3}4E'G#C'd+}3C$K%/C%C&3T%cC'K%+d$}:'}HC'K%/E%C$K%+r0$C'C$K%'C%d/}5}33}J$C'K%'D&C'K%#(d#.D$C#C&Y%'C#C$Y%#C'd3}3G#2.#.}5$%}HF#dC}4E(G#C#%}H%cC'C$L&#}#'cC'C$L&+{0$.C(d+}3E)C'3}+C(d:Y%7C(C$Y%;C#C%C&C(d7}3C)3}0Y%'d$/$.C#C'Z&+d#.Y%#C(dC}3G#.}:$$}HF#d3}4E'G#C'd+}3C#K%/C$C%3T%c%cC'K%+d$i'cC'K%/E$C#K%+r0%C#K%'C$d/}5}3E#3}S$C#C&K%+Y%+C#C&L%#Z%#/$.C&3}_$.C'd3}3G#2.#.}!$$&}Hd~[}N~-#D%d*D&%c%c%c%c%c%cd&C$K%#E'd}I}I}I}I}A}<C'd#q>d$}41)#$$%&'(.d~b}N~-#D%d'D&/'.d~f}N~-#D%d+D&/&.d}J}O~-#D%d+D&/%.d}R}O~-#D%d,D&/$.C$K%+D&C$K%'D%.C#C&Y%'C#C%Y%#.}+$&}HF#d3}4E&G#C&C$d2}:d+}=C$d~]$}:d'}?};^$/C&d/}3D'd#D$&cC$d%ih'cC#C%d3C$C'}3P##E(C(d$}33}'C$d$}3D$/$..C&d3}3G#.}?$&}HC#%}H%c%c%cC$K%#E%d}P}I}I}I}Ai0#C$K%+D'C$K%'D&C%d#q0%C%d~l~l~l~l*}:d%}41%$%#.C#d}I}I}I}I}AY%#2.C&D%C'D&C$K%//$.C'.Y%+C#C&Y%'C#C%Y%#.}(%$}H$}GF#dC}4E&G#C&d+}3C$C%3/C#C&K%+d$i'}Ge#(C&L&;D'%cC&L&3s'cC#C'e}I~%}bL}GZ&+/$.C#C'Z&+.e$.Z&#C&dC}3G#.},%%}H$}GF#d~=#}4E(G#C(d3}3E)d#d~-#~i.#C(d+}3C$C%C&C'C)35%cC(K%+h0#C(K%/0#C#d+}3C)d~-#~i-##e$D*.C#C*Z&#C(d~=#}3G#.}8$$}HF#dC}4E'G#C'd3}3C$C%C&3F%cC'K%3d}P}I}I}I}Aj'cC'C'L&;Z&+C'C'L&3Z&#/$.C'd,Y%+C'd}X}}~-#Y%'C'd}O}I}I}I}AY%#.C#C%C&C'3HC'dC}3G#.}5$%}HF#dC}4E%G#C%d3}3E&C$K%#d}X}M~-#d'3FC%d'}3C&3_%cC%K%'d}I}I}I}I}Aj'cC#C%K%/Y%+C#C%L%'Z%#/$.C#d#Y%+C#e}I}I}I}I3Z%#.C%dC}3G#.})$'}HF#d3}4E&G#C&d+}3C%d+d+3qC&K%/D'C&K%+D(%cC%h0#C%d&}=E)h0#C'C$C)~i-##.C#C%Y%+C#C'Y%'C#C(Y%#C&d3}3G#.}1%$}H$}G%c%c%c%cd%C#L&cE%}pd%}4C%e${>d$}41&&$%#.C#d~5#}32.C#d~=#}3d#C#K%sd}I}I}I}I}Aj>C#d~M#}3C#K%})d}I}I}I}I}Ai>2.C#d~e#}3D$.C$.}'$$}HF#d3}4E&G#C&d+}3C#K%/C$C%3T%cC&K%+d$i'cC&K%/E$C#K%+r0$C#K%'C$d/}5}3E#3}S$C#d}I}I}I}I}AY%#.C&d3}3G#2.#.v$%}H%c%cC$C%p0#C#C%}3P##E'dBpC'd~l#i};0$C'd~/$j0#C$C%d$}3E$p0#d%d#C#C$}3O##d}i}Hk>D&.C&2.d$.|$%}Hd$D&%cC$dS}4E%d~l$}:d-l0#C$d~N#}4d~l$}:d)r'cC$dZ}4D%C$d~.#}4d~l$}:d)lD&/$.C$d~D#}4D%.C#C%]#$C#C&]##.}/$$}HF#dS}4E&G#C&C#K%+Y%?C&C#L%#Z%7C&C$L%#Z&+C&C$K%+Y%3C&C%L%#Z&CC&C%K%+Y%Kd'dG3}W$E#C&d+}3dG~i-##C&dS}3G#C#.v$$}HF#d3}4E(G#%cC&e$u0#C(C#K%#C$C%3yC(L&#e$t'cC(L&+C't0$.C#K%'C(C'3}<C$C%C(3!.C(d3}3G#.v$$}HF#d3}4E&G#C&d+}3C#C$C%3Td#D%%cC&K%+d$i'cC&K%/E$C#K%Kr0$C#K%GC$d(}=}3D%.C&d3}3G#C%2.#.}&$$}HF#d3}4E%G#C%C$3Ad}9D$&cC$'cC%C$d~i}x~-#}3K%#C$d}I}y~-#}3K%#3fC$d+}3D$/$..C#C%L%+Z%+C#C%L%#Z%#C%d3}3G#.{$%}HF#d3}4E&G#C&d'}3E'd~S}x~-#d$3pC'd~S}x~-#d~T}x~-#C'C$C%3EE$>d$d'C$>3}3C#C&K%/Y%+C#C&L%'Z%#C&d3}3G#.{$%}HF#d3}4E%G#%cC#'cC#d+}4E#K%#D&C%C#Y%/C%d/}33}HC$hC&d$j}:0$C%d3}3G#2.d~*}L~-#d>3}b$#.d}x}K~-#db3}b$#.t#%c%c%cC$h0#C$C&l'cC$C%}3O##d~,}Hm0$/%.C$C&j0$.C$C%}3D%C&C$}4D$/$.d#D%.C#C$Y%'C#C%Y%#.r$$}HF#d3}4E&G#C&d'}3C%3}2C%'cC%'cC&K%+C$C%~i-##.C&C%Y%/.C#C&K%/Y%+C#C&L%'Z%#C&d3}3G#.r$$}G%c%cC&}vC$}v}GE'eC}Q}p0#C'}pE&d}I}I}I}I}AC%}4n0#C&h'cd#D$/%.C%C&3}DE%0$.#.C#C%Y%'C#C$Y%#.|$%}HF#d3}4E%G#C%d}y}V~-#d~5}V~-#d)C$3[d$D&%cC%K%#d$i'cC#C%K%'Y%'/$.C#C%L&+Z&+d#D&.C#C&Y%#C%d3}3G#.w$$}HF#dC}4E(G#C(C$Y%3C(C#Y%/C(d}I}I}I}I}AY%+C(C'Y%?C(C&Y%;C(d}I}I}I}I}AY%7C(d+}3C%C(d7}33iC(dC}3G#.i$%}HF#d3}4E%G#C%d+}3C#C$3}:%cC%K%+E#h0#C%K%/E&'cC&C#3}c$E$h0$.C%d3}3G#C$2.#.l$$}HF#d3}4E'G#C'C&Y%'C'C%Y%#d#D%C$C&r'cC'C&Y%/C'C#Y%+C'C'd+}33}BD%.C'd3}3G#C%.u%$}H$}GF#d3}4E'G#C'C$C%C&d~E}L~-#3J%cC'L&#E(e%t'cC#C'K%+Y%+/$.C#C'L&+Z&+.C#C(Z&#C'd3}3G#.s$$}GC$d#Y%;e}QJD*%c%c%cC%d~l$}:d$}41%$#%.C#e$Z&#2.e#D*.C#C$C'C*C'C*y>C*C&}pd$}:>C(C)3R.|$$}H%c%c%c%cC%}pE(d$}41&#&$%.C$d$]#cd+D(/%.d#D(/$.C$C&Z&KC$e$Z&Cd*D(C'0#C#C&Z&+d)D(.C#C(Y%#.i$$}HF#d3}4E'G#C'd+}3C$d~5#}3C%C&3Z%cC'K%+E$'cC#C$C'K%/3`/$.C#e#Z&#.C'd3}3G#.c$%}HC$h'cd#2.&c%cC$hD%C$h0#C$d$}4D$C#P##C#d$}3D#d~l#}4d~l$}:d}j$n0$..C%.e$$}HF#d3}4E'G#C'd+}3C$C&3}:%cC'K%+E$h0#C#C'K%/C$C%3}5E#h0#C'd3}3G#C#2.#.]#C%d%lC$e,{}:h'cC#C$e-}IC%C%d#j}43|.C#d~F}x~-#d-C$e-}K}pE#C#d$}33}'.e$$}HF#d3}4E'G#C'd+}3C$C%C&3Z%cC'K%+E$'cC#C$C'K%/3O/$.C#e#Z&#.C'd3}3G#.j$%}HF#d3}4E%G#C%C$K%#Y%+C%C$K%'E&Y%#C%C&Y%'C#C&C$K%+3}&C%C&Y%/C%3}>C%d3}3G#.e$$}G%c%c%c%cd%C#L&cE$}pd%}4C$e${>1&$&%#.C#d~e#}33}12.C#d~5#}33}12.C#dc}43}?..d$%}HC#C%3}Z$C#K%+D&%cC%h0#C%d&}=E'h0#C#K%'C&d&}=}3C$C'~i-##.C#C%C&}3Y%+.`$$}HF#d3}4E(G#C(d+}3C&C'C$C%3UC#C(K%+E#d$C#>C(K%/d#C#>3}3C(d3}3G#.a#%cC$h0#%cC$C&l'cC$C%}3O##d~,}Hm0%/$.C$C&i0$.d#D%.C#C$Y%'C#C%Y%#.^$$}H%cC#K%+E%C$r'cC$hC$C%r};h'cC#K%'C$}3O##d~,}Ho0%.C#C$Y%+.2.#.Z$$}HC$d&}=D$C#d+}4D&&cC$E#'cC#d+}4D$C&d+}3E&C%3}Q$h0$..C#d#j.h$$}HF#d3}4E%G#C%d#Y%/C%e}I}I}I}I3Z%'C%d'}3C$d$3|C#C%K%/Y%+C#C%L%'Z%#C%d3}3G#.[$%}HF#dC}4E%G#C%d.Y%+C%d7}3E&C#C$3md~(}J~-#d+C%d+}3C&3}0C%dC}3G#.!$$}HF#d3}4E'G#C'C$Y%'C'C#Y%#C'C&Y%/C'C%Y%+C'C'd+}33}BC'd3}3G#.}'#C$g######~]~,}ig########g######~]bg########C%C%g########},>E$C$g######~]b}->C%C%}+>}kg######~]b}iC#~'}k~i*._$&}HF#d3}4E$G#C$d+}33%C$K%+D%C#C$K%/E&Y%+C#C%Y%'C#C&Y%#C$d3}3G#.[$$}HF#d3}4E'G#C'C$Y%/C'C#Y%+C'd}I}I}I}I}AY%'C'd'}3C%C&3iC'd3}3G#.Y$%}HC#K%+D$C#K%'D%&cC$'cC$d$}4D$C%3}S$C%d/}3D%/$..C#d/3}K$.0#C#C$d$d$3}d$.T$$}HC#C%3}Y$C#K%+D&C%'cC#K%'C&}3C$C%~i-##.C#C%C&}3Y%+.`#C#K%#L&#e}I~%}bL}GC$}EC#K%'L&#e}I~J~H$}G}EC#K%+L&#e~M~A&}G}EC#K%/L&#e~U*}G}E.Q#C%C&3?E%'cC&C$C$C&n>E&'cC%C#C&~i-##.C#C$3@.C%.!$$}G%cC$K%/d}f}M~-#d(3kE$h0#C$K%#d'j0#C#C$L&+Z&+e$D%.C#C%Z&#.0#C#C$d/d'3}d$._$$}Ge}n~3}Q}j~5}e}p~fnD%&cC$'cC$d$}4D$C%C#T##}Ne}|}L}I}I}IC}GD%C#d$}3D#/$..C%.Z$$}HC#K%+E%C#K%#i'cC#d+d+3}O$.C#C%d$}3Y%+C#K%'C%d&}=}3C$Z&#.R#C#C$Y%'C#C%d#C$d}I}I}I}I}AC%d#C%}2d$i>E#}4p>d#C#>Y%#.Z$$}H%c%c%cd&C#K%#E$d}I}I}I}I}A}<C$d#q>d%}41%#$%.C#d'}3D#.C#3}_$..S$$}HF#dC}4E%G#C%C$36C#C%K%7C%K%;3pC%d3}33}_$C%dC}3G#.[#C#d3}33}T$C#C$L%+Z%;C#C$L%#Z%3C#dC}33}T$C#d#Y%gC#d}I}I}I}I}AY%C.S$$}HF#d3}4E$G#C$C#K%#Y%/C$C#K%+Y%+C$d+}33}a$C$d3}3G#.N#C#d3}33}T$C#dC}33}T$C#d~5#}33}L$C#dS}33}`$C#d_}33}a$.J#C$C%C&C'3uD&C#C%C'}4Y%'C#C$C'}3d#C&>Y%#.W#C#C$dS~i-##C$d%]#KC$e+Z&CC$e#Z&;C$e}I}I}I}I}I$Z&3C$e#Z&#.},$&}HC#K%'E%C$K%'i'}H%}HC#K%#D&C$K%#D'&cd#C%h0$=C%d$}4D%C'P##D$C&P##D#C'd$}3D'C&d$}3D&C#C$i0#.C#C$}4.(d$.h.K#C#L&ce&t'cC#P#k2.C#3eE#h'cd#2.C#K%/P#P.]$%}HF#d3}4E%G#C$'cC$C#3}c$D#.C%d+}3E&C$Y%'C&C#Y%#C%K%+C%d3}3G#.K#%cC%C#K%#C$}4p0#C#C$C%C&C'3Kd}J}I}I}I}Ai0##..G$$}GC#K%#E#C$C%3}3C#C&C&eb}PE(}NC(}FC'3|.F#C#d~5#}33}1C#d3}33}a$C#d?}33}a$C#d~M#}33}a$.r$$}HC#K%#E$C$K%#d$}4E$Y%#C$h'cC#K%#E#d3}33}M$%cC#d}Hi0#C#C#K%'d$}4E$Y%'C$0#C#d~5$3@...@#C#K%#E#d/}33}S$C#d;}33}S$C#dG3@.H#C#C$K%+Y%'C#C$K%'d#C$K%#d}I}I}I}I}Aj>Y%#.>$$}HC#K%#E%'cC#K%'C$C%}53}U$..:#C#K%#E#'cC#3}GC#d~e#3@..=#C#L&#e%u'cC#d}i$}33}_$C#3}%..@$$}HC#K%'E$C$K%#d$}3Y%#C#d+}33}H.?#C#C#K%#d$C$C%3Kd}J}I}I}I}Aj'c#..A#C#e~l~l~l~l2C$C$e~l~l~l~l2}#>}pC%C&3}[$.;#C#K%#C#K%'C$K%#C$K%'3}-.;#C#K%'C#K%+C$K%#C$K%'3}-.9#C#K%#d}I}I}I}I}Aj'cC#3}_$..8#C#K%#d}I}I}I}I}Aj'cC#3}1..0#C$'cC#C$3@..8#C#K%#d}P}I}I}I}Aj'cC#3};..4#C#C$3}DE#h'c#.C#.0#C$'cC#C$3@..4#C#C#K%+C$d$d$3}E.4#C#C#K%+C$d+d+3}E.3#C#d~l$}:C$C%C&3$.3#C#C$K%'C$K%+3}&.3#C#d~l$}:d%}=K%}u}}c.3#C#C$K%'C$K%+3p.,#C#d$3}K$.,#C#d'3}K$.,#C#d+3}K$.,#C#C$3##.+#C$C#3?.[%$}H$}GF#d3}4E'G#C'd+}3C$C&C%3qC'L&+D(C#d#Y%+C#C(Z%#C'd3}3G#..~<Ro#d}I}I~-#.~_$}1}=}=}9}<]RR}+}*}<}.x};}5R}9};}8}+}5}.}6}<R}2}-}.}6}9}8}=}.}7},}BP}4}.}BP}2}7P}>}<}.#2#3#C###R}9};}8}+}5}.}6}<R}>}9}<}=};}.}*}6P},};}.}-}.}7}=}2}*}5R}9};}8}+}5}.}6}<R}>}9}<}=};}.}*}6P}9}5}*}7R}9};}8}+}5}.}6}<R}>}9}<}=};}.}*}6P}9};}8}3}.},}=##[#3#@###x#3#:###}5#3#=###}9};}8}3}.},}=l}-}=}8}4}.}7}6}2}7}=}(}*}-}6}2}7n}.}B}-}*}=}.i};}8}6}-}*}=}.w}8}2}-}.}6}9}8}=}.}7},}Bn}.}B}@}.}+}1}8}8}4x};}5}0}*}=}.}@}*}B}6}*}Au}.}=};}2}.}<#d}I}K~-#.~R%-#######'#######}=}2}6}.}8}>}=}=}8}=}*}5w}2}6}.}8}>}=}-}.}-}>}9}5}2},}*}=}.}-}*}=}=}.}6}9}=}.}-C}=}8C}=}*}4}.C}8}@}7}.};}<}1}2}9C}8}/Cu}>}<}=C}?}*}5}>}.C}@}1}2}5}.C}2}=C}@}*}<C}+}8};};}8}@}.}-};}.},}>};}<}2}?}.C}>}<}.C}8}/C}*}7C}8}+}3}.},}=C}-}.}=}.},}=}.}-C}@}1}2},}1C}@}8}>}5}-C}5}.}*}-C}=}8C}>}7}<}*}/}.C}*}5}2}*}<}2}7}0C}2}7C};}>}<}=}7}>}5}5C}9}8}2}7}=}.};C}9}*}<}<}.}-C}=}8C};}>}<}=$#######~l~l~l}H####&#######}8}>}=},}8}6}.}>}7}4}7}8}@}7##~d$3#*###}1}=}=}9]RR}=}B}9}.OC}-}<},}(}>}<}(O}5}2}6}2}=##@%3#(###CcccCCUCVV]WW]XXCSSSSCUUPcccPSSCVV]WW]XXCjpww#######*##}I&#d~]}M~-#.H}8}9}.};}*}=}2}8}7}9}*}=}1}6}.}=}1}8}-jhw##}L%3#&###*##}I%#d}i}N~-#.(*##}I'#d}y}N~-#.@}7}.}A}=f}>};}<}8};}1}*}<p}8};}.#######*##}I)#d~E}N~-#.}c$}=}8}=}*}5}<#$%&'srvwghohwh-}7}8}=}1}2}7}0}7}>}5}5}*C}<}=};}2}7}0}*C}7}>}6}+}.};}*C}+}8}8}5}.}*}7#$%&'()*+,-./0123456789:;},}>};}<}8};###N&3#)###}9}*};}=}G}GQ}*}0}.}7}=m}8}+}<Q},};}.}*}=}.R}?UR}*}0}.}7}=R}D}9};}8}3}.},}=l}-}FR}3}8}+}9};}8}6}9}=#d}Q}P~-#.-}5&3#)###$%#d}u}P~-#.pf&3#3###v&3#<###}A&3#$###$$##}*}0}.}7}=m}8}+}<Q}0}.}=R}?UR}*}0}.}7}=R}D}9};}8}3}.},}=l}-}FR}3}8}+R}D}2}-}F}2}-###$#d}Q}Q~-#.,~`&3#%###$#d}u}Q~-#.}&~5&3#0###~B&3#A###~e&3#$#####$&}*}0}.}7}=m}8}+}<Q}<}.}7}-p}.}<}<}*}0}.R}?UR}*}0}.}7}=R}D}9};}8}3}.},}=l}-}FR}3}8}+R}D}2}-}FR}6}.}<}<}*}0}.#####$#d}a}R~-#.,~`&3#%###$#d~%}R~-#.-}5&3#)###$%#d~I}R~-#.}n$k'3#8###}&'3#I###}Q'3#%###$$#$}3}8}+}<}*}0}.}7}=m}8}+}<Q}5}2}<}=R}?UR}*}0}.}7}=R}D}9};}8}3}.},}=l}-}FR}3}8}+}<}*},}=}2}?}.},}8}6}9}5}.}=}.}-}*};},}1}2}?}.}-}/}*}2}5}.}-###G(3#)###M(3#,###V(3#+###^(3#)###}<}=}*}=}.}*}>}=}1}8};}=}.}A}=#####$#######}-#d}Y}T~-#.=)###g(3#'#######}-(3#(####$#d~-}T~-#.-}2(3#)####$#d~M}T~-#.M}8(3#'####$######'###}A(3#<#######@%3#(####$#d}i}U~-#.5N&3#)####$######%$#d~)}U~-#.}.~e'3#'###~i'3#1###-(3#=###}Y(3#(#####$&}?}2}.}@}<}*}7}*}5}B}=}2},}<Q}?}2}.}@}<R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}?}2}.}@}<#####$#######~g#d~%}V~-#.D~l~l~l~l~l~lB#$#######}8}/}/}<}.}=}9}*}0}.######&#d~U}V~-#.4~(#3#+####$######&#d}Q}W~-#.Z~0#3#)####$######'###}a)3#U#######@%3#(####$######'###}y)3#d~5}W~-#.4~5)3#)####$######(#d~U}W~-#.<~;)3#'####$######$###}))3#(#d}U}X~-#.}*}.)3#2###}=)3#B###~E)3#(#####%%}?}2}<}2}=}8};}<}*}7}*}5}B}=}2},}<Q}?}2}<}2}=}8};}<R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}?}2}<}2}=}8};}<$###}q*3#+#d~e}X~-#.}J%}y*3#5###~/*3#E###~E)3#(#####%%},};}.}*}=}.}-d}=}/}.}.}-}+}*},}4}*}7}*}5}B}=}2},}<Q}/}.}.}-}+}*},}4R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}/}.}.}-}+}*},}4},}8}-}.}(}<}7}2}9}9}.}=},}8}7}=}.}A}=}>}*}5}*}0}.}7}=}=}1}>}6}+}<}(}8}7}5}B#|+3#/###}.+3#-###}8+3#(###}=+3#.###}<}8}>};},}.}9}.}7}-}2}7}0}2}7}(}9};}8}0};}.}<}<};}.}<}8}5}?}.}-}-}2}<}6}2}<}<}.}-###}o+3#*###}v+3#.###~%+3#+###~-+3#,###}<}=}*}=}>}<######&#d}Q}[~-#.4~(#3#+####$######&#d}q}[~-#.}3~0#3#)####$######)###}I+3#'#######}i+3#)####$######*###~9+3#'#######~Y+3#)####$######'###}A(3#U#######@%3#(####$#d}q}!~-#.}R$N&3#)####$######%###7+3#,###@+3#+###H+3#5###Z+3#E###~e+3#)#####%%}*}7}*}5}B}=}2},}<Q}/}.}.}-}+}*},}4e}Bs}*}0}.R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}/}.}.}-}+}*},}4R}+}BP}9}*}0}.######&#d~-}]~-#.4~(#3#+####$######&#d~M}]~-#.}3~0#3#)####$######'###}A(3#-#######@%3#(####$######)###}I+3#'#######}i+3#)####$######*###~9+3#'#######~Y+3#)####$#d~Q}^~-#.}&~U,3#;####-3#M###S-3#(#####%%}<}.}*};},}1}.}<}*}7}*}5}B}=}2},}<Q}<}.}*};},}1}.}<R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}<}.}*};},}1}.}<####&#d~=}_~-#.4~(#3#+####$######&#d~]}_~-#.M~0#3#)####$######'###}A(3#U#######@%3#(####$#d}y}`~-#.4N&3#)####$######%#d~:}`~-#.}F.3#+###+.3#5###=.3#E###c.3#'#####%%}=}2}6}.}<}=}*}6}9},}8}7}?}.};}<}*}=}2}8}7}<}*}7}*}5}B}=}2},}<Q},}8}7}?}.};}<}*}=}2}8}7}<R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}*}<}<}2}<}=}*}7}=$#######~U&#d~E}a~-#.$&#d~U}a~-#.4~(#3#+####$######&#d}Q}b~-#.T~0#3#)####$######'###c/3#}-#######@%3#(####$######%#d~5}b~-#.}b$N&3#)####$######%###~].3#,###~f.3#0###)/3#:###@/3#F###{/3#'#####&%}*}7}*}5}B}=}2},}<Q},}8}7}?}.};}<}*}=}2}8}7R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}*}<}<}2}<}=}*}7}=R}=}1};}.}*}-}<R}D}=}1};}.}*}-l}-}F}=}1};}.}*}-l}-####%#d~]}c~-#.,w03#+###$#d}]}d~-#.}.+03#9###A03#Y###})03#$#####&%}*}7}*}5}B}=}2},}<Q},}*}5}5}.};v}=}*}=}<R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}*}<}<}2}<}=}*}7}=R},}*}5}5}.};P}<}=}*}=}<###&#d}Q}e~-#.4~(#3#+####$######&#d}q}e~-#.-~0#3#)####$#d~9}e~-#.t}y03#8###~203#S###~e03#%#####%%}*}0}.}7}=m}8}+}<Q};}.},}8};}-R}?UR}*}0}.}7}=R}D}9};}8}3}.},}=l}-}FR}3}8}+R}D}2}-}FR};}.},}8};}-#d}}}f~-#.U}113#3###}A13#H###~e&3#$#####$&}*}0}.}7}=m}8}+}<Q}-}.}5}.}=}.u}.},}8};}-#d~i}f~-#.}V$~=13#9###}A13#H###~e&3#$###%#**}*}7}*}5}B}=}2},}<Q}-}*}2}5}By}2}.}@}<R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}?}2}.}@}<R}-}*}2}5}B}9};}.}/}2}A}-}*}B}@}.}.}4}6}8}7}=}1#z23#&###}#23#'###}'23#(###}0};}8}>}9#######&#d}a}h~-#.4~(#3#+###$$######&#d~%}h~-#.-~0#3#)###$$#d~E}h~-#.-}B%3#'####$#d~e}h~-#.mt23#)####$######)###}-23#&#######}E23#(####$######'###c/3#}7$######@%3#(####$#d~E}i~-#.4N&3#)####$######%#d~a}i~-#.}.}))3#(###;23#7###O23#H###}Q23#*#####%*}*}7}*}5}B}=}2},}<Q}*};},}1}2}?}.}-y}2}.}@}<R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}?}2}.}@}<R}*};},}1}2}?}.}-#&#d~U}j~-#.4~(#3#+###$$######&#d}Q}k~-#.M~0#3#)###$$######'###c/3#~U&######@%3#(####$#d~5}k~-#.4N&3#)####$######%#d~Q}k~-#.}0}))3#(###}a33#:###}x33#K###~E33#'#####%*}*}7}*}5}B}=}2},}<Q}*};},}1}2}?}.v}=}*}=}>}<R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}?}2}.}@}<R}-}*}2}5}BR}<}=}*}=}>}<#d~M}l~-#.4}Q43#:###}h43#O###+#d~g}l~-#.r%*}*}7}*}5}B}=}2},}<Q}.}<}=}2}6}*}=}.e}*},}4}/}2}5}5R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}?}2}.}@}<R}-}*}2}5}BR}+}*},}4}/}2}5}5####&#d~E}m~-#.-~(#3#+###$$#d~i}m~-#.X~i43#=###953#Q###k53#$#####**}*}7}*}5}B}=}2},}<Q}+}.}0}2}7e}*},}4}/}2}5}5#&#d~-}n~-#.-~(#3#+###$%#d~Q}n~-#.o}a53#:###953#Q###}y53#$###$#**}-}.}9}5}8}B}6}.}7}=}<Q},};}.}*}=}.R}?TR}9};}8}3}.},}=R}>}9}-}*}=}.R}D}9};}8}3}.},}=l}-}F#d~2}o~-#.}%63#5###563#A###+#######$$''}-}.}9}5}8}B}6}.}7}=}<Q}0}.}=R}?TR}9};}8}3}.},}=R}>}9}-}*}=}.P}<}=}*}=}>}<R}D}<}=}*}=}>}<l}-}F}<}=}*}=}>}<l}-#####$#d}y}p~-#.,}!63#+###$#d~A}p~-#.}?})63#2###}863#G###}i63#$#####()}-}.}9}5}8}B}6}.}7}=}<}-}.}9}5}8}B}6}.}7}=}<Q}5}2}<}=R}?TR}9};}8}3}.},}=R}D}9};}8}3}.},}=l}-}FR}-}.}9}5}8}B}6}.}7}=}<##'###}A(3#<#######@%3#(####$#d~M}q~-#.4N&3#)####$######%#d~i}q~-#.}3~]63#.###~h63#3###.73#F###S73#%#####()}-}.}9}5}8}B}6}.}7}=}<Q}-}.}5}.}=}.u}.},}8};}-R}?TR}9};}8}3}.},}=R}D}9};}8}3}.},}=l}-}FR}-}.}9}5}8}B}6}.}7}=}<R}D}<}=}*}=}>}<l}-}F#d~i}r~-#.s}i73#;###~%73#Q###}i63#$###%#**}9};}.}?}2}.}@}<Q},};}.}*}=}.R}?TR}9};}8}3}.},}=R}9};}.}?}2}.}@R}D}9};}8}3}.},}=l}-}F}+};}*}7},}1#d~M}s~-#.-i83#)###$%#d}M}t~-#.}>;83#2###J83#B###s83#$###$$'(}*}>}=}8}6}*}=}2}8}7}<Q};}>}7R}?TR}@}8};}4}/}5}8}@R}D}9};}8}3}.},}=l}-}FR}D}@}8};}4}/}5}8}@v},}1}.}6}*l}-}FR}=};}2}0}0}.};}@}8};}4}/}5}8}@v},}1}.}6}*l}-######$#d}Q}u~-#.,~O83#3###$#d}u}u~-#.}Q%}i83#2###}x83#V###~e83#$###$$)'}2}<C}<}.}=C}*}/}=}.};CXC}.}6}9}=}BC}9}*}0}.}<C}2}7C}*C};}8}@};}.}9}.}*}=}<C}*}7C}.}*};}5}2}.};C},}>};}<}8};]C}2}<C}6}2}<}<}2}7}0C}*}5}=}1}8}>}0}1C}1}*}<p}8};}.C}2}<C}=};}>}.}1}*}<C}6}8};}.C};}8}@}<C}=}1}*}7C};}.}:}>}.}<}=}.}-C}=}1}.C}7}.}A}=f}>};}<}8};C}?}*}5}>}.}<C}8}/C}.}*};}5}2}.};C}9}*}0}.}<~393#I###b`I}D}F]##:###}y)3#####}*C}9}*}0}.C}8}>}=C}8}/C};}*}7}0}.C}=}8C#$%&'()*+,-######*##}I#d~-}w~-#.~X&}*}5}5}8}@s}5}*}2}7k}=}=}9}1}=}=}9}<]RR}*}9}2Q}6}2}7}=}5}2}/}BQ},}8}6};}.}=};}Bd}/}=}.};}-}*}=}.}4}.}B}<}5}8},}*}5}1}8}<}=TUZQSQSQT}$]]T}&#}A:3#,###}J:3#,###}S:3#(###$#######~l~l~l~l~l~lB#%#######SSSSPTTPUUwVV]WW]XXYY]ZZPSTUVWXYZ[!~!~,~*E~O}I}oE#~(#3#+###~0#3#)###};}.}:}>}.}<}=C}*C}<}1}8};}=}.};C};}*}7}0}.OC}<}>},}1C}*}<C}-}*}=}.i};}8}6`C}*}7}-C}-}*}=}.w}8`}*C}7}>}6}+}.};C}=}1}*}=C}2}<C}7}8C}.}A}*},}=C}2}7}=}.}0}.};}.}6}9}=}BC}=}.}A}=},}>};}<}8};`}%E}%}%}%}7}%};}%}=}%}>SSSTUVWXYZ[!}*}+},}-}.}/HSTUVWXYZ[!defghiQQC}+}B}=}.}<#e&3#$###EQQEEQE$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$#d~Z}{~-#.V%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%&&&&&&&&&&&&&&&&'''''#d}t}|~-#.~i$CUUCcccCSSSSCVV]WW]XXCjpwCcccCUUCVV]WW]XXCSSSSm}*}7i}.}+p}*};d}9};p}*}Bm}>}7m}>}5d}>}0v}.}9r},}=q}8}?g}.},}*}7C}*};};}*}B}*C}/}>}7},}=}2}8}7}*}7C}8}+}3}.},}=}:}>}.}>}.}-}<}>},},}.}<}<}/}*}2}5}>};}.}a&3#;'3#~5'3#S)3#}A*3#~Q*3#~%,3#~=-3#~-.3#~E/3#}I03#[13#}i13#~U13#}133#{43#~943#}153#~=53#S63#~-63#}973#~U73#}983#;93#&###'###)###}L%3#~P%3#~T%3#d}q}~~-#.(~l~l~l~l$";

// pkg/dist/core.js
var __defProp = Object.defineProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};
var TextDecoder2 = class {
  #decoder;
  decode(bytes) {
    if (bytes === void 0) return "";
    this.#decoder ??= new globalThis.TextDecoder("utf-8", { ignoreBOM: true });
    return this.#decoder.decode(bytes);
  }
};
var TextEncoder2 = class {
  #encoder;
  encode(text22) {
    this.#encoder ??= new globalThis.TextEncoder();
    return this.#encoder.encode(text22);
  }
  encodeInto(text22, bytes) {
    this.#encoder ??= new globalThis.TextEncoder();
    return this.#encoder.encodeInto(text22, bytes);
  }
};
var core_bg_exports = {};
__export(core_bg_exports, {
  Task: () => Task,
  __wbg___wbindgen_throw_4c88d8bf264fd984: () => __wbg___wbindgen_throw_4c88d8bf264fd984,
  __wbg_emit_31dc382db8e00089: () => __wbg_emit_31dc382db8e00089,
  __wbg_readName_5b57b07ed11808af: () => __wbg_readName_5b57b07ed11808af,
  __wbg_read_70ef7efe1288daa4: () => __wbg_read_70ef7efe1288daa4,
  __wbg_set_wasm: () => __wbg_set_wasm,
  __wbg_text_c0caabaa0b4eb5ed: () => __wbg_text_c0caabaa0b4eb5ed,
  checkClient: () => checkClient
});
var host_exports = {};
__export(host_exports, {
  attach: () => attach,
  emit: () => emit,
  number: () => number,
  read: () => read,
  readName: () => readName,
  text: () => text2
});
var sources = [];
var listener;
function attach(objects, listen) {
  sources = objects;
  listener = listen;
}
var value;
function read(source2, name) {
  value = get(sources[source2], name);
  return kindOf(value);
}
function readName(source2, index) {
  const object2 = sources[source2];
  if (typeof object2 !== "object" || Array.isArray(object2)) return false;
  try {
    const names = Reflect.ownKeys(object2);
    value = names.filter((key) => typeof key === "string" && get(object2, key) !== void 0)[index];
  } catch {
    return false;
  }
  return value !== void 0;
}
function get(object2, name) {
  try {
    return Object.hasOwn(object2, name) ? object2[name] : void 0;
  } catch {
    return void 0;
  }
}
function text2() {
  return value;
}
function number() {
  return value;
}
function emit(kind, number22, text22) {
  listener(kind, number22, text22);
}
function kindOf(value2) {
  if (value2 === null) return 1;
  if (Array.isArray(value2)) return 6;
  if (value2 === true) return 5;
  return { undefined: 0, string: 2, number: 3, boolean: 4, function: 7 }[typeof value2] ?? 8;
}
var Task = class {
  __destroy_into_raw() {
    const ptr = this.__wbg_ptr;
    this.__wbg_ptr = 0;
    TaskFinalization.unregister(this);
    return ptr;
  }
  free() {
    const ptr = this.__destroy_into_raw();
    wasm.__wbg_task_free(ptr, 0);
  }
  /**
   * Creates a task of the operation with this name, in a [`Mode`]. [`EventNumber::Begin`] reads
   * the parameters.
   * @param {string} operation
   * @param {number} mode
   */
  constructor(operation, mode) {
    const val2 = +mode;
    const ptr0 = passStringToWasm0(operation, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
    const len0 = WASM_VECTOR_LEN;
    const ret = wasm.task_new(ptr0, len0, val2);
    this.__wbg_ptr = ret;
    TaskFinalization.register(this, this.__wbg_ptr, this);
    return this;
  }
  /**
   * Processes an event ([`EventNumber`]) and returns the next command ([`CommandNumber`]).
   *
   * `number` belongs to the event. `now` is the current time in milliseconds since the Unix
   * epoch, and `random` is in `0.0..1.0`.
   * @param {number} event
   * @param {number} number
   * @param {number} now
   * @param {number} random
   * @returns {number}
   */
  step(event, number22, now, random) {
    const ret = wasm.task_step(this.__wbg_ptr, event, number22, now, random);
    return ret >>> 0;
  }
};
if (Symbol.dispose) Task.prototype[Symbol.dispose] = Task.prototype.free;
function checkClient() {
  const ret = wasm.checkClient();
  return ret !== 0;
}
function __wbg___wbindgen_throw_4c88d8bf264fd984(arg0, arg1) {
  throw new Error(getStringFromWasm0(arg0, arg1));
}
function __wbg_emit_31dc382db8e00089(arg0, arg1, arg2, arg3) {
  emit(arg0 >>> 0, arg1 >>> 0, getStringFromWasm0(arg2, arg3));
}
function __wbg_readName_5b57b07ed11808af(arg0, arg1) {
  const ret = readName(arg0 >>> 0, arg1 >>> 0);
  return ret;
}
function __wbg_read_70ef7efe1288daa4(arg0, arg1, arg2) {
  const ret = read(arg0 >>> 0, getStringFromWasm0(arg1, arg2));
  return ret;
}
function __wbg_text_c0caabaa0b4eb5ed(arg0) {
  const ret = text2();
  const ptr1 = passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
  const len1 = WASM_VECTOR_LEN;
  getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
  getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
}
var TaskFinalization = typeof FinalizationRegistry === "undefined" ? { register: () => {
}, unregister: () => {
} } : new FinalizationRegistry((ptr) => wasm.__wbg_task_free(ptr, 1));
var cachedDataViewMemory0 = null;
function getDataViewMemory0() {
  if (cachedDataViewMemory0 === null || cachedDataViewMemory0.buffer.detached === true || cachedDataViewMemory0.buffer.detached === void 0 && cachedDataViewMemory0.buffer !== wasm.memory.buffer) {
    cachedDataViewMemory0 = new DataView(wasm.memory.buffer);
  }
  return cachedDataViewMemory0;
}
function getStringFromWasm0(ptr, len) {
  ptr = ptr >>> 0;
  return decodeText(getUint8ArrayMemory0().subarray(ptr, ptr + len));
}
var cachedUint8ArrayMemory0 = null;
function getUint8ArrayMemory0() {
  if (cachedUint8ArrayMemory0 === null || cachedUint8ArrayMemory0.byteLength === 0) {
    cachedUint8ArrayMemory0 = new Uint8Array(wasm.memory.buffer);
  }
  return cachedUint8ArrayMemory0;
}
function passStringToWasm0(arg, malloc, realloc) {
  if (realloc === void 0) {
    const buf = cachedTextEncoder.encode(arg);
    const ptr2 = malloc(buf.length, 1) >>> 0;
    getUint8ArrayMemory0().subarray(ptr2, ptr2 + buf.length).set(buf);
    WASM_VECTOR_LEN = buf.length;
    return ptr2;
  }
  let len = arg.length;
  let ptr = malloc(len, 1) >>> 0;
  const mem = getUint8ArrayMemory0();
  let offset = 0;
  for (; offset < len; offset++) {
    const code = arg.charCodeAt(offset);
    if (code > 127) break;
    mem[ptr + offset] = code;
  }
  if (offset !== len) {
    if (offset !== 0) {
      arg = arg.slice(offset);
    }
    ptr = realloc(ptr, len, len = offset + arg.length * 3, 1) >>> 0;
    const view = getUint8ArrayMemory0().subarray(ptr + offset, ptr + len);
    const ret = cachedTextEncoder.encodeInto(arg, view);
    offset += ret.written;
    ptr = realloc(ptr, len, offset, 1) >>> 0;
  }
  WASM_VECTOR_LEN = offset;
  return ptr;
}
var cachedTextDecoder = new TextDecoder2("utf-8", { ignoreBOM: true });
cachedTextDecoder.decode();
var MAX_SAFARI_DECODE_BYTES = 2146435072;
var numBytesDecoded = 0;
function decodeText(bytes) {
  numBytesDecoded += bytes.length;
  if (numBytesDecoded >= MAX_SAFARI_DECODE_BYTES) {
    cachedTextDecoder = new TextDecoder2("utf-8", { ignoreBOM: true });
    cachedTextDecoder.decode();
    numBytesDecoded = bytes.length;
  }
  return cachedTextDecoder.decode(bytes);
}
var cachedTextEncoder = new TextEncoder2();
if (!("encodeInto" in cachedTextEncoder)) {
  cachedTextEncoder.encodeInto = function(arg, view) {
    const buf = cachedTextEncoder.encode(arg);
    view.set(buf);
    return {
      read: arg.length,
      written: buf.length
    };
  };
}
var WASM_VECTOR_LEN = 0;
var wasm;
function __wbg_set_wasm(val) {
  wasm = val;
}
var imports = { "./core_bg.js": core_bg_exports, "./snippets/quillgate-wasm-38fc10daad309c0d/src/host.js": host_exports };

// pkg/dist/engine.js
var source;
var loading;
var explain = explainOpaque;
var userAgent;
function loadFrom(from) {
  source = from;
}
function setExplanation(explanation) {
  explain = explanation;
}
function setUserAgent(agent) {
  userAgent = agent;
}
function loadCore() {
  loading ??= load().catch((error) => {
    loading = void 0;
    throw error;
  });
  return loading;
}
async function load() {
  const instance = await instantiate(await source());
  const exports = instance.exports;
  __wbg_set_wasm(exports);
  exports.__wbindgen_start?.();
  return { Task, checkClient };
}
async function instantiate(module) {
  if (!("arrayBuffer" in module)) {
    const made = await WebAssembly.instantiate(module, imports);
    return made.instance ?? made;
  }
  const type = module.headers.get("content-type");
  const { instance } = type === "application/wasm" ? await WebAssembly.instantiateStreaming(module, imports) : await WebAssembly.instantiate(await module.arrayBuffer(), imports);
  return instance;
}

// pkg/dist/environment.js
function variable(name) {
  try {
    return globalThis.process?.env?.[name]?.trim() || void 0;
  } catch {
    return void 0;
  }
}
function isBrowser() {
  const host = globalThis;
  if (host.Deno !== void 0 || host.Bun !== void 0 || host.EdgeRuntime !== void 0)
    return false;
  if (host.navigator?.userAgent === "Cloudflare-Workers")
    return false;
  return host.document !== void 0 || host.WorkerGlobalScope !== void 0;
}

// pkg/dist/generated/protocol.js
var USER_AGENT = "quillgate/0.1.0";
var MODE_ONCE = 0;
var MODE_PAGES = 1;
var MODE_EVERYTHING = 2;
var MODE_WATCH = 3;
var MODE_RAW = 4;
var SOURCE_OPTIONS = 2;
var SOURCE_BODY = 4;
var SOURCE_HEAD = 5;
var SOURCE_PAGE = 6;
var EVENT_BEGIN = 0;
var EVENT_NEXT = 1;
var EVENT_RESULT = 2;
var EVENT_PAGE = 3;
var EVENT_JOB = 4;
var EVENT_STREAMED = 5;
var EVENT_STATUS = 6;
var EVENT_DISCONNECTED = 7;
var EVENT_TIMED_OUT = 8;
var EVENT_MALFORMED = 9;
var EVENT_WAITED = 10;
var COMMAND_SEND = 0;
var COMMAND_RETRY = 1;
var COMMAND_WAIT = 2;
var COMMAND_YIELD = 3;
var COMMAND_YIELD_LAST = 4;
var COMMAND_DONE = 5;
var COMMAND_FAIL = 6;
var COMMAND_TOTAL_TIMEOUT = 7;
var COMMAND_WATCH_TIMEOUT = 8;
var COMMAND_REJECT = 9;
var COMMAND_REJECT_PAGE = 10;
var OUTPUT_REQUEST = 0;
var OUTPUT_DURATION = 1;
var OUTPUT_REJECTION = 2;
var OUTPUT_PAGE_REJECTION = 3;
var OUTPUT_POSITION = 4;
var OUTPUT_BASE_URL = 5;
var OUTPUT_RETRY_AFTER = 6;
var OUTPUT_REPEATED = 7;
var OUTPUT_MIXED = 8;
var OUTPUT_ADVICE = 9;
var RULES = [
  ["required", "is required"],
  ["text", "must be a string"],
  ["not-empty", "must have at least one character"],
  ["not-dot-segment", 'must not be "." or ".."'],
  ["path-segment", ""],
  ["id-length", "must be at most 256 bytes long in UTF-8"],
  ["no-control-character", "must not contain control characters"],
  ["not-with-offset", "must not be combined with offset"],
  ["ulid", "must be a ULID of 26 letters and digits"],
  ["date-format", "must be a date as YYYY-MM-DD or an ISO 8601 date-time"],
  ["calendar-date", "must be an existing date and time"],
  ["before-date-to", "must be before dateTo"],
  ["base-url", "must be an absolute http or https URL without credentials, query or fragment"],
  ["secure-base-url", "must be https, or http on this machine, because others can read the credential"],
  ["admin-key", "must start with mint_, but not with mint_dsc_ or mint_us_"],
  ["idempotency-key", "must be 1 to 255 visible ASCII characters, without commas or a leading quotation mark"],
  ["credential", "must be visible ASCII characters"],
  ["webhook-url", "must be an absolute https URL, or http on this machine, without credentials or fragment"],
  ["request-path", "must start with one / and be visible ASCII without ? # \\ or dot segments"],
  ["header", "must have names and values that HTTP allows"],
  ["gateway-only", "needs a gateway: Mintlify itself does not have it"],
  ["unknown", "is not a parameter of this operation"],
  ["once", ""],
  ["one-of", "must be one of "],
  ["page-size", "must be an integer from "],
  ["offset", "must be an integer from "],
  ["page", "must be an integer from "],
  ["milliseconds", "must be an integer of milliseconds from "],
  ["retry-count", "must be an integer from "]
];
var RULE_BASE_URL = 12;
var RULE_SECURE_BASE_URL = 13;
var RULE_HEADER = 19;
var LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
var MESSAGE_PATHS = [["error"], ["error", "message"], ["detail"], ["title"], ["message"]];
var DETAIL_PATHS = [["details", "message"], ["errors", "detail"]];
var MAX_DETAILS = 20;
var MAX_MESSAGE = 1e3;
var REASONS = [
  [400, 400, "bad request"],
  [401, 401, "unauthorized"],
  [403, 403, "forbidden"],
  [404, 404, "not found"],
  [405, 405, "method not allowed"],
  [408, 408, "request timeout"],
  [409, 409, "conflict"],
  [413, 413, "content too large"],
  [415, 415, "unsupported media type"],
  [422, 422, "unprocessable content"],
  [429, 429, "too many requests"],
  [500, 500, "internal server error"],
  [502, 502, "bad gateway"],
  [503, 503, "service unavailable"],
  [504, 504, "gateway timeout"],
  [0, 0, "a redirect, which is not followed"],
  [300, 399, "a redirect, which is not followed"],
  [400, 499, "the request was refused"],
  [500, 599, "the server failed"],
  [0, 65535, "an unexpected status"]
];
var LOG_PUBLISHED = "Successfully updated deployment";
var LOG_NOT_REVALIDATED = "Failed to revalidate ";
var LOG_FAILED = "Failed";

// pkg/dist/errors.js
var BRAND = /* @__PURE__ */ Symbol.for("quillgate.error");
var QuillgateError = class extends Error {
  constructor(message, options) {
    super(message, options);
    Object.defineProperty(this, BRAND, { value: true });
  }
};
var ValidationError = class extends QuillgateError {
  field;
  rule;
  constructor(message, field, rule) {
    super(message);
    this.field = field;
    this.rule = rule;
  }
};
var ApiError = class extends QuillgateError {
  status;
  details;
  code;
  requestId;
  retryAfter;
  headers;
  problem;
  constructor(message, data) {
    super(message);
    this.status = data.status;
    this.details = data.details;
    this.code = data.code;
    this.requestId = data.requestId;
    this.retryAfter = data.retryAfter;
    this.headers = data.headers;
    const { body } = data;
    const isObject = typeof body === "object" && body !== null && !Array.isArray(body);
    this.problem = isObject ? body : null;
  }
};
var BadRequestError = class extends ApiError {
};
var AuthenticationError = class extends ApiError {
};
var PermissionError = class extends ApiError {
};
var NotFoundError = class extends ApiError {
};
var ConflictError = class extends ApiError {
};
var UnprocessableEntityError = class extends ApiError {
};
var RateLimitError = class extends ApiError {
};
var ServerError = class extends ApiError {
};
var OutcomeUnknownError = class extends ApiError {
};
var ConnectionError = class extends QuillgateError {
  reason;
  sent;
  canRetry;
  constructor({ summary, advice, reason, sent, canRetry }, cause) {
    super(advice === "" ? summary : `${summary}; ${advice}`, { cause });
    this.reason = reason;
    this.sent = sent;
    this.canRetry = canRetry;
  }
};
var RequestError = class extends QuillgateError {
};
var WasmLoadError = class extends QuillgateError {
};
var TimeoutError = class extends QuillgateError {
  timeout;
  constructor(message, timeout) {
    super(message);
    this.timeout = timeout;
  }
};
var RequestTimeoutError = class extends TimeoutError {
};
var DecodeError = class extends QuillgateError {
  path;
  reason;
  requestId;
  headers;
  constructor(message, data) {
    super(message);
    this.path = data.path;
    this.reason = data.reason;
    this.requestId = data.requestId;
    this.headers = data.headers;
  }
};
var JobWaitTimeoutError = class extends TimeoutError {
  job;
  constructor(message, timeout, job) {
    super(message, timeout);
    this.job = job;
  }
};
var DeploymentWaitTimeoutError = class extends TimeoutError {
  deployment;
  constructor(message, timeout, deployment) {
    super(message, timeout);
    this.deployment = deployment;
  }
};
for (const [name, type] of Object.entries({
  QuillgateError,
  ValidationError,
  ApiError,
  BadRequestError,
  AuthenticationError,
  PermissionError,
  NotFoundError,
  ConflictError,
  UnprocessableEntityError,
  RateLimitError,
  ServerError,
  OutcomeUnknownError,
  ConnectionError,
  RequestError,
  WasmLoadError,
  TimeoutError,
  RequestTimeoutError,
  DecodeError,
  JobWaitTimeoutError,
  DeploymentWaitTimeoutError
})) {
  Object.defineProperty(type.prototype, "name", {
    value: name,
    writable: true,
    configurable: true
  });
}
var CLASSES = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
  429: RateLimitError
};
function classOf(status, body) {
  if (body?.outcome === "unknown")
    return OutcomeUnknownError;
  if (status >= 500)
    return ServerError;
  return CLASSES[status] ?? ApiError;
}
function toApiError(response, received, retryAfter, credential) {
  const { status } = response;
  const body = redactBody(received, credential);
  const headers = withoutCredential(response.headers, credential);
  const stated = MESSAGE_PATHS.map((path) => path.reduce(member, body)).find((text4) => typeof text4 === "string" && text4 !== "");
  const foreign = explainResponse({ status, headers }, received);
  const reason = REASONS.find(([from, to]) => from <= status && status <= to)?.[2];
  const details = DETAIL_PATHS.flatMap(([name, of]) => {
    const list2 = member(body, name);
    return Array.isArray(list2) ? list2.slice(0, MAX_DETAILS).map((item) => member(item, of)) : [];
  });
  const code = member(body, "type");
  const words = foreign ? `${foreign.summary}; ${foreign.advice}` : stated || reason;
  return new (classOf(status, body))(`${status} ${shorten2(words ?? "")}`, {
    status,
    details: details.filter((text4) => typeof text4 === "string").map(shorten2),
    code: typeof code === "string" ? shorten2(code) : null,
    requestId: headers.get("x-request-id"),
    retryAfter,
    body: body ?? null,
    headers
  });
}
function member(value2, name) {
  return value2?.[name];
}
var MIN_CREDENTIAL = 8;
var REDACTED = "[redacted]";
function redactBody(body, credential = "") {
  if (credential.length < MIN_CREDENTIAL)
    return body;
  try {
    const json = JSON.stringify(body);
    const quoted = JSON.stringify(credential).slice(1, -1);
    return json.includes(quoted) ? JSON.parse(json.replaceAll(quoted, REDACTED)) : body;
  } catch {
    return void 0;
  }
}
function withoutCredential(headers, credential = "") {
  const isList = typeof headers?.[Symbol.iterator] === "function";
  if (credential.length < MIN_CREDENTIAL || !isList)
    return headers;
  const pairs = [...headers];
  if (!pairs.some(([, value2]) => value2.includes(credential)))
    return headers;
  return new Headers(pairs.map(([name, value2]) => [name, value2.replaceAll(credential, REDACTED)]));
}
function shorten2(text4) {
  if (text4.length <= MAX_MESSAGE)
    return text4;
  const characters = [...text4];
  if (characters.length <= MAX_MESSAGE)
    return text4;
  return `${characters.slice(0, MAX_MESSAGE).join("")}…`;
}
function toValidationError(rule, text4) {
  const [field = "", detail, found2] = text4.split("\n");
  const [name, words] = RULES[rule];
  const message = `${field} ${words}${detail}${found2 && `, found ${found2}`}`;
  return new ValidationError(message, field, name);
}
function toRequiredError(field) {
  return new ValidationError(`${field} is required`, field, "required");
}
function toDecodeError(path, reason, response) {
  const headers = response?.headers ?? new Headers();
  const requestId = headers.get("x-request-id");
  const message = `${path || "the body"} ${reason}`;
  return new DecodeError(message, { path, reason, requestId, headers });
}
function toUnreadableWriteError({ status, headers }, cause) {
  const message = `the response of the write can't be read: ${cause.message}`;
  const data = {
    status,
    details: [],
    code: null,
    requestId: headers.get("x-request-id"),
    retryAfter: null,
    body: null,
    headers
  };
  return Object.assign(new OutcomeUnknownError(message, data), { cause });
}
function toWasmLoadError(cause) {
  const advice = /CSP|unsafe-eval/.test(`${cause?.message}`) ? "add 'wasm-unsafe-eval' to script-src of your CSP" : 'if your bundler left out core_bg.wasm, import from "quillgate/inline"';
  return new WasmLoadError(`the package's wasm could not be loaded; ${advice}`, { cause });
}
function toRequestTimeoutError(timeout, host) {
  return new RequestTimeoutError(`no complete answer from ${host} within ${timeout} ms`, timeout);
}
function toWaitTimeoutError(operation, timeout, state) {
  const limit = `within ${timeout} ms`;
  if (operation === "deployments.get") {
    const message = `the deployment did not end ${limit}`;
    return new DeploymentWaitTimeoutError(message, timeout, state);
  }
  return new JobWaitTimeoutError(`the job did not finish ${limit}`, timeout, state);
}
var HERE = /([^\s(]*[\\/])(?:errors\.js|quillgate\.cjs):\d+/;
function captureCallSite() {
  return new Error();
}
function locate(error, site, signal) {
  if (signal?.aborted && error === signal.reason)
    return error;
  if (!(error instanceof QuillgateError))
    return error;
  const frames = site.stack?.split("\n    at ").slice(1);
  if (frames?.length) {
    const here = HERE.exec(frames[0])?.[1];
    const own = here ? frames.findIndex((frame) => !frame.includes(here)) : 0;
    const rest = own > 0 ? frames.slice(own) : frames;
    error.stack = [`${error.name}: ${error.message}`, ...rest].join("\n    at ");
  }
  return error;
}

// pkg/dist/known.js
function refuseUnknown(options, known) {
  for (const [name, value2] of Object.entries(options ?? {})) {
    if (value2 === void 0 || known.includes(name))
      continue;
    const field = name.slice(0, 32);
    throw new ValidationError(`${field} is not an option`, field, "unknown");
  }
}
function ownProperties(options) {
  return Object.assign(/* @__PURE__ */ Object.create(null), options);
}

// pkg/dist/exchange.js
function exchange(send, within, outer, read2 = (response) => response.json()) {
  const controller2 = new AbortController();
  let response;
  return new Promise((resolve2) => {
    const end = (result) => {
      clearTimeout(timer);
      leave();
      resolve2(result);
    };
    const stop = (cause, expired) => {
      end({ cause, expired, response });
      controller2.abort(cause);
    };
    const expire = () => stop(new DOMException("timed out", "TimeoutError"), true);
    const timer = setTimeout(expire, within);
    const leave = addAbortListener(outer, (reason) => stop(reason, false));
    const work = async () => {
      response = await send(controller2.signal);
      if (controller2.signal.aborted)
        await response.body?.cancel?.();
      else
        end({ response, body: await readBody(response, read2) });
    };
    work().catch((cause) => stop(cause, false));
  });
}
function follow(controller2, signal) {
  if (signal?.aborted)
    controller2.abort(signal.reason);
  return addAbortListener(signal, (reason) => controller2.abort(reason));
}
function abortOnReturn(options, start2) {
  const controller2 = new AbortController();
  const own = ownProperties(options);
  const outer = own.signal;
  own.signal = controller2.signal;
  const generator = start2(own);
  const end = { done: true, value: void 0 };
  let unfollow;
  let hasLeft = false;
  const iterator = Object.create(generator);
  iterator.next = async () => {
    unfollow ??= follow(controller2, outer);
    let result = end;
    try {
      result = await generator.next();
    } catch (error) {
      if (!hasLeft)
        throw error;
    } finally {
      if (result.done)
        unfollow();
    }
    return hasLeft ? end : result;
  };
  iterator.return = async (value2) => {
    hasLeft = true;
    controller2.abort();
    await Promise.all([generator.return(), iterator.next()]);
    return { done: true, value: await value2 };
  };
  iterator.throw = async (error) => {
    await iterator.return();
    throw error;
  };
  return iterator;
}
var listeners = /* @__PURE__ */ new WeakMap();
function addAbortListener(signal, onAbort) {
  if (!signal?.addEventListener)
    return () => {
    };
  const call = (reason) => onAbort(reason);
  const shared = listeners.get(signal);
  if (shared)
    shared.calls.add(call);
  else {
    const calls = /* @__PURE__ */ new Set([call]);
    const listen = () => {
      for (const each of calls)
        each(signal.reason);
    };
    listeners.set(signal, { calls, listen });
    signal.addEventListener("abort", listen);
  }
  return () => {
    const { calls, listen } = listeners.get(signal) ?? {};
    if (!calls?.delete(call) || calls.size > 0)
      return;
    signal.removeEventListener?.("abort", listen);
    listeners.delete(signal);
  };
}
async function readBody(response, read2) {
  try {
    return await read2(response);
  } catch (error) {
    const { name, type } = error ?? {};
    const isNotJson = name === "SyntaxError" || type === "invalid-json";
    if (isSuccess(response) && !isNotJson)
      throw error;
    return void 0;
  }
}
function isSuccess({ status }) {
  return status >= 200 && status <= 299;
}
var MAX_DELAY = 2 ** 31 - 1;
function sleep(ms, signal) {
  let timer;
  const delay = new Promise((resolve2) => {
    timer = setTimeout(resolve2, Math.min(ms, MAX_DELAY));
  });
  return abortable(delay, signal).finally(() => clearTimeout(timer));
}
function abortable(work, signal) {
  return new Promise((resolve2, reject) => {
    if (signal?.aborted)
      reject(signal.reason);
    const leave = addAbortListener(signal, reject);
    work.then(resolve2, reject).finally(leave);
  });
}

// pkg/dist/generated/tables.js
var TABLES = {
  "agentJobs.list": { rows: "jobs", columns: ["id", "status", "prompt", "createdBy", "createdAt", "prLink", "checkedAt"] },
  "analytics.views": { rows: "views", columns: ["path", "human", "ai", "total"] },
  "analytics.visitors": { rows: "visitors", columns: ["path", "human", "ai", "total"] },
  "analytics.feedback": { rows: "feedback", columns: ["id", "path", "comment", "createdAt", "source", "status", "helpful", "contact", "code", "filename", "lang"] },
  "analytics.searches": { rows: "searches", columns: ["searchQuery", "hits", "ctr", "topClickedPage", "lastSearchedAt"] },
  "analytics.conversations": { rows: "conversations", columns: ["id", "timestamp", "query", "response", "responseType", "sources", "resolutionStatus", "queryCategory", "pageUrl"] },
  "analytics.dailyViews": { rows: "views", columns: ["date", "human", "ai", "total", "days", "missing", "visitors.human", "visitors.ai", "visitors.total"] },
  "analytics.archivedViews": { rows: "views", columns: ["path", "human", "ai", "total"] },
  "deployments.list": { rows: "deployments", columns: ["statusId", "status", "isLive", "summary", "branch", "previewUrl", "createdBy", "createdAt", "checkedAt"] }
};

// pkg/dist/json_text.js
var SPACE = 32;
var QUOTE = 34;
var COMMA = 44;
var BACKSLASH2 = 92;
var OPEN = [91, 123];
var CLOSE = [93, 125];
function compact(json) {
  let kept = "";
  let begin = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE)
      at = endString(json, at) - 1;
    else if (code <= SPACE) {
      kept += json.slice(begin, at);
      begin = at + 1;
    }
  }
  return kept + json.slice(begin);
}
function readMembers(json) {
  const members = /* @__PURE__ */ new Map();
  for (let at = 1; at < json.length - 1; at++) {
    const colon = endString(json, at);
    const end = endValue(json, colon + 1);
    members.set(readString(json.slice(at, colon)), json.slice(colon + 1, end));
    at = end;
  }
  return members;
}
function readElements(json) {
  const elements = [];
  for (let at = 1; at < json.length - 1; at++) {
    const end = endValue(json, at);
    elements.push(json.slice(at, end));
    at = end;
  }
  return elements;
}
function readString(json) {
  return json.includes("\\") ? JSON.parse(json) : json.slice(1, -1);
}
function endString(json, begin) {
  for (let end = begin + 1; ; end++) {
    end = json.indexOf('"', end);
    let escapes = end;
    while (json.charCodeAt(escapes - 1) === BACKSLASH2)
      escapes--;
    if ((end - escapes) % 2 === 0)
      return end + 1;
  }
}
function endValue(json, begin) {
  let depth = 0;
  for (let at = begin; ; at++) {
    const code = json.charCodeAt(at);
    if (depth === 0 && at > begin && (code === COMMA || CLOSE.includes(code)))
      return at;
    if (code === QUOTE)
      at = endString(json, at) - 1;
    else if (OPEN.includes(code))
      depth++;
    else if (CLOSE.includes(code))
      depth--;
  }
}

// pkg/dist/export_format.js
var BYTE_ORDER_MARK = "\uFEFF";
function writeHeader(list2) {
  return BYTE_ORDER_MARK + writeRecord(tableOf(list2).columns);
}
function writeRows(list2, format, body, omitted) {
  const { rows: member2, columns } = tableOf(list2);
  const all = readElements(readMembers(compact(body)).get(member2));
  const rows = all.filter((_, at) => !omitted.includes(at));
  if (format === "ndjson")
    return rows.map((row) => `${row}
`).join("");
  const paths = columns.map((column) => column.split("."));
  return rows.map((row) => {
    const members = readMembers(row);
    return writeRecord(paths.map((path) => writeValue(findValue(members, path))));
  }).join("");
}
function tableOf(list2) {
  return TABLES[list2];
}
function findValue(members, [name, ...rest]) {
  const value2 = members.get(name);
  if (rest.length === 0 || value2 === void 0)
    return value2;
  return value2.startsWith("{") ? findValue(readMembers(value2), rest) : void 0;
}
function writeValue(json) {
  if (json === void 0 || json === "null")
    return "";
  if (!json.startsWith('"'))
    return json;
  const text4 = readString(json);
  return /^[=+\-@＝＋－＠\t\r\n]/.test(text4) ? `'${text4}` : text4;
}
function writeRecord(cells) {
  return `${cells.map(quote).join(",")}\r
`;
}
function quote(cell) {
  if (!/[",;\r\n]/.test(cell))
    return cell;
  const guarded = cell.replace(/([;\r\n]["\t]*)(?=[=+\-@＝＋－＠])/g, "$1'");
  return `"${guarded.replaceAll('"', '""')}"`;
}

// pkg/dist/export.js
var OPTIONS = ["format", "resumeFrom", "signal", "wait"];
var MAX_WAIT = 864e5;
var MIN_WAIT = 1e3;
var POSITIONS = ["limit", "offset", "page", "cursor", "resumeFrom"];
function openExport(source2, given, Pages) {
  const options = ownProperties(given);
  const left = new AbortController();
  const { signal } = left;
  const pages = formatPages(source2, options, left, Pages);
  signal.addEventListener("abort", () => pages.return());
  const pull = async (controller2) => {
    let page;
    do {
      if (signal.aborted)
        throw signal.reason;
      page = (await pages.next()).value ?? void 0;
      if (page === void 0)
        throw signal.reason;
      const { text: text4, nextPosition, isMixed } = page;
      if (text4 !== "")
        controller2.enqueue(new TextEncoder().encode(text4));
      Object.assign(stream, { nextPosition }, isMixed && { isMixed });
    } while (page.text === "" && page.nextPosition !== null);
    if (page.nextPosition !== null)
      return;
    controller2.close();
    await pages.return();
  };
  const stream = Object.assign(new ReadableStream({ pull, cancel: () => left.abort() }, { highWaterMark: 0 }), { nextPosition: options.resumeFrom, isMixed: false });
  return stream;
}
async function* formatPages(source2, options, left, Pages) {
  refuse(source2, options);
  const { name } = source2;
  const { format } = options;
  const { resumeFrom } = options;
  let { wait: remainingWait = 0 } = options;
  let header = format === "csv" && resumeFrom === void 0 ? writeHeader(name) : "";
  let body = "";
  const readBody2 = async (response) => {
    body = await response.text();
    return JSON.parse(body);
  };
  const leave = [source2.options.signal, options.signal].map((signal) => follow(left, signal));
  const params = resumeFrom === void 0 ? source2.params : { resumeFrom };
  const run3 = new Pages({ ...source2, params, readBody: readBody2 }, left.signal);
  try {
    for (; ; ) {
      try {
        const result = await run3.next();
        if (result === null)
          return;
        const { nextPosition, isMixed } = result.page;
        const rows = writeRows(name, format, body, result.repeated);
        yield { text: header + rows, nextPosition, isMixed };
        header = "";
      } catch (error) {
        const wait = left.signal.aborted ? Number.NaN : readWait(error);
        if (!(wait <= remainingWait))
          throw error;
        remainingWait -= wait;
        await sleep(wait, left.signal);
      }
    }
  } finally {
    run3.end();
    for (const end of leave)
      end();
  }
}
function refuse(source2, options) {
  refuseUnknown(options, OPTIONS);
  const { format, wait = 0, resumeFrom } = options;
  if (format !== "csv" && format !== "ndjson") {
    throw new ValidationError("format must be one of csv, ndjson", "format", "one-of");
  }
  if (!(Number.isInteger(wait) && wait >= 0 && wait <= MAX_WAIT)) {
    const rule = `must be an integer of milliseconds from 0 to ${MAX_WAIT}`;
    throw new ValidationError(`wait ${rule}`, "wait", "milliseconds");
  }
  if (resumeFrom === void 0)
    return;
  if (typeof resumeFrom !== "object" || resumeFrom === null) {
    const message = "resumeFrom must be the position of an export that has not finished, not null";
    throw new ValidationError(message, "resumeFrom", "required");
  }
  for (const [name, value2] of Object.entries(source2.params)) {
    if (value2 == null || typeof value2 === "object" || POSITIONS.includes(name))
      continue;
    if (value2 !== resumeFrom[name]) {
      const message = `resumeFrom must be a position in a list with the same ${name}`;
      throw new ValidationError(message, "resumeFrom", "one-of");
    }
  }
}
function readWait(error) {
  const { status, retryAfter } = error;
  if (status !== 429 || retryAfter == null)
    return Number.NaN;
  return Math.max(MIN_WAIT, Math.ceil(retryAfter * 1e3));
}

// pkg/dist/rate_limit.js
function readLimits(headers) {
  const policies = new Map(readItems(headers.get("ratelimit-policy")));
  const limits = readItems(headers.get("ratelimit")).flatMap(([policy, { r: left, t = null }]) => {
    const { q: quota = null, w: window = null } = policies.get(policy) ?? {};
    return left === void 0 ? [] : [{ policy, left, quota, window, next: t }];
  });
  return limits.sort((one, other) => one.left - other.left);
}
var ITEMS = /(?:"(?:[^"\\]|\\.)*"|[^",])+/g;
var ITEM = /^\s*(?:"((?:[^"\\]|\\.)*)"|([a-z*][^\s",;=]*))\s*((?:;.*)?)$/i;
var PARAMETER = /;\s*([a-z*][\w.*-]*)(?:=("(?:[^"\\]|\\.)*"|[^";]*))?/g;
function readItems(field) {
  return [...(field ?? "").matchAll(ITEMS)].flatMap(([text4]) => {
    const [item, quoted, token, rest = ""] = ITEM.exec(text4) ?? [];
    if (item === void 0)
      return [];
    const integers = [...rest.matchAll(PARAMETER)].map(([, key, value2 = ""]) => [key, value2.trim()]).filter(([, value2]) => /^\d{1,15}$/.test(value2)).map(([key, value2]) => [key, Number(value2)]);
    const name = quoted?.replaceAll(/\\(.)/g, "$1") ?? token;
    return [[name, Object.fromEntries(integers)]];
  });
}

// pkg/dist/generated/decoders.js
var Mismatch = class {
  path = "";
  reason;
  constructor(reason) {
    this.reason = reason;
  }
};
function found(value2) {
  if (value2 === void 0)
    return "nothing";
  if (value2 === null)
    return "null";
  if (Array.isArray(value2))
    return "an array";
  return { string: "a string", number: "a number", boolean: "a boolean" }[typeof value2] ?? "an object";
}
function refuse2(value2, rule) {
  throw new Mismatch(`must be ${rule}, found ${found(value2)}`);
}
function text3(value2) {
  return typeof value2 === "string" ? value2 : refuse2(value2, "a string");
}
function textOrNull(value2) {
  return value2 == null ? null : text3(value2);
}
function number2(value2) {
  return Number.isFinite(value2) ? value2 : refuse2(value2, "a number");
}
function flag(value2) {
  return typeof value2 === "boolean" ? value2 : refuse2(value2, "true or false");
}
function count(value2) {
  return Number.isSafeInteger(value2) && value2 >= 0 ? value2 : refuse2(value2, "an integer from 0 to 9007199254740991");
}
function countOrNull(value2) {
  return value2 == null ? null : count(value2);
}
function nothing() {
}
function object(value2) {
  if (typeof value2 !== "object" || value2 === null || Array.isArray(value2))
    refuse2(value2, "an object");
}
function list(value2, element) {
  if (!Array.isArray(value2))
    refuse2(value2, "an array");
  const { length } = value2;
  const decoded = new Array(length);
  for (let at = 0; at < length; at++)
    decoded[at] = element(value2[at]);
  return decoded;
}
function Source(value2) {
  object(value2);
  return {
    repository: textOrNull(value2.repository),
    ref: textOrNull(value2.ref)
  };
}
function CreatedJob(value2) {
  object(value2);
  return {
    id: text3(value2.id),
    status: textOrNull(value2.status),
    source: value2.source == null ? null : Source(value2.source),
    model: textOrNull(value2.model),
    prLink: textOrNull(value2.prLink),
    createdAt: textOrNull(value2.createdAt),
    archivedAt: textOrNull(value2.archivedAt)
  };
}
function AgentJob(value2) {
  object(value2);
  return {
    id: textOrNull(value2.id),
    status: textOrNull(value2.status),
    source: value2.source == null ? null : Source(value2.source),
    model: textOrNull(value2.model),
    prLink: textOrNull(value2.prLink),
    createdAt: textOrNull(value2.createdAt),
    archivedAt: textOrNull(value2.archivedAt)
  };
}
function ListedJob(value2) {
  object(value2);
  return {
    id: text3(value2.id),
    status: textOrNull(value2.status),
    prompt: textOrNull(value2.prompt),
    createdBy: textOrNull(value2.createdBy),
    createdAt: textOrNull(value2.createdAt),
    prLink: textOrNull(value2.prLink),
    checkedAt: textOrNull(value2.checkedAt)
  };
}
function JobPage(value2) {
  object(value2);
  return {
    jobs: list(value2.jobs, ListedJob),
    nextCursor: textOrNull(value2.nextCursor),
    revision: countOrNull(value2.revision)
  };
}
function ViewTotals(value2) {
  object(value2);
  return {
    human: countOrNull(value2.human),
    ai: countOrNull(value2.ai),
    total: countOrNull(value2.total)
  };
}
function PageView(value2) {
  object(value2);
  return {
    path: textOrNull(value2.path),
    human: countOrNull(value2.human),
    ai: countOrNull(value2.ai),
    total: countOrNull(value2.total)
  };
}
function PageViews(value2) {
  object(value2);
  return {
    totals: value2.totals == null ? null : ViewTotals(value2.totals),
    views: list(value2.views, PageView),
    hasMore: value2.hasMore == null ? null : flag(value2.hasMore)
  };
}
function Visitors(value2) {
  object(value2);
  return {
    totals: value2.totals == null ? null : ViewTotals(value2.totals),
    visitors: list(value2.visitors, PageView),
    hasMore: value2.hasMore == null ? null : flag(value2.hasMore)
  };
}
function ContextualFeedback(value2) {
  object(value2);
  return {
    id: textOrNull(value2.id),
    path: textOrNull(value2.path),
    comment: textOrNull(value2.comment),
    createdAt: textOrNull(value2.createdAt),
    source: text3(value2.source),
    status: textOrNull(value2.status),
    helpful: value2.helpful == null ? null : flag(value2.helpful),
    contact: textOrNull(value2.contact)
  };
}
function CodeSnippetFeedback(value2) {
  object(value2);
  return {
    id: textOrNull(value2.id),
    path: textOrNull(value2.path),
    comment: textOrNull(value2.comment),
    createdAt: textOrNull(value2.createdAt),
    source: text3(value2.source),
    status: textOrNull(value2.status),
    code: textOrNull(value2.code),
    filename: textOrNull(value2.filename),
    lang: textOrNull(value2.lang)
  };
}
function OtherFeedback(value2) {
  object(value2);
  return {
    id: textOrNull(value2.id),
    path: textOrNull(value2.path),
    comment: textOrNull(value2.comment),
    createdAt: textOrNull(value2.createdAt),
    source: value2.source == null ? null : text3(value2.source),
    status: textOrNull(value2.status)
  };
}
function FeedbackPage(value2) {
  object(value2);
  return {
    feedback: list(value2.feedback, Feedback),
    nextCursor: textOrNull(value2.nextCursor),
    hasMore: value2.hasMore == null ? null : flag(value2.hasMore)
  };
}
function PageFeedback(value2) {
  object(value2);
  return {
    path: textOrNull(value2.path),
    thumbsUp: countOrNull(value2.thumbsUp),
    thumbsDown: countOrNull(value2.thumbsDown),
    code: countOrNull(value2.code),
    total: countOrNull(value2.total)
  };
}
function FeedbackByPage(value2) {
  object(value2);
  return {
    feedback: list(value2.feedback, PageFeedback),
    hasMore: value2.hasMore == null ? null : flag(value2.hasMore)
  };
}
function SearchTerm(value2) {
  object(value2);
  return {
    searchQuery: textOrNull(value2.searchQuery),
    hits: countOrNull(value2.hits),
    ctr: value2.ctr == null ? null : number2(value2.ctr),
    topClickedPage: textOrNull(value2.topClickedPage),
    lastSearchedAt: textOrNull(value2.lastSearchedAt)
  };
}
function Searches(value2) {
  object(value2);
  return {
    searches: list(value2.searches, SearchTerm),
    totalSearches: countOrNull(value2.totalSearches),
    nextCursor: textOrNull(value2.nextCursor)
  };
}
function ConversationSource(value2) {
  object(value2);
  return {
    title: textOrNull(value2.title),
    url: textOrNull(value2.url)
  };
}
function Conversation(value2) {
  object(value2);
  return {
    id: textOrNull(value2.id),
    timestamp: textOrNull(value2.timestamp),
    query: textOrNull(value2.query),
    response: textOrNull(value2.response),
    responseType: textOrNull(value2.responseType),
    sources: value2.sources == null ? null : list(value2.sources, ConversationSource),
    resolutionStatus: textOrNull(value2.resolutionStatus),
    queryCategory: textOrNull(value2.queryCategory),
    pageUrl: textOrNull(value2.pageUrl)
  };
}
function Conversations(value2) {
  object(value2);
  return {
    conversations: list(value2.conversations, Conversation),
    nextCursor: textOrNull(value2.nextCursor),
    hasMore: value2.hasMore == null ? null : flag(value2.hasMore)
  };
}
function ThreadMessage(value2) {
  object(value2);
  return {
    id: textOrNull(value2.id),
    role: textOrNull(value2.role),
    content: textOrNull(value2.content),
    createdAt: textOrNull(value2.createdAt)
  };
}
function ConversationThread(value2) {
  object(value2);
  return {
    threadId: textOrNull(value2.threadId),
    createdAt: textOrNull(value2.createdAt),
    messages: list(value2.messages, ThreadMessage)
  };
}
function CallerStats(value2) {
  object(value2);
  return {
    web: countOrNull(value2.web),
    api: countOrNull(value2.api),
    other: countOrNull(value2.other),
    total: countOrNull(value2.total)
  };
}
function RecordedMessage(value2) {
  object(value2);
  return {
    prompt: textOrNull(value2.prompt),
    author: textOrNull(value2.author),
    sentAt: textOrNull(value2.sentAt)
  };
}
function RecordedChange(value2) {
  object(value2);
  return {
    at: textOrNull(value2.at),
    status: textOrNull(value2.status),
    prLink: textOrNull(value2.prLink)
  };
}
function JobRecord(value2) {
  object(value2);
  return {
    job: ListedJob(value2.job),
    prompt: textOrNull(value2.prompt),
    messages: list(value2.messages, RecordedMessage),
    changes: list(value2.changes, RecordedChange)
  };
}
function GroupedViews(value2) {
  object(value2);
  return {
    date: text3(value2.date),
    human: countOrNull(value2.human),
    ai: countOrNull(value2.ai),
    total: countOrNull(value2.total),
    days: count(value2.days),
    missing: list(value2.missing, (value3) => text3(value3)),
    visitors: value2.visitors == null ? null : ViewTotals(value2.visitors)
  };
}
function DailyViews(value2) {
  object(value2);
  return {
    views: list(value2.views, GroupedViews),
    missing: list(value2.missing, (value3) => text3(value3)),
    nextCursor: textOrNull(value2.nextCursor)
  };
}
function ArchivedViews(value2) {
  object(value2);
  return {
    totals: ViewTotals(value2.totals),
    views: list(value2.views, PageView),
    missing: list(value2.missing, (value3) => text3(value3)),
    nextCursor: textOrNull(value2.nextCursor)
  };
}
function MissingDays(value2) {
  object(value2);
  return {
    dateFrom: text3(value2.dateFrom),
    dateTo: text3(value2.dateTo)
  };
}
function FailedDay(value2) {
  object(value2);
  return {
    date: text3(value2.date),
    attempts: count(value2.attempts),
    retryAt: text3(value2.retryAt),
    problem: textOrNull(value2.problem)
  };
}
function ArchiveStatus(value2) {
  object(value2);
  return {
    dateFrom: text3(value2.dateFrom),
    dateTo: text3(value2.dateTo),
    complete: count(value2.complete),
    partial: count(value2.partial),
    failed: count(value2.failed),
    missing: list(value2.missing, MissingDays),
    failures: list(value2.failures, FailedDay),
    requests: count(value2.requests),
    hours: countOrNull(value2.hours),
    completeAt: textOrNull(value2.completeAt),
    bytes: countOrNull(value2.bytes)
  };
}
function Backfill(value2) {
  object(value2);
  return {
    dateFrom: text3(value2.dateFrom),
    days: count(value2.days),
    requests: count(value2.requests),
    hours: countOrNull(value2.hours),
    completeAt: textOrNull(value2.completeAt)
  };
}
function StartedDeployment(value2) {
  object(value2);
  return {
    statusId: text3(value2.statusId)
  };
}
function DeploymentAuthor(value2) {
  object(value2);
  return {
    name: textOrNull(value2.name),
    avatarUrl: textOrNull(value2.avatarUrl),
    githubUserId: countOrNull(value2.githubUserId)
  };
}
function FilesChanged(value2) {
  object(value2);
  return {
    added: value2.added == null ? null : list(value2.added, (value3) => text3(value3)),
    modified: value2.modified == null ? null : list(value2.modified, (value3) => text3(value3)),
    removed: value2.removed == null ? null : list(value2.removed, (value3) => text3(value3))
  };
}
function DeploymentCommit(value2) {
  object(value2);
  return {
    sha: textOrNull(value2.sha),
    ref: textOrNull(value2.ref),
    message: textOrNull(value2.message),
    filesChanged: value2.filesChanged == null ? null : FilesChanged(value2.filesChanged)
  };
}
function Deployment(value2) {
  object(value2);
  return {
    _id: textOrNull(value2._id),
    projectId: textOrNull(value2.projectId),
    createdAt: textOrNull(value2.createdAt),
    endedAt: textOrNull(value2.endedAt),
    status: textOrNull(value2.status),
    summary: textOrNull(value2.summary),
    logs: value2.logs == null ? null : list(value2.logs, (value3) => text3(value3)),
    subdomain: textOrNull(value2.subdomain),
    screenshot: textOrNull(value2.screenshot),
    screenshotLight: textOrNull(value2.screenshotLight),
    screenshotDark: textOrNull(value2.screenshotDark),
    author: value2.author == null ? null : DeploymentAuthor(value2.author),
    commit: value2.commit == null ? null : DeploymentCommit(value2.commit),
    source: textOrNull(value2.source)
  };
}
function ListedDeployment(value2) {
  object(value2);
  return {
    statusId: text3(value2.statusId),
    status: textOrNull(value2.status),
    isLive: value2.isLive == null ? null : flag(value2.isLive),
    summary: textOrNull(value2.summary),
    branch: textOrNull(value2.branch),
    previewUrl: textOrNull(value2.previewUrl),
    createdBy: textOrNull(value2.createdBy),
    createdAt: textOrNull(value2.createdAt),
    checkedAt: textOrNull(value2.checkedAt)
  };
}
function DeploymentPage(value2) {
  object(value2);
  return {
    deployments: list(value2.deployments, ListedDeployment),
    nextCursor: textOrNull(value2.nextCursor),
    revision: countOrNull(value2.revision)
  };
}
function StartedPreview(value2) {
  object(value2);
  return {
    statusId: text3(value2.statusId),
    previewUrl: textOrNull(value2.previewUrl)
  };
}
function AutomationRun(value2) {
  object(value2);
  return {
    schemaId: textOrNull(value2.schemaId),
    instanceId: textOrNull(value2.instanceId),
    jobId: textOrNull(value2.jobId)
  };
}
function Feedback(value2) {
  object(value2);
  switch (value2.source) {
    case "contextual":
      return ContextualFeedback(value2);
    case "code_snippet":
      return CodeSnippetFeedback(value2);
    default:
      return OtherFeedback(value2);
  }
}
var DECODERS = {
  "agentJobs.create": CreatedJob,
  "agentJobs.get": AgentJob,
  "agentJobs.sendMessage": AgentJob,
  "agentJobs.list": JobPage,
  "analytics.views": PageViews,
  "analytics.visitors": Visitors,
  "analytics.feedback": FeedbackPage,
  "analytics.feedbackByPage": FeedbackByPage,
  "analytics.searches": Searches,
  "analytics.conversations": Conversations,
  "analytics.conversation": ConversationThread,
  "analytics.callerStats": CallerStats,
  "agentJobs.record": JobRecord,
  "agentJobs.deleteRecord": nothing,
  "analytics.dailyViews": DailyViews,
  "analytics.archivedViews": ArchivedViews,
  "analytics.archiveStatus": ArchiveStatus,
  "analytics.estimateBackfill": Backfill,
  "analytics.beginBackfill": Backfill,
  "deployments.create": StartedDeployment,
  "deployments.get": Deployment,
  "deployments.list": DeploymentPage,
  "deployments.deleteRecord": nothing,
  "previews.create": StartedPreview,
  "automations.run": AutomationRun,
  "agentJobs.events": AgentJob,
  "agentJobs.allEvents": ListedJob,
  "deployments.events": Deployment,
  "deployments.allEvents": ListedDeployment
};
var ROWS = {
  "agentJobs.list": "jobs",
  "analytics.views": "views",
  "analytics.visitors": "visitors",
  "analytics.feedback": "feedback",
  "analytics.searches": "searches",
  "analytics.conversations": "conversations",
  "analytics.dailyViews": "views",
  "analytics.archivedViews": "views",
  "deployments.list": "deployments"
};
var TIMES = {
  "analytics.feedback": "createdAt",
  "analytics.conversations": "timestamp"
};
var WITHOUT_CONTENT = [
  "agentJobs.deleteRecord",
  "deployments.deleteRecord"
];
var KEYED = [
  "agentJobs.create",
  "agentJobs.sendMessage",
  "deployments.create",
  "previews.create",
  "automations.run"
];
function decode(operation, body) {
  const decoder = DECODERS[operation];
  try {
    return decoder(body);
  } catch (mismatch) {
    const trace = (value2, path) => Object(value2) === value2 ? new Proxy(value2, { get: follow3(path) }) : value2;
    const follow3 = (path) => (target, name) => {
      const step = Array.isArray(target) ? `[${name}]` : path === "" ? name : `.${name}`;
      if (name !== "length" || !Array.isArray(target))
        mismatch.path = path + step;
      return trace(target[name], mismatch.path);
    };
    try {
      decoder(trace(body, ""));
    } catch {
    }
    throw mismatch;
  }
}

// pkg/dist/task.js
var RAW = "request";
var Task2 = class {
  #sender;
  #operation;
  #mode;
  #task;
  #sources;
  time = 0;
  position = null;
  begin = null;
  repeated = [];
  isMixed = false;
  request;
  #refusal;
  #pageRejection = ["", ""];
  #retryAfter = null;
  #failure;
  #advice = "";
  #state = null;
  #seen;
  timeout;
  constructor(sender, operation, mode, params, watch) {
    this.#sender = sender;
    this.#operation = operation;
    this.#mode = mode;
    this.#task = new sender.core.Task(operation, mode);
    this.#sources = [sender.options, params, void 0, watch];
    if (this.#step(EVENT_BEGIN) === COMMAND_REJECT) {
      this.free();
      throw this.#refusal;
    }
    this.timeout = this.time;
  }
  async next(call, until = Number.POSITIVE_INFINITY) {
    this.#sources[SOURCE_OPTIONS] = call;
    let command = this.#step(EVENT_NEXT);
    let delivery;
    for (; ; ) {
      switch (command) {
        case COMMAND_SEND: {
          if (call.signal?.aborted)
            throw call.signal.reason;
          this.begin = this.position;
          const request = this.request;
          const within = this.time;
          const send = (signal) => this.#sender.send(request, call, signal);
          const answer = await exchange(send, within, call.signal, call.readBody);
          if ("body" in answer) {
            delivery = this.#decode(answer);
            command = delivery ? this.#take(delivery) : this.#takeFailure(answer);
          } else {
            if (call.signal?.aborted)
              throw call.signal.reason;
            command = this.#takeNoAnswer(answer, within);
          }
          break;
        }
        case COMMAND_RETRY:
        case COMMAND_WAIT:
          if (command === COMMAND_RETRY)
            call.observer?.onRetry(this.#failure, this.time);
          await sleep(this.time, call.signal);
          command = this.#step(EVENT_WAITED);
          if (command === COMMAND_SEND && Date.now() >= until)
            return void 0;
          break;
        case COMMAND_YIELD:
        case COMMAND_YIELD_LAST:
          return { ...delivery, done: command === COMMAND_YIELD_LAST };
        case COMMAND_DONE:
          return void 0;
        default:
          throw this.#error(command, delivery);
      }
    }
  }
  processEvent(data) {
    const command = this.#takeState(data, EVENT_STREAMED);
    if (command === COMMAND_WAIT)
      return void 0;
    if (command === COMMAND_YIELD || command === COMMAND_YIELD_LAST)
      return { data, done: command === COMMAND_YIELD_LAST };
    throw this.#error(command, void 0);
  }
  expire() {
    return toWaitTimeoutError(this.#operation, this.timeout, this.#state);
  }
  describe(call) {
    this.#sources[SOURCE_OPTIONS] = call;
    const command = this.#step(EVENT_NEXT);
    if (command !== COMMAND_SEND)
      throw this.#error(command, void 0);
    if (call.signal?.aborted)
      throw call.signal.reason;
    return this.request;
  }
  async open(call, send) {
    const request = this.describe(call);
    const answer = await exchange(() => send(request), this.time, call.signal, readRefusal);
    if (!("body" in answer))
      throw this.#connectionError(answer.cause);
    const { response } = answer;
    if (isEventStream(response))
      return response;
    if (isSuccess(response))
      throw toDecodeError("", "must be an event stream", response);
    this.#takeFailure(answer);
    throw this.#failure;
  }
  free() {
    this.#task.free();
  }
  #step(event, number3 = 0) {
    attach(this.#sources, this.#listen);
    return this.#task.step(event, number3, Date.now(), Math.random());
  }
  #listen = (kind, number3, text4) => {
    const [first = "", second = ""] = text4.split("\n", 2);
    if (kind === OUTPUT_REQUEST) {
      const space = first.indexOf(" ");
      const body = text4.slice(first.length + 1);
      this.time = number3;
      this.request = {
        method: first.slice(0, space),
        target: first.slice(space + 1),
        body: body === "" ? null : body
      };
    } else if (kind === OUTPUT_DURATION)
      this.time = number3;
    else if (kind === OUTPUT_REJECTION)
      this.#refusal = toValidationError(number3, text4);
    else if (kind === OUTPUT_PAGE_REJECTION)
      this.#pageRejection = [first, second];
    else if (kind === OUTPUT_RETRY_AFTER)
      this.#retryAfter = Number(text4) / 1e3;
    else if (kind === OUTPUT_POSITION)
      this.position = JSON.parse(text4);
    else if (kind === OUTPUT_REPEATED)
      this.repeated = text4.split(",").map(Number);
    else if (kind === OUTPUT_MIXED)
      this.isMixed = true;
    else if (kind === OUTPUT_ADVICE)
      this.#advice = `; ${text4}`;
  };
  #decode({ response, body }) {
    if (!isSuccess(response))
      return void 0;
    try {
      return { data: checkBody(this.#operation, body, response), response, done: false };
    } catch (error) {
      this.#failure = this.#explain(error, response);
      return void 0;
    }
  }
  #explain(error, response) {
    return this.#isWrite ? toUnreadableWriteError(response, error) : error;
  }
  get #isWrite() {
    return this.#mode === MODE_RAW ? this.request?.method !== "GET" : KEYED.includes(this.#operation);
  }
  #take({ data, response }) {
    if (this.#mode === MODE_ONCE || this.#mode === MODE_RAW)
      return this.#step(EVENT_RESULT);
    this.#readHead(response);
    if (this.#mode === MODE_WATCH)
      return this.#takeState(data);
    const rows = rowsOf(this.#operation, data);
    this.#sources[SOURCE_BODY] = data;
    this.#sources[SOURCE_PAGE] = this.#describePage(data, rows);
    this.position = null;
    this.repeated = [];
    const command = this.#step(EVENT_PAGE, rows.length);
    for (const at of [...this.repeated].reverse())
      rows.splice(at, 1);
    return command;
  }
  #describePage(data, rows) {
    const { totals, totalSearches } = data;
    const time = TIMES[this.#operation];
    return {
      totals: JSON.stringify(totals ?? totalSearches ?? void 0),
      keys: time && rows.flatMap((row) => [row.id, row[time]]).map((value2) => `${value2 ?? ""}`.replaceAll("\n", " ")).join("\n")
    };
  }
  #takeState(state, event = EVENT_JOB) {
    const text4 = JSON.stringify(state);
    const isNews = text4 !== this.#seen;
    this.#seen = text4;
    this.#state = state;
    this.#sources[SOURCE_BODY] = state;
    return this.#step(event, Number(isNews));
  }
  #takeFailure({ response, body }) {
    if (isSuccess(response))
      return this.#step(EVENT_MALFORMED);
    this.#readHead(response);
    this.#sources[SOURCE_BODY] = body;
    this.#retryAfter = null;
    const command = this.#step(EVENT_STATUS, response.status);
    const { adminKey, token } = this.#sender.options;
    this.#failure = toApiError(response, body, this.#retryAfter, adminKey ?? token);
    this.#failure.message += this.#advice;
    this.#advice = "";
    return command;
  }
  #takeNoAnswer({ cause, expired, response }, within) {
    const { server } = this.#sender;
    if (expired) {
      const timeout = toRequestTimeoutError(within, server.host);
      const isUnreadable = response !== void 0 && isSuccess(response);
      this.#failure = isUnreadable ? this.#explain(timeout, response) : timeout;
      return this.#step(EVENT_TIMED_OUT);
    }
    const failure = this.#connectionError(cause);
    if (!(this.#isWrite && isUnsent(failure) && this.#failure && !isUnsent(this.#failure)))
      this.#failure = response ? this.#explain(failure, response) : failure;
    if (failure instanceof RequestError)
      return this.#step(EVENT_MALFORMED);
    return failure.canRetry ? this.#step(EVENT_DISCONNECTED) : COMMAND_FAIL;
  }
  #connectionError(cause) {
    if (cause instanceof RequestError)
      return cause;
    return new ConnectionError(explain(cause, this.#sender.server), cause);
  }
  #readHead({ headers }) {
    const [retryAfter, date] = [headers.get("retry-after"), headers.get("date")];
    this.#sources[SOURCE_HEAD] = { retryAfter, date };
  }
  #error(command, delivery) {
    switch (command) {
      case COMMAND_REJECT:
        return this.#refusal;
      case COMMAND_TOTAL_TIMEOUT:
        return toRequestTimeoutError(this.time, this.#sender.server.host);
      case COMMAND_WATCH_TIMEOUT:
        return this.expire();
      case COMMAND_REJECT_PAGE:
        return toDecodeError(...this.#pageRejection, delivery?.response ?? null);
      default:
        return this.#failure;
    }
  }
};
function isUnsent(error) {
  return error instanceof ConnectionError && error.sent === "no";
}
function isEventStream({ status, headers, body }) {
  const type = headers.get("content-type") ?? "";
  return status === 200 && /^text\/event-stream/i.test(type) && body !== null;
}
async function readRefusal(response) {
  if (!isSuccess(response))
    return response.json();
  return isEventStream(response) || response.body?.cancel?.();
}
function checkBody(operation, body, response) {
  const isEmpty = WITHOUT_CONTENT.includes(operation);
  if (body === void 0 && !isEmpty)
    throw toDecodeError("", "must be JSON", response);
  if (operation === RAW)
    return body;
  try {
    return decode(operation, body);
  } catch (mismatch) {
    const { path, reason } = mismatch;
    throw toDecodeError(path, reason, response);
  }
}
function rowsOf(operation, page) {
  return page[ROWS[operation]];
}

// pkg/dist/list.js
var List = class {
  #source;
  #first;
  constructor(transport, name, params = {}, options, site = captureCallSite()) {
    this.#source = { transport, name, params, options: ownProperties(options), site };
  }
  then(onFulfilled, onRejected) {
    return this.#one().then(({ page }) => page).then(onFulfilled, onRejected);
  }
  catch(onRejected) {
    return this.then(null, onRejected);
  }
  finally(onFinally) {
    return this.then().finally(onFinally);
  }
  async withResponse() {
    const { page, response } = await this.#one();
    return { data: page, response, requestId: response.headers.get("x-request-id") };
  }
  [Symbol.asyncIterator]() {
    return abortOnReturn(this.#source.options, ({ signal }) => this.#rows(signal));
  }
  async *#rows(signal) {
    const run3 = new PageIterator(this.#source, signal);
    try {
      let next;
      for (; ; ) {
        next ??= run3.next();
        const result = await next;
        next = void 0;
        if (result === null)
          return;
        const { rows, offset } = result;
        const half = offset === null ? void 0 : rows.length >> 1;
        for (let at = 0; at < rows.length; at++) {
          yield rows[at];
          if (at + 1 === half) {
            next = run3.next();
            next.catch(() => {
            });
          }
        }
      }
    } finally {
      run3.end();
    }
  }
  pages() {
    return abortOnReturn(this.#source.options, ({ signal }) => this.#pages(signal));
  }
  async *#pages(signal) {
    const run3 = new PageIterator(this.#source, signal);
    try {
      for (let result = await run3.next(); result !== null; result = await run3.next())
        yield result.page;
    } finally {
      run3.end();
    }
  }
  async all(options = {}) {
    const { maxRows: most = Number.POSITIVE_INFINITY, onProgress, ...others } = ownProperties(options);
    const rows = [];
    const run3 = new PageIterator(this.#source, this.#source.options.signal);
    try {
      run3.refuse(most, others);
      for (let pages = 1; rows.length < most; pages++) {
        const result = await run3.next();
        if (result === null)
          break;
        for (const row of result.rows)
          rows.push(row);
        await onProgress?.({
          rows: Math.min(rows.length, most),
          pages,
          requestsLeftThisHour: readLimits(result.response.headers)[0]?.left ?? null,
          isMixed: result.page.isMixed,
          nextPosition: rows.length > most ? cutPosition(result, rows.length - most) : result.page.nextPosition
        });
      }
    } finally {
      run3.end();
    }
    return rows.length > most ? rows.slice(0, most) : rows;
  }
  export(options) {
    return openExport(this.#source, options, PageIterator);
  }
  #one() {
    const fetchOne = async () => {
      const run3 = new PageIterator(this.#source, this.#source.options.signal, MODE_PAGES);
      try {
        return await run3.next();
      } finally {
        run3.end();
      }
    };
    this.#first ??= fetchOne();
    return this.#first;
  }
};
var PageIterator = class {
  #source;
  #signal;
  #pages;
  #fetching;
  constructor(source2, signal, mode = MODE_EVERYTHING) {
    this.#source = source2;
    this.#signal = signal;
    const { transport, name, site } = source2;
    this.#pages = transport.run((sender) => new Task2(sender, name, mode, readParams(source2)), site, signal);
    this.#fetching = this.#pages.then(() => null);
    this.#fetching.catch(() => {
    });
  }
  refuse(maxRows, others) {
    try {
      refuseUnknown(others, []);
      checkMaxRows(maxRows);
    } catch (error) {
      throw locate(error, this.#source.site);
    }
  }
  async #fetch() {
    const { transport, name, options, site, readBody: readBody2 } = this.#source;
    const signal = this.#signal;
    try {
      const pages = await this.#pages;
      const delivery = await pages.next(transport.callOptions(name, { ...options, signal }, readBody2));
      const { begin, isMixed, repeated } = pages;
      if (begin === null || delivery === void 0)
        return null;
      const { data, response } = delivery;
      const rows = rowsOf(name, data);
      const offset = begin.offset ?? null;
      const next = pages.position;
      const page = data;
      if (offset !== null)
        page.offset = offset;
      Object.defineProperties(Object.assign(page, { nextPosition: next }), {
        isMixed: { value: isMixed },
        nextPage: {
          value: async (own = options) => next && new List(transport, name, { resumeFrom: next }, own)
        }
      });
      return { page, begin, rows, repeated, offset, response };
    } catch (error) {
      throw locate(error, site, signal);
    }
  }
  next() {
    const fetchNext = () => this.#fetch();
    this.#fetching = this.#fetching.then(fetchNext, fetchNext);
    return this.#fetching;
  }
  end() {
    const free = () => this.#pages.then((pages) => pages.free());
    this.#fetching.then(free, free).catch(() => {
    });
  }
};
function readParams({ params }) {
  const { resumeFrom } = ownProperties(params);
  if (resumeFrom === void 0)
    return params;
  if (typeof resumeFrom === "object" && resumeFrom !== null)
    return resumeFrom;
  const message = "resumeFrom must be the position of a page that exists, not null";
  throw new ValidationError(message, "resumeFrom", "required");
}
function checkMaxRows(maxRows) {
  if (maxRows === Number.POSITIVE_INFINITY || Number.isInteger(maxRows) && maxRows >= 0)
    return;
  throw new ValidationError("maxRows must be an integer from 0", "maxRows", "page-size");
}
function cutPosition(result, cut) {
  const { begin, rows, offset } = result;
  return offset === null ? begin : { ...begin, offset: offset + rows.length - cut };
}

// pkg/dist/event_stream.js
var MAX_UNFINISHED = 1 << 20;
var EventParser = class {
  #rest = "";
  #isAfterReturn = false;
  #data = [];
  #length = 0;
  #event = "";
  #id = "";
  id = "";
  retry;
  restart() {
    this.#rest = "";
    this.#isAfterReturn = false;
    this.#data = [];
    this.#length = 0;
    this.#event = "";
    this.#id = this.id;
  }
  push(chunk) {
    if (this.#length + this.#rest.length > MAX_UNFINISHED)
      throw new TypeError("an event of the stream is too long");
    if (chunk === "")
      return [];
    const next = this.#isAfterReturn ? chunk.replace(/^\n/, "") : chunk;
    this.#isAfterReturn = chunk.endsWith("\r");
    const lines = (this.#rest + next).split(/\r\n?|\n/);
    this.#rest = lines.pop();
    return lines.flatMap((line) => this.#line(line) ?? []);
  }
  #line(line) {
    if (line === "")
      return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0)
      return void 0;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value2 = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") {
      this.#data.push(value2);
      this.#length += value2.length + 1;
    } else if (field === "event")
      this.#event = value2;
    else if (field === "id" && !value2.includes("\0"))
      this.#id = value2;
    else if (field === "retry" && /^\d{1,7}$/.test(value2))
      this.retry = Number(value2);
    return void 0;
  }
  #dispatch() {
    const data = this.#data.join("\n");
    const event = this.#event || "message";
    this.id = this.#id;
    this.#data = [];
    this.#length = 0;
    this.#event = "";
    return data === "" ? void 0 : { event, data, id: this.id };
  }
};

// pkg/dist/streams.js
var MAX_SILENCE = 45e3;
var DEFAULT_RETRY = 3e3;
var MIN_RETRY = 1e3;
var STREAM_PAUSE = 6e4;
var MAX_BREAKS = 3;
var DELETED = "agentJobs.allEvents";
var MAX_FAILURES = 5;
async function* readStream(open, signal, decide2) {
  const parser = new EventParser();
  for (; ; ) {
    const watchdog = guard(signal, MAX_SILENCE);
    let isOpen = false;
    let error;
    parser.restart();
    try {
      const response = await open(parser.id, watchdog.signal);
      watchdog.reset();
      isOpen = true;
      const decoder = new TextDecoder();
      for await (const chunk of readChunks(response, watchdog.signal)) {
        watchdog.reset();
        yield* parser.push(decoder.decode(chunk, { stream: true }));
      }
    } catch (cause) {
      if (signal?.aborted)
        throw signal.reason;
      error = cause;
    } finally {
      watchdog.end();
    }
    const delay = Math.max(parser.retry ?? DEFAULT_RETRY, MIN_RETRY);
    const wait = decide2({ isOpen, error, retry: delay * (1 + Math.random() / 4) });
    if (wait === void 0)
      return;
    await sleep(wait, signal);
  }
}
async function* readChunks(response, signal) {
  const body = response.body;
  const reader = body.getReader?.();
  const chunks = reader ? { next: () => reader.read() } : body[Symbol.asyncIterator]();
  try {
    for (; ; ) {
      const { done, value: value2 } = await abortable(chunks.next(), signal);
      if (done)
        return;
      yield value2;
    }
  } finally {
    reader?.cancel().catch(() => {
    });
    body.destroy?.();
  }
}
function guard(outer, ms) {
  const controller2 = new AbortController();
  const unfollow = follow(controller2, outer);
  const abort = () => controller2.abort();
  let timer = setTimeout(abort, ms);
  return {
    signal: controller2.signal,
    reset() {
      clearTimeout(timer);
      timer = setTimeout(abort, ms);
    },
    end() {
      clearTimeout(timer);
      unfollow();
      abort();
    }
  };
}
async function* streamResource({ transport, watch, resource, id, call, deadline }) {
  const expiry = guard(call.signal, Math.max(deadline - Date.now(), 0));
  let breaks = 0;
  let wasOpen = false;
  let last;
  const decide2 = ({ isOpen, error, retry }) => {
    wasOpen ||= isOpen;
    last = error;
    if (error !== void 0 && (!wasOpen || "headers" in error))
      return void 0;
    breaks += 1;
    return breaks < MAX_BREAKS ? retry : void 0;
  };
  try {
    const open = transport.streamOpener(resource.events(id), call);
    for await (const { event, data } of readStream(open, expiry.signal, decide2)) {
      if (event !== resource.name)
        continue;
      breaks = -1;
      const change = watch.processEvent(transport.decodeEvent(resource.get, data));
      if (change === void 0)
        continue;
      const { data: state, done } = change;
      yield { [resource.name]: state, done };
      if (done)
        return void 0;
    }
    const next = Date.now() + STREAM_PAUSE;
    if (last?.status !== 404)
      transport.nextStreamAt = next;
    return next;
  } catch (error) {
    if (error !== expiry.signal.reason || call.signal?.aborted)
      throw error;
    return Number.POSITIVE_INFINITY;
  } finally {
    expiry.end();
  }
}
function streamList(transport, watched, given, site = captureCallSite()) {
  return abortOnReturn(given, async function* ({ after, ...options }) {
    try {
      const reopen = transport.streamOpener(watched.allEvents, options);
      const start2 = toEventId(after ?? null);
      const resume = (id, signal) => reopen(id || start2, signal);
      for await (const event of readStream(resume, options.signal, retryPolicy(reopen))) {
        const change = readChange(transport, watched, event);
        if (change !== void 0)
          yield change;
      }
    } catch (error) {
      throw locate(error, site, options.signal);
    }
  });
}
function toEventId(after) {
  if (after === null)
    return "";
  if (!(Number.isSafeInteger(after) && after >= 0)) {
    throw new ValidationError("after must be an integer from 0", "after", "offset");
  }
  return String(after);
}
function retryPolicy(open) {
  let failures = 0;
  return ({ isOpen, error, retry }) => {
    if (isOpen)
      failures = 0;
    if (isOpen || error === void 0)
      return retry;
    failures += 1;
    if (failures === MAX_FAILURES || !isRetryable(error))
      throw error;
    const { retryAfter } = error;
    const wait = Math.max(retry * 2 ** (failures - 1), 1e3 * (retryAfter ?? 0));
    open.observer?.onRetry(error, wait);
    return wait;
  };
}
function isRetryable(error) {
  const { canRetry, status = 0 } = error;
  return canRetry === true || status === 429 || status >= 500;
}
function readChange(transport, { name, allEvents }, { event, data }) {
  if (event === "reset")
    return { reset: true };
  if (event === name)
    return { [name]: transport.decodeEvent(allEvents.operation, data) };
  if (event !== "deleted")
    return void 0;
  const { id } = transport.decodeEvent(DELETED, data);
  return { deleted: id };
}

// pkg/dist/watch.js
function watchResource(transport, resource, id, options, site = captureCallSite()) {
  return abortOnReturn(options, async function* ({ timeout, ...call }) {
    const { get: get2, name } = resource;
    let watch;
    try {
      refuseUnknown(call, ["signal", "headers", "fetchOptions"]);
      const sender = await transport.sender(call.signal);
      watch = new Task2(sender, get2, MODE_WATCH, resource.params(id), { timeout });
      const deadline = Date.now() + watch.timeout;
      let { nextStreamAt } = transport;
      for (; ; ) {
        if (Date.now() >= nextStreamAt) {
          const stream = { transport, watch, resource, id, call, deadline };
          const next = yield* streamResource(stream);
          if (next === void 0)
            return;
          nextStreamAt = next;
        }
        const change = await watch.next(transport.callOptions(get2, call), nextStreamAt);
        if (change === void 0)
          continue;
        const { data, done } = change;
        yield { [name]: data, done };
        if (done)
          return;
      }
    } catch (error) {
      throw locate(error, site, call.signal);
    } finally {
      watch?.free();
    }
  });
}
async function waitForResource(transport, resource, id, options, site = captureCallSite()) {
  const { onUpdate, ...watching } = ownProperties(options);
  let last;
  const changes = watchResource(transport, resource, id, watching, site);
  for await ({ [resource.name]: last } of changes)
    await onUpdate?.(last);
  return last;
}

// pkg/dist/agent_jobs.js
var JOBS = {
  get: "agentJobs.get",
  name: "job",
  params: (id) => ({ id }),
  events: (id) => ({ operation: "agentJobs.events", parent: "agentJobs.get", params: { id } }),
  allEvents: { operation: "agentJobs.allEvents", parent: "agentJobs.list", params: {} }
};
var AgentJobs = class {
  #transport;
  constructor(transport) {
    this.#transport = transport;
  }
  create(params, options) {
    return this.#transport.call("agentJobs.create", params, options);
  }
  get(id, options) {
    return this.#transport.call("agentJobs.get", { id }, options);
  }
  sendMessage(id, params, options) {
    return this.#transport.call("agentJobs.sendMessage", { ...params, id }, options);
  }
  list(params, options) {
    return new List(this.#transport, "agentJobs.list", params, options);
  }
  record(id, options) {
    return this.#transport.call("agentJobs.record", { id }, options);
  }
  deleteRecord(id, options) {
    return this.#transport.call("agentJobs.deleteRecord", { id }, options);
  }
  watchAll(options) {
    return streamList(this.#transport, JOBS, options);
  }
  wait(id, options) {
    return waitForResource(this.#transport, JOBS, id, options);
  }
  watch(id, options) {
    return watchResource(this.#transport, JOBS, id, options);
  }
};

// pkg/dist/analytics.js
var Analytics = class {
  #transport;
  constructor(transport) {
    this.#transport = transport;
  }
  views(params, options) {
    return new List(this.#transport, "analytics.views", params, options);
  }
  dailyViews(params, options) {
    return new List(this.#transport, "analytics.dailyViews", params, options);
  }
  archivedViews(params, options) {
    return new List(this.#transport, "analytics.archivedViews", params, options);
  }
  archiveStatus(options) {
    return this.#transport.call("analytics.archiveStatus", {}, options);
  }
  estimateBackfill(params, options) {
    return this.#transport.call("analytics.estimateBackfill", params, options);
  }
  beginBackfill(params, options) {
    return this.#transport.call("analytics.beginBackfill", params, options);
  }
  visitors(params, options) {
    return new List(this.#transport, "analytics.visitors", params, options);
  }
  feedback(params, options) {
    return new List(this.#transport, "analytics.feedback", params, options);
  }
  feedbackByPage(params = {}, options) {
    return this.#transport.call("analytics.feedbackByPage", params, options);
  }
  searches(params, options) {
    return new List(this.#transport, "analytics.searches", params, options);
  }
  conversations(params, options) {
    return new List(this.#transport, "analytics.conversations", params, options);
  }
  conversation(threadId, options) {
    return this.#transport.call("analytics.conversation", { threadId }, options);
  }
  callerStats(params = {}, options) {
    return this.#transport.call("analytics.callerStats", params, options);
  }
};

// pkg/dist/automations.js
var Automations = class {
  #transport;
  constructor(transport) {
    this.#transport = transport;
  }
  run(id, options) {
    return this.#transport.call("automations.run", { workflowSchemaId: id }, options);
  }
};

// pkg/dist/base_url.js
var HTTP_URL = /^https?:\/\/(?![/:])[!$-;=A-[\]-~]+$/;
function checkBaseUrl(options) {
  const { baseUrl, adminKey, token, allowPlainHttp } = options;
  if (typeof baseUrl !== "string")
    return;
  if (!HTTP_URL.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw toValidationError(RULE_BASE_URL, "baseUrl\n\n");
  }
  const hasCredential = adminKey !== void 0 || token !== void 0;
  if (hasCredential)
    checkSecure(baseUrl, allowPlainHttp);
}
function checkSecure(url, allowPlainHttp) {
  if (allowPlainHttp === true || isPrivate(url))
    return;
  throw toValidationError(RULE_SECURE_BASE_URL, "baseUrl\n\n");
}
function isPrivate(baseUrl) {
  return new URL(baseUrl).protocol !== "http:" || isLoopback(baseUrl);
}
function isLoopback(baseUrl) {
  return LOOPBACK.includes(new URL(baseUrl).hostname);
}

// pkg/dist/deployments.js
var DEPLOYMENTS = {
  get: "deployments.get",
  name: "deployment",
  params: (statusId) => ({ statusId }),
  events: (statusId) => ({
    operation: "deployments.events",
    parent: "deployments.deleteRecord",
    params: { statusId }
  }),
  allEvents: { operation: "deployments.allEvents", parent: "deployments.list", params: {} }
};
var Deployments = class {
  #transport;
  constructor(transport) {
    this.#transport = transport;
  }
  create(options) {
    return this.#transport.call("deployments.create", {}, options);
  }
  get(id, options) {
    return this.#transport.call("deployments.get", { statusId: id }, options);
  }
  list(params, options) {
    return new List(this.#transport, "deployments.list", params, options);
  }
  deleteRecord(id, options) {
    return this.#transport.call("deployments.deleteRecord", { statusId: id }, options);
  }
  wait(id, options) {
    return waitForResource(this.#transport, DEPLOYMENTS, id, options);
  }
  watch(id, options) {
    return watchResource(this.#transport, DEPLOYMENTS, id, options);
  }
  watchAll(options) {
    return streamList(this.#transport, DEPLOYMENTS, options);
  }
};

// pkg/dist/headers.js
function readHeaders(field, given) {
  const headers = new Headers();
  if (typeof given !== "object")
    throw toValidationError(RULE_HEADER, `${field}

a ${typeof given}`);
  const pairs = Symbol.iterator in given ? given : Object.entries(given);
  for (const [name, value2] of pairs) {
    if (value2 == null)
      continue;
    try {
      headers.append(name, value2);
    } catch {
      const shown = JSON.stringify(`${name}`.slice(0, 32));
      throw toValidationError(RULE_HEADER, `${field}

an invalid ${shown}`);
    }
  }
  return headers;
}

// pkg/dist/log.js
var LEVELS = ["off", "error", "warn", "info", "debug"];
function checkLogLevel(level) {
  if (level == null || LEVELS.includes(level))
    return;
  throw new ValidationError(`logLevel must be one of ${LEVELS.join(", ")}`, "logLevel", "one-of");
}
var SHOWN = /* @__PURE__ */ new Set([
  "accept",
  "age",
  "allow",
  "cache-control",
  "cache-status",
  "content-length",
  "content-type",
  "date",
  "etag",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "server-timing",
  "x-request-id"
]);
function redactHeaders(headers) {
  const copy = new Headers();
  headers.forEach?.((value2, name) => {
    copy.set(name, SHOWN.has(name) ? value2 : "[redacted]");
  });
  return copy;
}
function openLog({ logLevel, logger }) {
  let enabled = LEVELS.indexOf(logLevel ?? variable("QUILLGATE_LOG"));
  if (enabled < 0)
    enabled = LEVELS.indexOf("warn");
  if (enabled === 0)
    return void 0;
  return (level, ...message) => {
    if (LEVELS.indexOf(level) <= enabled)
      (logger ?? console)[level](...message);
  };
}

// pkg/dist/previews.js
var Previews = class {
  #transport;
  constructor(transport) {
    this.#transport = transport;
  }
  create(params, options) {
    return this.#transport.call("previews.create", params, options);
  }
};

// pkg/dist/api_promise.js
var ApiPromise = class {
  #result;
  constructor(result) {
    this.#result = result;
  }
  async withResponse() {
    const { data, response } = await this.#result;
    return { data, response, requestId: response.headers.get("x-request-id") };
  }
  then(onFulfilled, onRejected) {
    return this.#result.then(({ data }) => data).then(onFulfilled, onRejected);
  }
  catch(onRejected) {
    return this.then(null, onRejected);
  }
  finally(onFinally) {
    return this.then().finally(onFinally);
  }
  get [Symbol.toStringTag]() {
    return "ApiPromise";
  }
};

// pkg/dist/observer.js
function observe(client, operation) {
  const { onRequest, onResponse, onRetry } = client;
  const log = openLog(client);
  if (!log && !onRequest && !onResponse && !onRetry)
    return void 0;
  const current = { operation, attempt: -1, method: "", url: "" };
  let started = 0;
  const duration = () => Date.now() - started;
  const call = (hook, event) => {
    if (hook)
      run(() => hook(event()), (error) => log?.("error", "quillgate: a hook failed", error));
  };
  const write2 = (level, text4) => {
    const { method, url } = current;
    run(() => log?.(level, `quillgate: ${method} ${new URL(url).pathname}: ${text4}`));
  };
  return {
    onRequest(method, url, headers) {
      Object.assign(current, { attempt: current.attempt + 1, method, url: new URL(url).href });
      started = Date.now();
      write2("debug", "sent");
      call(onRequest, () => ({ ...current, headers: redactHeaders(new Headers(headers)) }));
    },
    onResponse({ status, headers }) {
      const rest = { status, duration: duration() };
      const id = headers.get("x-request-id");
      write2("info", `${status} after ${rest.duration} ms${id ? `, request ${id}` : ""}`);
      call(onResponse, () => ({ ...current, ...rest, headers: redactHeaders(headers) }));
    },
    onRetry(error, wait) {
      write2("warn", `${error?.name ?? "error"}, again in ${Math.round(wait)} ms`);
      call(onRetry, () => ({ ...current, error, duration: duration(), wait }));
    }
  };
}
function run(work, report = () => {
}) {
  const fail = (error) => {
    try {
      report(error);
    } catch {
    }
  };
  try {
    Promise.resolve(work()).catch(fail);
  } catch (error) {
    fail(error);
  }
}

// pkg/dist/raw.js
var METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
function buildRaw(method, path, { query, body }) {
  if (!METHODS.includes(method)) {
    throw new ValidationError(`method must be one of ${METHODS.join(", ")}`, "method", "one-of");
  }
  if (body !== void 0 && method === "GET") {
    throw new ValidationError("body must not be combined with GET", "body", "unknown");
  }
  const pairs = Object.entries(query ?? {}).flatMap(([name, value2]) => [value2 ?? []].flat().map((each) => {
    if (["string", "number", "boolean"].includes(typeof each))
      return [name, String(each)];
    throw new ValidationError("query must have strings, numbers and booleans", "query", "text");
  }));
  const search = new URLSearchParams(pairs).toString().replaceAll("+", "%20");
  return { method, target: search ? `${path}?${search}` : path, body: toJson(body) };
}
function toJson(body) {
  try {
    return JSON.stringify(body) ?? null;
  } catch {
    throw new ValidationError("body must be a JSON value", "body", "text");
  }
}
async function readRaw(response) {
  const text4 = await response.text();
  return text4 === "" ? null : JSON.parse(text4);
}

// pkg/dist/send.js
async function callFetch({ fetch: fetch2 = globalThis.fetch }, url, init) {
  let sent;
  try {
    sent = fetch2(url, init);
  } catch (cause) {
    throw toRequestError(cause);
  }
  const response = await Promise.resolve(sent).catch((cause) => {
    throw findRefusal(cause) === void 0 ? cause : toRequestError(cause);
  });
  if (typeof response?.status !== "number" || typeof response.headers?.get !== "function") {
    throw new RequestError("the custom fetch did not return a Response");
  }
  if (response.bodyUsed) {
    throw new RequestError("the custom fetch has read the body: read that of response.clone()");
  }
  return response;
}
function cacheMode() {
  const isKnown = typeof Request === "function" && "cache" in Request.prototype;
  return isKnown ? { cache: "no-store" } : {};
}
var INVALID = /^(ERR_INVALID_(ARG|CHAR|HTTP_TOKEN|PROTOCOL|URL)|ERR_UNESCAPED|UND_ERR_(INVALID_ARG|NOT_SUPPORTED))/;
var BUGS = ["ReferenceError", "RangeError", "SyntaxError"];
var BUG = /^(Failed to (construct|execute|parse|read)|Headers\b|Invalid (URL|header|name|value)|Only absolute|Cannot |Request(Init| constructor)|Window\.fetch:|(undefined|null) is )|\bis not (a|an|iterable|defined|valid)\b/;
function findRefusal(error) {
  const { name, message, cause, code } = error ?? {};
  for (const each of [code, cause?.code]) {
    if (INVALID.test(String(each)))
      return String(each);
  }
  const isBug = BUGS.includes(name) || name === "TypeError" && !code && BUG.test(message);
  return isBug ? name : void 0;
}
function toRequestError(cause) {
  const what = findRefusal(cause) ?? cause?.name ?? typeof cause;
  const isForeign2 = what === "UND_ERR_INVALID_ARG";
  const advice = isForeign2 ? "; a dispatcher of npm's undici needs the fetch of this undici" : "";
  const message = `fetch itself failed, not the connection: ${what}, see the cause${advice}`;
  return new RequestError(message, { cause });
}

// pkg/dist/transport.js
var Transport = class {
  #options;
  #sender;
  #base = "";
  nextStreamAt;
  constructor(options) {
    this.#options = options;
    this.nextStreamAt = options.adminKey === void 0 ? 0 : Number.POSITIVE_INFINITY;
  }
  sender(signal) {
    this.#sender ??= this.#load().catch((error) => {
      this.#sender = void 0;
      throw error;
    });
    return abortable(this.#sender, signal);
  }
  async #load() {
    const core = await loadCore().catch((cause) => {
      throw toWasmLoadError(cause);
    });
    let refusal;
    attach([this.#options], (kind, rule, text4) => {
      if (kind === OUTPUT_BASE_URL)
        this.#base = text4;
      else
        refusal = toValidationError(rule, text4);
    });
    if (!core.checkClient())
      throw refusal;
    const send = (request, call, signal) => this.#send(request, call, signal);
    return { core, options: this.#options, server: new URL(this.#base), send };
  }
  async #send(request, call, signal, accept = "application/json") {
    const { method, body } = request;
    const url = this.#base + request.target;
    const headers = this.#headers(request, call, accept);
    const { observer, fetchOptions } = call;
    if (call.gateway)
      headers["cache-control"] ??= "no-transform";
    observer?.onRequest(method, url, headers);
    const needed = { method, headers, body, redirect: "manual", signal };
    const init = { ...cacheMode(), ...fetchOptions, ...needed };
    const response = await callFetch(this.#options, url, init);
    observer?.onResponse(response);
    return response;
  }
  #headers({ body }, call, accept = "application/json") {
    const { adminKey, token } = this.#options;
    const credential = adminKey ?? token;
    const needed = { accept };
    if (userAgent)
      needed["user-agent"] = call.headers?.get("user-agent") ?? userAgent;
    else if (adminKey === void 0)
      needed["quillgate-client"] = USER_AGENT;
    if (credential !== void 0)
      needed.authorization = `Bearer ${credential}`;
    if (body !== null)
      needed["content-type"] = "application/json";
    if (call.idempotencyKey !== void 0)
      needed["idempotency-key"] = call.idempotencyKey;
    if (call.webhookUrl !== void 0)
      needed["webhook-url"] = call.webhookUrl;
    return call.headers ? { ...Object.fromEntries(call.headers), ...needed } : needed;
  }
  async run(work, site = captureCallSite(), signal) {
    try {
      return await work(await this.sender(signal));
    } catch (error) {
      throw locate(error, site, signal);
    }
  }
  call(operation, params, given = {}) {
    const options = ownProperties(given);
    const carryOut = async (sender) => {
      const call = this.callOptions(operation, options);
      if (call.gateway && !options.force && KEYED.includes(operation))
        call.idempotencyKey ??= freshKey();
      const task = new Task2(sender, operation, MODE_ONCE, params);
      try {
        return await task.next(call);
      } finally {
        task.free();
      }
    };
    return new ApiPromise(this.run(carryOut, captureCallSite(), options.signal));
  }
  request(method, path, options = {}) {
    const { query, body, ...rest } = ownProperties(options);
    const carryOut = async (sender) => {
      const request = buildRaw(method, path, { query, body });
      const call = this.callOptions(RAW, rest, readRaw);
      const task = new Task2(sender, RAW, MODE_RAW, { method, path });
      try {
        task.request = request;
        return await task.next(call);
      } finally {
        task.free();
      }
    };
    return new ApiPromise(this.run(carryOut, captureCallSite(), rest.signal));
  }
  build(operation, params, options = {}) {
    const build = (sender) => {
      const call = this.callOptions(operation, options);
      const task = new Task2(sender, operation, MODE_ONCE, params);
      try {
        const request = task.describe(call);
        const headers = this.#headers(request, call);
        const { method, target, body } = request;
        return { method, url: this.#base + target, headers, body };
      } finally {
        task.free();
      }
    };
    return this.run(build, captureCallSite(), options.signal);
  }
  streamOpener({ operation, parent, params }, options) {
    const shared = this.callOptions(operation, { ...options, maxRetries: 0 });
    const open = async (lastEventId, signal) => {
      const headers = new Headers(shared.headers);
      if (lastEventId !== "")
        headers.set("last-event-id", lastEventId);
      const call = { ...shared, signal, headers };
      const task = new Task2(await this.sender(signal), parent, MODE_ONCE, params);
      try {
        return await task.open(call, (request) => {
          const target = `${request.target}/events`;
          const get2 = { ...request, method: "GET", target };
          return this.#send(get2, call, signal, "text/event-stream");
        });
      } finally {
        task.free();
      }
    };
    return Object.assign(open, { observer: shared.observer });
  }
  decodeEvent(operation, data) {
    let body;
    try {
      body = JSON.parse(data);
    } catch {
    }
    return checkBody(operation, body, null);
  }
  callOptions(operation, given, readBody2) {
    const client = this.#options;
    const call = ownProperties(given);
    refuseUnknown(call, CALL_OPTIONS);
    if (call.force && call.idempotencyKey === void 0)
      throw toRequiredError("idempotencyKey");
    return {
      signal: typeof call.signal === "object" ? call.signal ?? void 0 : void 0,
      timeout: call.timeout ?? client.timeout,
      totalTimeout: call.totalTimeout ?? client.totalTimeout,
      maxRetries: call.maxRetries ?? client.maxRetries,
      idempotencyKey: call.idempotencyKey,
      webhookUrl: call.webhookUrl,
      gateway: client.adminKey === void 0,
      deduplicated: client.retryWrites !== false && client.adminKey === void 0 && !call.force,
      headers: this.#callHeaders(call),
      fetchOptions: { ...client.fetchOptions, ...call.fetchOptions },
      observer: observe(client, operation),
      readBody: readBody2
    };
  }
  #callHeaders(call) {
    const { defaultHeaders } = this.#options;
    if (defaultHeaders === void 0 && call.headers === void 0 && !call.force)
      return void 0;
    const headers = readHeaders("defaultHeaders", defaultHeaders ?? {});
    readHeaders("headers", call.headers ?? {}).forEach((value2, name) => {
      headers.set(name, value2);
    });
    if (call.force)
      headers.set("idempotency-retry", "force");
    return headers;
  }
};
var CALL_OPTIONS = [
  "signal",
  "timeout",
  "totalTimeout",
  "maxRetries",
  "headers",
  "fetchOptions",
  "idempotencyKey",
  "force",
  "webhookUrl"
];
function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// pkg/dist/client.js
var Client = class _Client {
  agentJobs;
  analytics;
  automations;
  deployments;
  previews;
  #transport;
  #given;
  constructor(options = {}) {
    try {
      refuseUnknown(options, Object.keys(KNOWN));
    } catch (reason) {
      throw locate(reason, captureCallSite());
    }
    this.#given = ownProperties(options);
    const complete = resolveOptions(this.#given);
    checkBaseUrl(complete);
    this.#transport = new Transport(complete);
    this.agentJobs = new AgentJobs(this.#transport);
    this.analytics = new Analytics(this.#transport);
    this.automations = new Automations(this.#transport);
    this.deployments = new Deployments(this.#transport);
    this.previews = new Previews(this.#transport);
  }
  withOptions(options) {
    return new _Client({ ...this.#given, ...ownProperties(options) });
  }
  request(method, path, options) {
    return this.#transport.request(method, path, options);
  }
  buildRequest(operation, params, options) {
    return this.#transport.build(operation, params, options);
  }
};
var KNOWN = {
  baseUrl: true,
  allowPlainHttp: true,
  projectId: true,
  auth: true,
  timeout: true,
  totalTimeout: true,
  maxRetries: true,
  retryWrites: true,
  fetch: true,
  fetchOptions: true,
  defaultHeaders: true,
  onRequest: true,
  onResponse: true,
  onRetry: true,
  logger: true,
  logLevel: true
};
function resolveOptions(options) {
  const auth = readAuth(options.auth);
  const { token, adminKey } = auth;
  const complete = Object.assign(ownProperties(options), { token, adminKey });
  checkLogLevel(options.logLevel);
  if (options.defaultHeaders != null)
    readHeaders("defaultHeaders", options.defaultHeaders);
  complete.projectId ??= variable("QUILLGATE_PROJECT_ID");
  if (adminKey === void 0)
    complete.baseUrl ??= variable("QUILLGATE_BASE_URL");
  if (complete.projectId === void 0)
    throw toRequiredError("projectId");
  if (adminKey === void 0 && complete.baseUrl === void 0) {
    const message = "baseUrl is required, unless auth has an adminKey";
    throw new ValidationError(message, "baseUrl", "required");
  }
  return complete;
}
function readAuth(given) {
  const token = given === void 0 ? variable("QUILLGATE_TOKEN") : void 0;
  if (token !== void 0)
    return { token };
  if (typeof given !== "object" || given === null) {
    const message = "auth is required: { token }, { session: true } or { adminKey }";
    throw new ValidationError(message, "auth", "required");
  }
  refuseUnknown(given, ["token", "session", "adminKey", "dangerouslyAllowBrowser"]);
  const auth = ownProperties(given);
  const isGiven = [auth.token !== void 0, auth.session === true, auth.adminKey !== void 0];
  if (isGiven.filter(Boolean).length !== 1) {
    const message = "auth must have exactly one of token, session and adminKey";
    throw new ValidationError(message, "auth", "once");
  }
  if (auth.adminKey !== void 0 && auth.dangerouslyAllowBrowser !== true && isBrowser()) {
    throw new QuillgateError("an admin key is a secret, which everybody who opens a page can read: use a gateway's access token, or set dangerouslyAllowBrowser");
  }
  return auth;
}

// pkg/dist/inline.js
setExplanation(explainConnection);
loadFrom(() => {
  if (!isBrowser())
    setUserAgent(USER_AGENT);
  return decodeBytes(text);
});

// action/src/comment.ts
import { createHash as createHash2 } from "node:crypto";

// action/src/github_api.ts
var GithubError = class extends Error {
  /** The HTTP status of GitHub's response; `undefined` without a response. */
  status;
  constructor(message, status) {
    super(message);
    this.status = status;
  }
};
var TIMEOUT = 5e3;
function findApi(env, token) {
  const { GITHUB_API_URL: api = "https://api.github.com", GITHUB_REPOSITORY: repository } = env;
  return token === void 0 || !repository ? void 0 : { api, repository, token };
}
async function callGithub({ api, token }, method, target, options = {}) {
  const { content, timeout = TIMEOUT, signal } = options;
  const deadline = AbortSignal.timeout(timeout);
  const response = await fetch(api + target, {
    method,
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "user-agent": "quillgate-action",
      "x-github-api-version": "2022-11-28",
      ...content === void 0 ? {} : { "content-type": "application/json" }
    },
    body: content === void 0 ? null : JSON.stringify(content),
    redirect: "error",
    signal: signal ? AbortSignal.any([signal, deadline]) : deadline
  }).catch(() => {
    throw new GithubError("GitHub's API did not answer");
  });
  const text4 = await response.text().catch(() => {
    throw new GithubError("GitHub's API broke off its answer");
  });
  if (!response.ok) {
    throw new GithubError(`GitHub's API answered with status ${response.status}`, response.status);
  }
  try {
    return JSON.parse(text4);
  } catch {
    throw new GithubError("GitHub's API answered with something that is not JSON");
  }
}

// action/src/comment.ts
var PERMISSION = "the job needs `permissions: pull-requests: write`, which a workflow of a pull request from a fork does not get";
var CommentError = class extends Error {
  /** Whether the token lacks the permission, as in a workflow of a pull request from a fork. */
  isRefusal;
  constructor({ message, status }) {
    const isRefusal = status === 403 || status === 404;
    super(isRefusal ? `${message}: ${PERMISSION}` : message);
    this.isRefusal = isRefusal;
  }
};
var PER_PAGE = 100;
var MAX_PAGES = 30;
var MAX_ENTRIES = 10;
var ENTRY = /^<!-- quillgate-(job|note) (\w*) -->\n/m;
var StepComment = class {
  #place;
  /** Starts the body of every comment of this step. Invisible to readers. */
  #prefix;
  /** Starts the body of this call's comment. */
  #marker;
  #id;
  /** Aborts the requests of the current {@link write}. */
  #signal;
  constructor(place) {
    this.#place = place;
    this.#prefix = `<!-- quillgate-action ${digest2(place.step)}`;
    this.#marker = `${this.#prefix} ${digest2(place.call)} -->`;
  }
  /**
   * Writes an entry to the comment. Creates the comment if it does not exist.
   *
   * A note replaces the run's earlier note. A job replaces every entry of its run and, unless
   * `keepsEarlier` is set, the entries of all earlier runs. The comment keeps at most
   * {@link MAX_ENTRIES} entries, and always the latest job.
   *
   * @throws {CommentError} if the comment cannot be read or written
   */
  async write(entry, signal) {
    this.#signal = signal;
    try {
      await this.#write(entry);
    } catch (error) {
      throw error instanceof GithubError ? new CommentError(error) : error;
    }
  }
  async #write(entry) {
    const { repository, number: number3 } = this.#place;
    const found2 = await this.#readPrevious() ?? await this.#find();
    this.#id = found2?.id;
    if (this.#yieldsTo(found2?.body ?? "")) return;
    const body = this.#compose(found2?.body ?? "", entry);
    if (this.#id !== void 0) {
      const target2 = `/repos/${repository}/issues/comments/${this.#id}`;
      await this.#call("PATCH", target2, { body });
      return;
    }
    const target = `/repos/${repository}/issues/${number3}/comments`;
    this.#id = (await this.#call("POST", target, { body })).id;
  }
  /** Returns whether a later run has reported its result. The ids of runs increase. */
  #yieldsTo(body) {
    const { run: run3, yieldsToLater } = this.#place;
    const isLater = (entry) => entry.kind === "job" && Number(entry.run) > Number(run3);
    return yieldsToLater && parseEntries(body).some(isLater);
  }
  #compose(body, { kind, markdown }) {
    const { run: run3, keepsEarlier } = this.#place;
    const isReplaced = (other) => {
      if (kind === "note") return other.kind === "note" && other.run === run3;
      return other.run === run3 || !keepsEarlier && Number(other.run) < Number(run3);
    };
    const kept = parseEntries(body).filter((other) => !isReplaced(other));
    const entries = [...limitEntries(kept), { kind, run: run3, markdown }];
    const texts = entries.map((entry) => {
      return `<!-- quillgate-${entry.kind} ${entry.run} -->
${entry.markdown}`;
    });
    return `${this.#marker}
${texts.join("\n\n")}`;
  }
  /** Returns the comment of the previous {@link write}, unless another call has it or it was deleted. */
  async #readPrevious() {
    if (this.#id === void 0) return void 0;
    const target = `/repos/${this.#place.repository}/issues/comments/${this.#id}`;
    try {
      const comment = await this.#call("GET", target);
      return this.#hasMarker(comment) ? comment : void 0;
    } catch (error) {
      if (error instanceof GithubError && error.status === 404) return void 0;
      throw error;
    }
  }
  /** Returns the call's comment, or else the step's first comment without an entry of this run. */
  async #find() {
    const { repository, number: number3, run: run3 } = this.#place;
    let earlier;
    for (let page = 1; page <= MAX_PAGES; page++) {
      const query = `per_page=${PER_PAGE}&page=${page}`;
      const target = `/repos/${repository}/issues/${number3}/comments?${query}`;
      const comments = await this.#call("GET", target);
      for (const comment of comments) {
        if (!await this.#isOwn(comment)) continue;
        if (this.#hasMarker(comment)) return comment;
        if (!parseEntries(comment.body ?? "").some((entry) => entry.run === run3))
          earlier ??= comment;
      }
      if (comments.length < PER_PAGE) break;
    }
    return earlier;
  }
  /** Returns whether the comment is this call's. Users can edit everything around the marker. */
  #hasMarker({ body }) {
    return body?.split(/\r?\n/).includes(this.#marker) ?? false;
  }
  /**
   * Returns whether the token's user or a bot wrote the comment. The marker alone proves nothing,
   * because anyone can copy it.
   */
  async #isOwn({ body, user }) {
    const lines = body?.split(/\r?\n/) ?? [];
    if (!lines.some((line) => line.startsWith(this.#prefix))) return false;
    if (user?.type === "Bot") return true;
    const self = await this.#call("GET", "/user").catch(() => void 0);
    return user?.id !== void 0 && self?.id === user.id;
  }
  #call(method, target, content) {
    return callGithub(this.#place, method, target, { content, signal: this.#signal });
  }
};
function digest2(text4) {
  return createHash2("sha256").update(text4).digest("hex").slice(0, 32);
}
function parseEntries(text4) {
  const [, ...parts] = text4.replaceAll("\r\n", "\n").split(ENTRY);
  const entries = [];
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [kind, run3 = "", markdown = ""] = parts.slice(at, at + 3);
    entries.push({ kind: kind === "job" ? "job" : "note", run: run3, markdown: markdown.trim() });
  }
  return entries;
}
function limitEntries(entries) {
  if (entries.length < MAX_ENTRIES) return entries;
  const job = entries.findLast(({ kind }) => kind === "job");
  const last = entries.slice(1 - MAX_ENTRIES);
  return job === void 0 || last.includes(job) ? last : [job, ...last.slice(1)];
}

// action/src/identity.ts
var IdentityError = class extends Error {
  /** Whether a retry may succeed. */
  isRetryable;
  constructor(message, isRetryable3 = false) {
    super(message);
    this.isRetryable = isRetryable3;
  }
};
var AccessToken = class {
  claims = void 0;
  #token;
  constructor(token) {
    this.#token = token;
  }
  async token() {
    return this.#token;
  }
};
var ATTEMPTS = 3;
var ATTEMPT_TIMEOUT = 1e4;
var PAUSE = 1e3;
var MAX_MARGIN = 6e4;
var WorkflowIdentity = class {
  #runner;
  #url;
  #credential;
  #token;
  /** When to renew the token, on the clock of `performance.now()`. */
  #renewAt = 0;
  #claims;
  /** @throws {IdentityError} if GitHub signs no tokens for this job */
  constructor(runner2, audience, pull, noun) {
    const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: credential } = runner2.env;
    if (!url || !credential) throw new IdentityError(explainAbsence(pull, noun));
    runner2.mask(credential);
    this.#runner = runner2;
    this.#credential = credential;
    const separator = url.includes("?") ? "&" : "?";
    this.#url = `${url}${separator}audience=${encodeURIComponent(audience)}`;
  }
  get claims() {
    return this.#claims;
  }
  token(signal) {
    if (this.#token === void 0 || performance.now() >= this.#renewAt) {
      this.#renewAt = Number.POSITIVE_INFINITY;
      this.#token = this.#renew(signal).catch((error) => {
        this.#token = void 0;
        throw error;
      });
    }
    return this.#token;
  }
  async #renew(signal) {
    const began = performance.now();
    const token = await this.#request(signal);
    this.#runner.mask(token);
    const claims = readClaims(token);
    this.#claims = claims;
    const lifetime = (Number(claims.exp) - Number(claims.iat)) * 1e3;
    this.#renewAt = lifetime > 0 ? began + lifetime - Math.min(lifetime / 4, MAX_MARGIN) : 0;
    return token;
  }
  async #request(signal) {
    for (let attempt = 1; ; attempt++) {
      const failure = await this.#attempt(signal);
      if (typeof failure === "string") return failure;
      signal?.throwIfAborted();
      if (!failure.isRetryable || attempt === ATTEMPTS) {
        const { reason, isRetryable: isRetryable3 } = failure;
        throw new IdentityError(`GitHub gave this job no identity token: ${reason}`, isRetryable3);
      }
      this.#runner.info(`GitHub gave no identity token (${failure.reason}); asking again`);
      await new Promise((resolve2) => setTimeout(resolve2, PAUSE * attempt));
    }
  }
  async #attempt(signal) {
    const deadline = AbortSignal.timeout(ATTEMPT_TIMEOUT);
    try {
      const response = await fetch(this.#url, {
        headers: {
          accept: "application/json",
          authorization: `Bearer ${this.#credential}`,
          "user-agent": "quillgate-action"
        },
        redirect: "error",
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline
      });
      const text4 = await response.text();
      if (response.ok) {
        return parseToken(text4) ?? { reason: "the response has no token", isRetryable: false };
      }
      const isRetryable3 = response.status >= 500 || response.status === 429;
      return { reason: `status ${response.status}`, isRetryable: isRetryable3 };
    } catch (error) {
      if (deadline.aborted) return { reason: "no answer in time", isRetryable: true };
      const { summary, canRetry } = explainConnection(error, new URL(this.#url));
      return { reason: summary, isRetryable: canRetry };
    }
  }
};
function parseToken(text4) {
  try {
    const { value: value2 } = JSON.parse(text4);
    return typeof value2 === "string" && value2 !== "" ? value2 : void 0;
  } catch {
    return void 0;
  }
}
function readClaims(token) {
  try {
    const payload = Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8");
    return JSON.parse(payload);
  } catch {
    throw new IdentityError("GitHub gave this job an identity token that cannot be read");
  }
}
function explainAbsence(pull, noun) {
  if (pull?.fromFork) {
    return `GitHub issues no identity token for a pull request from a fork, so the workflow cannot start a ${noun}. Skip the step there, or let a maintainer start it with a comment: see docs/guides/workflow-examples.md`;
  }
  return "this job has no identity. Add `permissions: id-token: write` to it, or to the workflow that calls it, or give an access token of the gateway as the input token";
}

// action/src/reachability.ts
var MIN_WAIT_FOR_OUTAGE = 1e4;
var Reachability = class {
  #runner;
  #gateway;
  #requests = 0;
  #mayHaveReceived = false;
  #connectFailure;
  #unreachableSince;
  /** Whether to log the start and the end of each outage. */
  logsChanges = false;
  constructor(gateway, runner2) {
    this.#gateway = new URL(gateway);
    this.#runner = runner2;
  }
  /** The number of requests sent so far, including failed ones. */
  get requests() {
    return this.#requests;
  }
  /** The last failed connection, if the gateway has received no request. */
  get connectFailure() {
    return this.#mayHaveReceived ? void 0 : this.#connectFailure;
  }
  /** A sentence with the start of the current outage; `undefined` if the last request succeeded. */
  get outage() {
    if (this.#unreachableSince === void 0) return void 0;
    const time = this.#unreachableSince.toISOString().slice(11, 19);
    return `the gateway could not be reached since ${time} UTC`;
  }
  async send(request) {
    this.#requests += 1;
    const began = /* @__PURE__ */ new Date();
    try {
      const response = await fetch(request);
      this.#mayHaveReceived = true;
      if (isGatewayResponse(response)) this.#endOutage();
      else this.#startOutage(began, `status ${response.status}`);
      return response;
    } catch (error) {
      this.#connectFailure = explainConnection(error, this.#gateway);
      if (this.#connectFailure.sent === "maybe") this.#mayHaveReceived = true;
      const waited = Date.now() - began.getTime();
      const wasAbortedEarly = request.signal.aborted && waited < MIN_WAIT_FOR_OUTAGE;
      if (!wasAbortedEarly) this.#startOutage(began, this.connectFailure?.summary ?? "no answer");
      throw error;
    }
  }
  #startOutage(since, why) {
    if (this.#unreachableSince !== void 0) return;
    this.#unreachableSince = since;
    if (this.logsChanges) {
      this.#runner.info(`The gateway cannot be reached (${why}); the step keeps trying.`);
    }
  }
  #endOutage() {
    if (this.#unreachableSince === void 0) return;
    this.#unreachableSince = void 0;
    if (this.logsChanges) this.#runner.info("The gateway can be reached again.");
  }
};
function isGatewayResponse({ status, headers }) {
  return status < 500 || (headers.get("content-type") ?? "").includes("json");
}

// action/src/connection.ts
var WRITE_GRACE = 3e3;
var RETRY_PERIOD = 3e4;
var MAX_RETRIES = 10;
var WAIT_PAUSE = 1e3;
function connect(inputs, identity, token, runner2) {
  const identityLost = new AbortController();
  const reachability = new Reachability(inputs.gateway, runner2);
  const debug = (message, ...rest) => {
    runner2.debug([message, ...rest].map(String).join(" "));
  };
  const connection = {
    ...{ identityLost: identityLost.signal, reachability },
    ...{ failedAttempts: [], onRetry: void 0 }
  };
  const client = new Client({
    baseUrl: inputs.gateway,
    projectId: inputs.project,
    auth: { token },
    fetch: async (url, init) => {
      const current = await identity.token(init.signal).catch((error) => {
        if (error instanceof IdentityError && !error.isRetryable) identityLost.abort(error);
        throw error;
      });
      const headers = { ...init.headers, authorization: `Bearer ${current}` };
      return reachability.send(new Request(url, { ...init, headers }));
    },
    defaultHeaders: { "user-agent": "quillgate-action" },
    logger: { error: debug, warn: debug, info: debug, debug },
    logLevel: runner2.isDebug ? "debug" : "off",
    onRetry: ({ error, wait }) => connection.onRetry?.(error, wait)
  });
  return Object.assign(connection, { client });
}
async function sendWrite(connection, send, options) {
  const { key, timeout, limitPeriod = RETRY_PERIOD, runner: runner2, signal } = options;
  signal.throwIfAborted();
  const abort = new AbortController();
  const begin = performance.now();
  let timer;
  const onAbort = () => {
    timer = setTimeout(() => abort.abort(signal.reason), WRITE_GRACE);
  };
  signal.addEventListener("abort", onAbort);
  connection.failedAttempts = [];
  const requestsBefore = connection.reachability.requests;
  connection.onRetry = (error, wait) => {
    connection.failedAttempts.push(error);
    const period = error instanceof RateLimitError ? limitPeriod : RETRY_PERIOD;
    const end = begin + Math.min(period, timeout);
    if (performance.now() + wait > end && !(error instanceof ConflictError)) {
      abort.abort(error);
      return;
    }
    const why = connection.reachability.connectFailure?.summary ?? error.message;
    runner2.info(`${why}; trying again in ${Math.ceil(wait / 1e3)} s`);
  };
  try {
    const signals = AbortSignal.any([abort.signal, connection.identityLost]);
    const sent = send({ idempotencyKey: key, signal: signals, maxRetries: MAX_RETRIES });
    const { data, response } = await sent.withResponse();
    const isFirst = connection.reachability.requests === requestsBefore + 1;
    return { data, isReused: isReplayed(response) && isFirst };
  } finally {
    connection.onRetry = void 0;
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
async function waitForEnd({ identityLost, reachability }, started, options) {
  const { wait, timeout, after, signal, onUpdate, explain: explain2 } = options;
  const end = performance.now() + timeout;
  let state = started;
  let failure;
  const expire = () => {
    return { kind: "timed-out", state, after, trouble: reachability.outage ?? failure };
  };
  reachability.logsChanges = true;
  for (; ; ) {
    try {
      await wait({
        timeout: Math.max(1, Math.ceil(end - performance.now())),
        signal: AbortSignal.any([signal, identityLost]),
        onUpdate: (next) => {
          failure = void 0;
          state = onUpdate(next, state);
        }
      });
      return { kind: "ended", state };
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled", state };
      if (error instanceof TimeoutError && !(error instanceof RequestTimeoutError)) return expire();
      const cause = identityLost.aborted ? identityLost.reason : error;
      if (identityLost.aborted || !isRetryable2(error))
        return { kind: "failed", state, error: cause };
      failure = explain2(cause);
    }
    if (performance.now() + WAIT_PAUSE >= end) return expire();
    await new Promise((resolve2) => setTimeout(resolve2, WAIT_PAUSE));
    if (signal.aborted) return { kind: "cancelled", state };
  }
}
function isRetryable2(error) {
  return [ConnectionError, RequestTimeoutError, ServerError].some((type) => error instanceof type);
}
function mayHaveStarted(given, connection) {
  const error = unwrap(given);
  const { reachability, failedAttempts } = connection;
  if (error instanceof IdentityError) {
    return failedAttempts.some((earlier) => mayHaveStarted(earlier, connection));
  }
  if (error instanceof ApiError) {
    return error instanceof OutcomeUnknownError || error.status >= 500 && error.code === null;
  }
  if (error instanceof DecodeError) return !isForeign(error);
  if (reachability.requests === 0 || reachability.connectFailure !== void 0) return false;
  return [ConnectionError, RequestTimeoutError].some((type) => error instanceof type);
}
function isReplayed({ headers }) {
  return headers.get("idempotent-replayed") === "true";
}
function unwrap(error) {
  const isUnreadable = error instanceof OutcomeUnknownError && error.cause instanceof DecodeError;
  return isUnreadable ? error.cause : error;
}
function isForeign(error) {
  if ((error.headers.get("content-type") ?? "").includes("json")) return false;
  return error instanceof DecodeError || error.code === null && error.status < 500;
}
function readProblemKind(error) {
  return error instanceof ApiError ? error.code?.split("/").at(-1) : void 0;
}

// action/src/prompt.ts
import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";

// pkg/dist/text_input.js
function decodeText2(bytes) {
  const [first, second] = bytes;
  if (first === 255 && second === 254)
    return decodeUtf16(bytes, true);
  if (first === 254 && second === 255)
    return decodeUtf16(bytes, false);
  const text4 = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const invalid = findInvalidByte(bytes, new TextEncoder().encode(text4));
  const nul = bytes.indexOf(0);
  if (nul >= 0 && (invalid === void 0 || nul < invalid)) {
    return { fault: `contains a NUL byte at offset ${nul}: save it as UTF-8` };
  }
  if (invalid !== void 0)
    return { fault: describeInvalidByte("UTF-8", invalid) };
  return { text: text4.replace(/^\ufeff/, "") };
}
function findInvalidByte(bytes, again) {
  let at = again.findIndex((byte, index) => byte !== bytes[index]);
  if (at < 0)
    return void 0;
  while (((again[at] ?? 0) & 192) === 128)
    at -= 1;
  return at;
}
function decodeUtf16(bytes, isLittleEndian) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text4 = "";
  for (let at = 2; at + 1 < bytes.length; at += 2) {
    text4 += String.fromCharCode(view.getUint16(at, isLittleEndian));
  }
  const invalid = text4.search(/[\0\p{Surrogate}]/u);
  if (invalid >= 0)
    return { fault: describeInvalidByte("UTF-16", 2 + 2 * invalid) };
  if (bytes.length % 2 === 1)
    return { fault: describeInvalidByte("UTF-16", bytes.length - 1) };
  return { text: text4 };
}
function describeInvalidByte(encoding, offset) {
  return `is not text in ${encoding}: the byte at offset ${offset} is invalid. Save it as UTF-8`;
}

// action/src/input_error.ts
var InputError = class extends Error {
};

// action/src/prompt.ts
var MAX_BODY_BYTES = 1024 * 1024;
function readPrompt(runner2) {
  const text4 = runner2.input("prompt");
  const file = runner2.input("prompt-file").trim();
  if (text4.trim() !== "" && file !== "") {
    throw new InputError("give either the input prompt or prompt-file, not both");
  }
  const prompt = file === "" ? text4 : readPromptFile(runner2, file);
  if (prompt.trim() === "") {
    throw new InputError(
      file === "" ? "the input prompt or prompt-file is missing" : `${file} is empty`
    );
  }
  checkLength(prompt);
  return prompt;
}
function checkLength(prompt) {
  const length = Buffer.byteLength(JSON.stringify({ prompt }));
  if (length <= MAX_BODY_BYTES) return;
  throw new InputError(
    `the prompt is too long: as JSON it has ${length} bytes, and the gateway takes ${MAX_BODY_BYTES}`
  );
}
function readPromptFile(runner2, name) {
  const { GITHUB_WORKSPACE: workspace = process.cwd(), RUNNER_TEMP: temporary } = runner2.env;
  const file = resolveLinks(resolve(workspace, name));
  if (file === void 0) throw new InputError(`the input prompt-file: there is no file ${name}`);
  const folders = [workspace, temporary].flatMap(
    (folder) => folder && resolveLinks(folder) || []
  );
  if (!folders.some((folder) => isWithin(folder, file))) {
    throw new InputError(
      `the input prompt-file: ${name} is outside of the workspace and of the runner's temporary folder`
    );
  }
  return decode2(readContent(file, name), name);
}
function readContent(file, name) {
  try {
    const status = statSync(file);
    if (status.isDirectory()) throw new InputError(`the input prompt-file: ${name} is a folder`);
    if (!status.isFile()) throw new InputError(`the input prompt-file: ${name} is not a file`);
    if (status.size > MAX_BODY_BYTES) {
      throw new InputError(
        `the input prompt-file: ${name} has ${status.size} bytes, and the gateway takes ${MAX_BODY_BYTES}`
      );
    }
    return readFileSync(file);
  } catch (error) {
    if (error instanceof InputError) throw error;
    const { code } = error;
    const why = code === "EACCES" ? "this user may not read it" : code ?? "unknown error";
    throw new InputError(`the input prompt-file: ${name} cannot be read: ${why}`);
  }
}
function decode2(bytes, name) {
  const decoded = decodeText2(bytes);
  if ("text" in decoded) return decoded.text;
  throw new InputError(`the input prompt-file: ${name} ${decoded.fault}`);
}
function resolveLinks(path) {
  try {
    return realpathSync(path);
  } catch {
    return void 0;
  }
}
function isWithin(folder, file) {
  const path = relative(folder, file);
  return path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

// action/src/explain.ts
var INPUT_NAMES = {
  baseUrl: "gateway",
  projectId: "project",
  idempotencyKey: "idempotency-key",
  prompt: "prompt",
  token: "token",
  branch: "branch",
  workflowSchemaId: "automation"
};
var KEYED2 = {
  job: "prompt",
  deployment: "deployment",
  preview: "branch",
  run: "automation"
};
function explainStart(given, noun, inputs, reachability) {
  const error = unwrap(given);
  const { gateway, project, audience, token } = inputs;
  const says = error instanceof Error ? error.message : String(error);
  if (error instanceof ConnectionError && reachability?.connectFailure !== void 0) {
    const { reason, summary, advice } = reachability.connectFailure;
    const isAddress = ["dns", "refused", "unreachable", "port"].includes(reason);
    return `${summary}; ${isAddress ? "check the input gateway" : advice}`;
  }
  const foreign = error instanceof ApiError && explainResponse(error, error.problem ?? void 0);
  if (foreign && foreign.reason !== "redirect") return says;
  if ((error instanceof ApiError || error instanceof DecodeError) && isForeign(error)) {
    const type = error.headers.get("content-type")?.split(";")[0] ?? "without a type";
    const status = error instanceof ApiError ? error.status : "200";
    const found2 = foreign ? `; ${foreign.summary}` : "";
    return `${gateway} is not a Quillgate gateway (status ${status}, ${type}${found2}); check the input gateway`;
  }
  if (error instanceof ValidationError) {
    const input = INPUT_NAMES[error.field];
    return input === void 0 ? says : `the input ${says.replace(error.field, () => input)}`;
  }
  if (error instanceof AuthenticationError) {
    if (token !== void 0) return `the gateway does not accept the input token: ${says}`;
    const hint = says.includes("audience") ? `. The input audience is ${JSON.stringify(audience)}: it must be one that TRUSTED_ISSUERS has for this issuer` : "";
    return `the gateway does not accept this identity: ${says}${hint}`;
  }
  const rule = "the rule of TRUSTED_ISSUERS that fits this workflow";
  switch (readProblemKind(error)) {
    case "project-not-allowed":
      return token === void 0 ? `${says}. Change the input project, or add ${JSON.stringify(project)} to the projects of ${rule}` : `${says}. Change the input project, or give a token for ${JSON.stringify(project)} as the input token`;
    case "insufficient-scope":
      return token === void 0 ? `${says}. Add it to the scope of ${rule}` : `${says}. Give a token that has it as the input token`;
    case "idempotency-key-reused":
      return `${says}: within 24 hours, the input idempotency-key stands for one ${KEYED2[noun]} in one project. Give another idempotency-key, or the same ${KEYED2[noun]}`;
    case "content-too-large":
      return `the prompt is too long: as JSON it may have ${MAX_BODY_BYTES} bytes. Shorten the input prompt or prompt-file`;
    default:
      return explainError(error, noun);
  }
}
function explainReplay(given, { idempotencyKey }) {
  const error = unwrap(given);
  const isRefusal = error instanceof ApiError && !(error instanceof OutcomeUnknownError);
  if (!isRefusal || !isReplayed(error)) return "";
  const action = idempotencyKey === void 0 ? "start a new run, or set the input idempotency-key" : "set another idempotency-key";
  return `. This is the answer to an earlier attempt: ${action}`;
}
function explainError(error, noun) {
  if (error instanceof AuthenticationError) {
    return `the gateway does not accept this identity: ${error.message}`;
  }
  if (error instanceof PermissionError) {
    return `the gateway does not allow this identity to do it: ${error.message}`;
  }
  if (error instanceof OutcomeUnknownError) {
    return `Mintlify may have started the ${noun}: ${error.message}`;
  }
  if (error instanceof RateLimitError) {
    const when = error.retryAfter === null ? "" : ` Try again in ${error.retryAfter} s.`;
    return `the gateway accepts no more ${noun}s for now: ${error.message}.${when}`;
  }
  if (error instanceof ConnectionError && error.cause instanceof IdentityError) {
    return error.cause.message;
  }
  if (error instanceof ConnectionError || error instanceof RequestTimeoutError) {
    return `the gateway cannot be reached: ${error.message}`;
  }
  if (error instanceof ApiError) {
    const request = error.requestId === null ? "" : ` (request ${error.requestId})`;
    return `the gateway refused: ${error.message}${request}`;
  }
  if (error instanceof QuillgateError || error instanceof IdentityError) return error.message;
  throw error;
}

// action/src/step.ts
var SHOWN_CLAIMS = [
  "iss",
  "aud",
  "sub",
  "repository",
  "repository_id",
  "repository_owner_id",
  "event_name",
  "ref",
  "ref_type",
  "environment",
  "job_workflow_ref",
  "actor_id",
  "runner_environment"
];
var NOT_WRITTEN = "The comment was not written";
async function start({ runner: runner2, signal, pull }, inputs, write2) {
  const { noun, key, send, limitPeriod } = write2;
  let identity;
  let connection;
  try {
    identity = inputs.token ? new AccessToken(inputs.token) : new WorkflowIdentity(runner2, inputs.audience, pull, noun);
    const token = await identity.token(signal);
    connection = connect(inputs, identity, token, runner2);
    const { client } = connection;
    const options = { key, timeout: inputs.timeout, runner: runner2, signal };
    const written = await sendWrite(connection, (call) => send(client, call), {
      ...options,
      ...limitPeriod === void 0 ? {} : { limitPeriod }
    });
    return { connection, ...written };
  } catch (error) {
    if (signal.aborted) return { kind: "cancelled" };
    const isUnknown = readProblemKind(error) === "identity-not-mapped";
    if (isUnknown || error instanceof AuthenticationError) showClaims(runner2, identity);
    const kind = connection && mayHaveStarted(error, connection) ? "unknown" : "failed";
    const reason = explainStart(error, noun, inputs, connection?.reachability);
    return { kind, reason: reason + explainReplay(error, inputs) };
  }
}
function showClaims(runner2, identity) {
  const claims = identity?.claims;
  if (claims === void 0) return;
  const lines = SHOWN_CLAIMS.flatMap((name) => {
    return claims[name] === void 0 ? [] : [`${name}: ${JSON.stringify(claims[name])}`];
  });
  runner2.group("The claims of this workflow's identity, for the gateway's TRUSTED_ISSUERS", lines);
}
function readRunUrl(env) {
  const { GITHUB_SERVER_URL: server = "https://github.com", GITHUB_REPOSITORY: repository } = env;
  const { GITHUB_RUN_ID: id, GITHUB_RUN_ATTEMPT: attempt = "1" } = env;
  return `${server}/${repository}/actions/runs/${id}/attempts/${attempt}`;
}
function prepareComment({ runner: runner2, pull }, inputs, place) {
  if (pull === void 0) {
    runner2.info("There is no comment, since this event is not about a pull request.");
    return void 0;
  }
  const api = findApi(runner2.env, inputs.githubToken);
  if (api === void 0) {
    const text4 = "The input github-token is missing, which writes the comment.";
    runner2.annotate("warning", NOT_WRITTEN, text4);
    return void 0;
  }
  const { GITHUB_RUN_ID: run3 = "" } = runner2.env;
  return new StepComment({ ...api, ...place, number: pull.number, run: run3 });
}
async function writeComment({ runner: runner2, pull }, comment, entry, signal) {
  try {
    await comment?.write(entry, signal);
  } catch (error) {
    if (!(error instanceof CommentError)) throw error;
    if (signal?.aborted) return;
    const level = error.isRefusal && pull?.fromFork ? "notice" : "warning";
    runner2.annotate(level, NOT_WRITTEN, error.message);
  }
}

// action/src/automation.ts
var NOUN = "run";
async function runAutomation(step, inputs) {
  const { runner: runner2 } = step;
  const { automation, project, matrix, idempotencyKey } = inputs;
  const parts = ["automation", project, automation, matrix];
  const started = await start(step, inputs, {
    noun: NOUN,
    key: idempotencyKey ?? deriveStartKey(runner2.env, parts),
    send: (client, options) => client.automations.run(automation, options)
  });
  const id = started.connection === void 0 ? null : started.data.instanceId;
  runner2.setOutput("instance-id", id ?? "");
  const { words, failure } = describe(started);
  const details = [
    ["Project", formatCode(project)],
    ["Automation", formatCode(automation)],
    ...id === null ? [] : [["Run", formatCode(id)]]
  ];
  const quoted = failure === void 0 ? [] : [`> ${escapeMarkdown(failure)}`];
  runner2.appendSummary([`### ${words}`, ...quoted, formatRows(details)].join("\n\n"));
  if (failure === void 0) {
    runner2.info(`${words}${id === null ? "" : ` (${id})`}; Mintlify's dashboard shows its result.`);
    return 0;
  }
  runner2.annotate(
    started.connection === void 0 && started.kind === "cancelled" ? "warning" : "error",
    words,
    failure
  );
  return 1;
}
function describe(started) {
  if (started.connection !== void 0) {
    return {
      words: started.isReused ? "The automation was queued by an earlier attempt of this step" : "The automation is queued"
    };
  }
  const dashboard = "Mintlify's dashboard shows whether the automation runs";
  switch (started.kind) {
    case "cancelled":
      return {
        words: "The step was cancelled before the gateway confirmed the automation",
        failure: `${dashboard}.`
      };
    case "unknown":
      return {
        words: "The Action cannot tell whether the automation started",
        failure: `${started.reason}. ${dashboard}. To start it again, start a new run or set another idempotency-key.`
      };
    case "failed":
      return { words: "The automation was not started", failure: started.reason };
  }
}

// pkg/dist/live.js
function isLive({ status, summary, logs }) {
  if (status !== "failure")
    return status === "success";
  const lines = [...logs ?? [], summary ?? ""].map((line) => line.trim());
  const reason = lines.at(-1) ?? "";
  const failed = lines.filter((line) => line.startsWith(LOG_FAILED));
  return lines.some((line) => line.startsWith(LOG_PUBLISHED)) && failed.length > 0 && failed.every((line) => line.startsWith(LOG_NOT_REVALIDATED)) && (reason === "" || reason.startsWith(LOG_NOT_REVALIDATED));
}

// pkg/dist/pull_request.js
var FORMS = [
  {
    path: /^\/([^/]+\/[^/]+)\/pulls?\/(\d+)(?:\/|$)/,
    noun: "pull request",
    mark: "#",
    list: (repository) => `/${repository}/pulls?q=is:pr+sort:created-desc`
  },
  {
    path: /^\/([^/]+(?:\/(?!-\/)[^/]+)+?)(?:\/-)?\/merge_requests\/(\d+)(?:\/|$)/,
    noun: "merge request",
    mark: "!",
    list: (repository) => `/${repository}/-/merge_requests?scope=all&state=all`
  },
  {
    path: /^\/([^/]+\/[^/]+)\/pull-requests\/(\d+)(?:\/|$)/,
    noun: "pull request",
    mark: "#",
    list: (repository) => `/${repository}/pull-requests/`
  }
];
var BITBUCKET_SERVER = /^(.*?\/(?:projects|users)\/([^/]+)\/repos\/([^/]+)\/pull-requests)\/(\d+)(?:\/|$)/;
var PUBLIC_HOSTS = ["github.com", "gitlab.com", "bitbucket.org"];
var MISSING = /^(?:null|undefined|none)?$/i;
function readPullRequest(link) {
  const text4 = link?.trim() ?? "";
  if (MISSING.test(text4))
    return null;
  const url = URL.canParse(text4) ? new URL(text4) : null;
  const isSafe = url?.protocol === "https:" && `${url.username}${url.password}` === "";
  const unknown = { noun: "pull request", number: null, repository: null, listHref: null };
  if (url === null || !isSafe)
    return { href: null, name: text4, ...unknown };
  const { href, host } = url;
  const known = matchForm(url);
  if (known === null)
    return { href, name: host + url.pathname.replace(/\/$/, ""), ...unknown };
  const shown = PUBLIC_HOSTS.includes(host) ? "" : `${host}/`;
  return { href, name: `${shown}${known.repository}${known.number}`, ...known };
}
function matchForm({ origin, pathname }) {
  const [, list2, owner, name, id] = BITBUCKET_SERVER.exec(pathname) ?? [];
  if (list2 !== void 0) {
    const repository = `${owner}/${name}`;
    return { noun: "pull request", number: `#${id}`, repository, listHref: origin + list2 };
  }
  for (const { path, noun, mark, list: list3 } of FORMS) {
    const [, repository, number3] = path.exec(pathname) ?? [];
    if (repository === void 0)
      continue;
    const listHref = origin + list3(repository);
    return { noun, number: `${mark}${number3}`, repository, listHref };
  }
  return null;
}

// action/src/report.ts
var MAX_PROMPT = 4e3;
var NO_PULL_REQUEST = {
  completed: "none: no file was changed",
  archived: "none",
  failed: "none"
};
function describeOutcome(outcome) {
  const { kind, job } = outcome;
  switch (kind) {
    case "started":
      return "The job has been started";
    case "ended":
      return outcome.job.status === "failed" ? "The job failed" : `The job is ${job?.status}`;
    case "timed-out":
      return outcome.trouble === void 0 ? `The job did not end within ${outcome.after} and is still running` : `The Action did not see the job end within ${outcome.after}`;
    case "cancelled":
      return job === void 0 ? "The step was cancelled before the gateway confirmed the job" : "The step was cancelled; the job continues";
    case "unknown":
      return "The Action cannot tell whether the job started";
    case "failed":
      return job === void 0 ? "The job was not started" : "The step stopped waiting for the job";
  }
}
function explainFailure(outcome, context) {
  const { kind, job } = outcome;
  switch (kind) {
    case "started":
      return void 0;
    case "ended":
      return job?.status === "failed" ? explainFailedJob(job, context) : void 0;
    case "timed-out":
      return outcome.trouble === void 0 ? `The job ${job?.id} is still running. Increase the input timeout, or set wait to false.` : `${capitalize(outcome.trouble)}. The job ${job?.id} may still be running.`;
    case "cancelled":
      return job === void 0 ? "The gateway's list of jobs shows whether the job exists." : `The job ${job.id} continues.`;
    case "unknown":
      return context.hasOwnKey ? `${outcome.reason}. Check Mintlify's dashboard. To start another job, set another idempotency-key.` : `${outcome.reason}. Check Mintlify's dashboard before a re-run, which starts another job.`;
    case "failed":
      return outcome.reason;
  }
}
function explainFailedJob({ id }, { project, hasOwnKey, isReused }) {
  const another = "set another idempotency-key, or start a run that has another";
  const words = `The job ${id} of ${project} failed`;
  if (isReused) {
    return `${words}. It is from an earlier attempt with the same idempotency-key; to start another job, ${another}.`;
  }
  const dashboard = `${words}; Mintlify's dashboard shows why`;
  return hasOwnKey ? `${dashboard}. A re-run with the same idempotency-key would find this job again; to start another, ${another}.` : `${dashboard}. Re-run the workflow's job to start another.`;
}
function announcePullRequest(job) {
  const request = readPullRequest(job?.prLink);
  return request === null ? void 0 : `${capitalize(request.noun)}: ${job?.prLink}`;
}
function summarizeMistake(words) {
  return `### The step is set up wrongly

> ${escapeMarkdown(words)}

Nothing was started.`;
}
function summarize(outcome, context) {
  const failure = explainFailure(outcome, context);
  const parts = [
    `### ${describeOutcome(outcome)}`,
    ...failure === void 0 ? [] : [`> ${escapeMarkdown(failure)}`],
    formatTable(outcome.job, context),
    ...mayHaveUnknownJob(outcome) ? [`To see the project's jobs:

${formatBlock(formatListCommand(context))}`] : [],
    ...isUnfinished(outcome) ? [`To continue waiting:

${formatBlock(formatResumeCommand(outcome.job, context))}`] : [],
    `<details><summary>Prompt</summary>

${formatBlock(shorten(context.prompt, MAX_PROMPT))}

</details>`
  ];
  return parts.join("\n\n");
}
function composeComment(outcome, context) {
  const { job } = outcome;
  const run3 = `[this run](${context.run})`;
  if (job === void 0) {
    const reason2 = "reason" in outcome ? `: ${escapeComment(outcome.reason)}` : "";
    return `${describeOutcome(outcome)}${reason2} (${run3})`;
  }
  const request = readPullRequest(job.prLink);
  const link = request === null ? "" : `: ${formatLink(request)}`;
  const reason = "reason" in outcome ? ` (${escapeComment(outcome.reason)})` : "";
  const name = job.id ? `Job ${formatCode(job.id)} of` : "In";
  const { preview } = context;
  return [
    `**${describeOutcome(outcome)}**${link}${reason}`,
    ...preview === void 0 ? [] : [`Preview: ${formatUrl(preview)}`],
    `${name} the project ${formatCode(context.project)}, from ${run3}.`
  ].join("\n\n");
}
function mayHaveUnknownJob(outcome) {
  return outcome.kind === "unknown" || outcome.kind === "cancelled" && outcome.job === void 0;
}
function isUnfinished(outcome) {
  return outcome.kind !== "ended" && typeof outcome.job?.id === "string";
}
function formatResumeCommand(job, context) {
  return formatCommand(`job watch ${quote2(job.id ?? "")}`, context);
}
function formatListCommand(context) {
  return formatCommand("job list", context);
}
function formatCommand(command, { gateway, project }) {
  const settings = [
    `QUILLGATE_BASE_URL=${quote2(gateway)}`,
    `QUILLGATE_PROJECT_ID=${quote2(project)}`
  ];
  return `${settings.join(" ")} npx quillgate ${command}`;
}
function formatTable(job, { project, preview }) {
  const request = readPullRequest(job?.prLink);
  const link = request === null ? void 0 : formatLink(request);
  const none = NO_PULL_REQUEST[job?.status ?? ""] ?? "none yet";
  return formatRows([
    ["Project", formatCode(project)],
    ...job?.id ? [["Job", formatCode(job.id)]] : [],
    ...job ? [["Status", escapeMarkdown(job.status ?? "unknown")]] : [],
    ...job ? [[capitalize(request?.noun ?? "pull request"), link ?? none]] : [],
    ...preview === void 0 ? [] : [["Preview", formatUrl(preview)]]
  ]);
}
function quote2(text4) {
  return /^[\w./:@-]+$/.test(text4) ? text4 : `'${text4.replaceAll("'", "'\\''")}'`;
}

// action/src/deployment_report.ts
var LAST_LINES = 10;
var SHORT_COMMIT = 7;
function readSummary(deployment) {
  return (deployment?.summary || deployment?.logs?.at(-1)) ?? void 0;
}
function describeOutcome2(outcome, { noun }) {
  const { kind, followed } = outcome;
  switch (kind) {
    case "started":
      return `The ${noun} has been started`;
    case "ended": {
      if (!isFollowedLive(followed)) return `The ${noun} failed`;
      const words = noun === "preview" ? "The preview is ready" : "The documentation is live";
      return isClean(followed) ? words : `${words}, but a later step failed`;
    }
    case "timed-out":
      return outcome.trouble === void 0 ? `The ${noun} did not end within ${outcome.after} and continues` : `The Action did not see the ${noun} end within ${outcome.after}`;
    case "cancelled":
      return followed === void 0 ? `The step was cancelled before the gateway confirmed the ${noun}` : `The step was cancelled; the ${noun} continues`;
    case "unknown":
      return `The Action cannot tell whether the ${noun} started`;
    case "failed":
      return followed === void 0 ? `The ${noun} was not started` : `The step stopped waiting for the ${noun}`;
  }
}
function explainFailure2(outcome, { noun, hasOwnKey }) {
  const { kind, followed } = outcome;
  const another = hasOwnKey ? `To start another ${noun}, set another idempotency-key.` : `To start another ${noun}, start a new run: a re-run finds this one.`;
  switch (kind) {
    case "started":
      return void 0;
    case "ended": {
      if (isFollowedLive(followed)) return void 0;
      const why = readSummary(followed.deployment) ?? "Mintlify did not state a reason";
      return `${endSentence(why)} ${another}`;
    }
    case "timed-out":
      return outcome.trouble === void 0 ? `The ${noun} ${followed.statusId} continues. Increase the input timeout, or set wait to false.` : `${capitalize(outcome.trouble)}. The ${noun} ${followed.statusId} may still continue.`;
    case "cancelled":
      return followed === void 0 ? "The gateway's list of deployments shows whether it exists." : `The ${noun} ${followed.statusId} continues.`;
    case "unknown":
      return `${outcome.reason}. Check Mintlify's dashboard. ${another}`;
    case "failed":
      return outcome.reason;
  }
}
function explainWarning({ kind, followed }) {
  if (kind !== "ended" || !isFollowedLive(followed) || isClean(followed)) return void 0;
  return readSummary(followed.deployment) ?? "Mintlify did not state a reason";
}
function formatCommands({ kind, followed }, context) {
  if (kind === "ended" || kind === "started") return [];
  if (followed !== void 0) {
    const command2 = formatCommand(`deployment watch ${quote2(followed.statusId)}`, context);
    return [{ purpose: "To continue waiting", command: command2 }];
  }
  if (kind === "failed") return [];
  const command = formatCommand("deployment list", context);
  return [{ purpose: "To see the project's deployments", command }];
}
function summarize2(outcome, context) {
  const { followed } = outcome;
  const { project, branch, isReused } = context;
  const remark = explainFailure2(outcome, context) ?? explainWarning(outcome);
  const { deployment, previewUrl } = followed ?? {};
  const commit = readCommit(outcome, context);
  const hasFailed = outcome.kind === "ended" && !isFollowedLive(outcome.followed);
  const log = hasFailed ? (deployment?.logs ?? []).slice(-LAST_LINES) : [];
  const rows = [
    ["Project", formatCode(project)],
    ["Branch", branch && formatCode(branch)],
    ["Preview", previewUrl ? formatUrl(previewUrl) : void 0],
    ["Id", followed && formatCode(followed.statusId)],
    ["Status", deployment && escapeMarkdown(deployment.status ?? "unknown")],
    ["Commit", commit && formatCode(commit)],
    ["Started by", isReused ? "an earlier attempt of this step" : void 0]
  ];
  return [
    `### ${describeOutcome2(outcome, context)}`,
    ...remark === void 0 ? [] : [`> ${escapeMarkdown(remark)}`],
    formatRows(rows.flatMap(([name, value2]) => value2 ? [[name, value2]] : [])),
    ...log.length > 0 ? [`The end of the log:

${formatBlock(log.join("\n"))}`] : [],
    ...formatCommands(outcome, context).map(({ purpose, command }) => {
      return `${purpose}:

${formatBlock(command)}`;
    })
  ].join("\n\n");
}
function composeComment2(outcome, context) {
  const { followed } = outcome;
  const run3 = `[this run](${context.run})`;
  const words = describeOutcome2(outcome, context);
  const summary = explainWarning(outcome) ?? readFailureSummary(outcome);
  const reason = summary === void 0 ? "" : `: ${escapeComment(summary)}`;
  if (followed === void 0) return `${words}${reason} (${run3})`;
  const { previewUrl } = followed;
  const commit = readCommit(outcome, context);
  const place = [
    ...commit === void 0 ? [] : [`Commit ${formatCode(commit)} of`],
    formatCode(context.branch ?? context.project)
  ].join(" ");
  return [
    `**${words}**${reason}`,
    ...previewUrl ? [formatUrl(previewUrl)] : [],
    `${place}, from ${run3}.${outcome.kind === "ended" && !reason ? PAGES_CAN_BE_MISSING : ""}`
  ].join("\n\n");
}
var PAGES_CAN_BE_MISSING = " For some minutes, pages can respond with 404.";
function readFailureSummary(outcome) {
  if ("reason" in outcome) return outcome.reason;
  const hasFailed = outcome.kind === "ended" && !isFollowedLive(outcome.followed);
  return hasFailed ? readSummary(outcome.followed.deployment) : void 0;
}
function readCommit({ followed }, { commit }) {
  return (followed?.deployment?.commit?.sha ?? commit)?.slice(0, SHORT_COMMIT) || void 0;
}
function isFollowedLive({ deployment }) {
  return deployment !== void 0 && isLive(deployment);
}
function isClean({ deployment }) {
  return deployment?.status === "success";
}
function endSentence(text4) {
  return /[.!?]$/.test(text4) ? text4 : `${text4}.`;
}

// action/src/event.ts
import { readFileSync as readFileSync2 } from "node:fs";
var COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
var BRANCH = /^refs\/heads\/(.+)$/s;
var ABOUT_OTHER_BRANCHES = [
  "check_run",
  "check_suite",
  "delete",
  "issue_comment",
  "page_build",
  "status",
  "workflow_run"
];
function readPullRequest2(env) {
  const event = readEvent(env.GITHUB_EVENT_PATH);
  const pull = event?.pull_request;
  if (pull !== void 0) {
    const number4 = readNumber(pull);
    const { head, base } = pull;
    const fromFork = head !== void 0 && head.repo?.id !== base?.repo?.id;
    if (number4 === void 0) return void 0;
    return { number: number4, fromFork, branch: readText(head?.ref), commit: readCommit2(head?.sha) };
  }
  const issue = event?.issue;
  const number3 = issue?.pull_request === void 0 ? void 0 : readNumber(issue);
  if (number3 === void 0) return void 0;
  return { number: number3, fromFork: false, branch: void 0, commit: void 0 };
}
function readBranch(env, pull) {
  if (pull?.branch !== void 0) return pull.branch;
  const { GITHUB_EVENT_NAME: name = "", GITHUB_REF: ref = "" } = env;
  const hasDeleted = readEvent(env.GITHUB_EVENT_PATH)?.deleted === true;
  if (hasDeleted || ABOUT_OTHER_BRANCHES.includes(name)) return void 0;
  return BRANCH.exec(ref)?.[1];
}
function readDefaultBranch(env) {
  return readText(readEvent(env.GITHUB_EVENT_PATH)?.repository?.default_branch);
}
function readCommitRange(env) {
  const event = readEvent(env.GITHUB_EVENT_PATH);
  const { pull_request: pull, merge_group: group } = event ?? {};
  const [base, head] = [
    pull?.base?.sha ?? group?.base_sha ?? event?.before,
    pull?.head?.sha ?? group?.head_sha ?? event?.after
  ].map(readCommit2);
  if (base !== void 0 && head !== void 0) {
    return { base, head, fromMergeBase: pull !== void 0 };
  }
  const { GITHUB_EVENT_NAME: name = "" } = env;
  if (name !== "push") return `the event ${name} has no previous commit`;
  return "the push created or deleted the branch or tag";
}
function readEvent(path) {
  if (!path) return void 0;
  try {
    return JSON.parse(readFileSync2(path, "utf8"));
  } catch {
    return void 0;
  }
}
function readNumber({ number: number3 }) {
  return Number.isSafeInteger(number3) ? number3 : void 0;
}
function readText(value2) {
  return typeof value2 === "string" && value2 !== "" ? value2 : void 0;
}
function readCommit2(value2) {
  const isCommit = typeof value2 === "string" && COMMIT.test(value2) && /[^0]/.test(value2);
  return isCommit ? value2 : void 0;
}

// action/src/deployment.ts
var LIMIT_PERIOD = 12e4;
async function runDeploy(step, inputs) {
  const context = makeContext(step, inputs, void 0);
  const started = await start(step, inputs, {
    noun: "deployment",
    key: inputs.idempotencyKey ?? deriveStartKey(step.runner.env, ["deploy", inputs.project, inputs.matrix]),
    send: (client, options) => client.deployments.create(options),
    limitPeriod: LIMIT_PERIOD
  });
  return await follow2(step, inputs, started, { context, comment: void 0 });
}
async function runPreview(step, inputs) {
  const { runner: runner2, pull } = step;
  if (inputs.branch === void 0 && pull?.fromFork) {
    const text4 = "The branch is in a fork, and Mintlify previews only branches of the repository.";
    runner2.annotate("notice", "There is no preview", text4);
    runner2.setOutput("skipped", "true");
    return 0;
  }
  const branch = inputs.branch ?? readBranch(runner2.env, pull);
  if (branch === void 0) {
    const { GITHUB_EVENT_NAME: name = "" } = runner2.env;
    throw new InputError(`set the input branch: the event ${name} does not name one`);
  }
  const { project } = inputs;
  const context = makeContext(step, inputs, branch);
  const place = { step: JSON.stringify(["preview", project]), call: "" };
  const comment = inputs.comment ? prepareComment(step, inputs, { ...place, keepsEarlier: false, yieldsToLater: true }) : void 0;
  const started = await start(step, inputs, {
    noun: "preview",
    key: inputs.idempotencyKey ?? deriveStartKey(runner2.env, ["preview", project, branch, inputs.matrix]),
    send: (client, options) => client.previews.create({ branch }, options),
    limitPeriod: LIMIT_PERIOD
  });
  return await follow2(step, inputs, started, { context, comment });
}
function makeContext({ runner: runner2, pull }, { gateway, project, idempotencyKey }, branch) {
  const noun = branch === void 0 ? "deployment" : "preview";
  const commit = branch === pull?.branch ? pull?.commit : void 0;
  const run3 = readRunUrl(runner2.env);
  const hasOwnKey = idempotencyKey !== void 0;
  return { gateway, project, noun, branch, commit, run: run3, hasOwnKey, isReused: false };
}
async function follow2(step, inputs, started, report) {
  const { runner: runner2, signal } = step;
  const { context, comment } = report;
  if (started.connection === void 0) {
    return await finish(step, { ...started, followed: void 0 }, report);
  }
  const { connection, data, isReused } = started;
  const previewUrl = "previewUrl" in data ? data.previewUrl : null;
  const followed = { statusId: data.statusId, previewUrl, deployment: void 0 };
  context.isReused = isReused;
  runner2.setOutput("status-id", data.statusId);
  if (context.noun === "preview") runner2.setOutput("preview-url", previewUrl ?? "");
  runner2.info(`The ${context.noun} ${data.statusId} has been started.`);
  if (isReused) runner2.info("It is from an earlier attempt, which had the same idempotency-key.");
  if (isReused && runner2.env.GITHUB_RUN_ATTEMPT === "1") {
    const text4 = `Another step of this run has started ${data.statusId}. To start another ${context.noun}, set the input idempotency-key.`;
    runner2.annotate("warning", "Not started again", text4);
  }
  if (!inputs.wait || signal.aborted) {
    return await finish(step, { kind: signal.aborted ? "cancelled" : "started", followed }, report);
  }
  const markdown = composeComment2({ kind: "started", followed }, context);
  await writeComment(step, comment, { kind: "job", markdown }, signal);
  return await finish(
    step,
    await waitForDeployment(step, inputs, connection, followed, context),
    report
  );
}
async function waitForDeployment({ runner: runner2, signal }, { timeout, after }, connection, started, { noun }) {
  const { statusId } = started;
  const explain2 = (error) => explainError(error, noun);
  let shown;
  const ending = await waitForEnd(connection, void 0, {
    ...{ timeout, after, signal, explain: explain2 },
    wait: (options) => connection.client.deployments.wait(statusId, options),
    onUpdate: (next) => {
      const line = describeStatus(next);
      if (line !== shown) runner2.info(`The ${noun} ${statusId} is ${line}`);
      shown = line;
      return next;
    }
  });
  const { state: deployment, ...rest } = ending;
  const followed = { ...started, deployment };
  if (rest.kind !== "failed") return { ...rest, followed };
  return { kind: "failed", followed, reason: explain2(rest.error) };
}
function describeStatus(deployment) {
  const { status, logs, summary } = deployment ?? {};
  const detail = logs?.at(-1) ?? summary;
  return [status ?? "in a state that is not known", detail].filter(Boolean).join(": ");
}
async function finish(step, outcome, report) {
  const { runner: runner2 } = step;
  const { context, comment } = report;
  const { followed } = outcome;
  runner2.setOutput("status", followed?.deployment?.status ?? "");
  runner2.setOutput("live", outcome.kind === "ended" ? String(isOutcomeLive(outcome)) : "");
  runner2.setOutput("summary", readSummary(followed?.deployment) ?? "");
  const words = describeOutcome2(outcome, context);
  for (const { purpose, command } of formatCommands(outcome, context)) {
    runner2.info(`${purpose}, with an access token in QUILLGATE_TOKEN:`);
    runner2.info(command);
  }
  const failure = explainFailure2(outcome, context);
  const warning = explainWarning(outcome);
  if (failure !== void 0) {
    runner2.annotate(outcome.kind === "cancelled" ? "warning" : "error", words, failure);
  } else if (warning !== void 0) runner2.annotate("warning", words, warning);
  else if (followed?.previewUrl) runner2.annotate("notice", words, followed.previewUrl);
  else runner2.info(`${words}.`);
  runner2.appendSummary(summarize2(outcome, context));
  const kind = followed === void 0 ? "note" : "job";
  const markdown = composeComment2(outcome, context);
  await writeComment(step, comment, { kind, markdown });
  return failure === void 0 ? 0 : 1;
}
function isOutcomeLive({ followed }) {
  return followed?.deployment !== void 0 && isLive(followed.deployment);
}

// action/src/guard.ts
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

// action/src/changed_paths.ts
import { execFile } from "node:child_process";
import { promisify } from "node:util";
var MAX_COMPARED_FILES = 300;
var GIT_TIMEOUT = 6e4;
var MAX_GIT_OUTPUT = 256 * 1024 * 1024;
var COMPARE_TIMEOUT = 2e4;
var GIT_VARIABLES = { GIT_NO_LAZY_FETCH: "1", GIT_TERMINAL_PROMPT: "0" };
async function findChangedPaths({
  runner: runner2,
  api,
  signal
}) {
  const range = readCommitRange(runner2.env);
  if (typeof range === "string") return { reason: range };
  const paths = await diffCheckout(range, runner2.env, signal);
  if (paths !== void 0) return { paths, isCut: false };
  if (api === void 0) {
    return { reason: "the checkout lacks a commit, and the input github-token is missing" };
  }
  try {
    return await compareAtGithub(range, api, signal);
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    return { reason: `the checkout lacks a commit, and ${error.message}` };
  }
}
async function diffCheckout({ base, head, fromMergeBase }, env, signal) {
  const git = async (...args) => {
    const { stdout } = await promisify(execFile)("git", args, {
      ...{ cwd: env.GITHUB_WORKSPACE ?? process.cwd(), env: { ...env, ...GIT_VARIABLES } },
      ...{ timeout: GIT_TIMEOUT, maxBuffer: MAX_GIT_OUTPUT, signal }
    });
    return stdout;
  };
  try {
    for (const commit of [base, head]) await git("cat-file", "-e", `${commit}^{commit}`);
    let from = base;
    if (fromMergeBase) {
      if ((await git("rev-parse", "--is-shallow-repository")).trim() !== "false") return void 0;
      from = (await git("merge-base", base, head)).trim();
    }
    const options = ["--name-only", "-z", "--no-renames", "--no-relative", "--no-ext-diff"];
    const paths = await git("diff", ...options, from, head, "--");
    return paths.split("\0").filter((path) => path !== "");
  } catch {
    return void 0;
  }
}
async function compareAtGithub({ base, head, fromMergeBase }, api, signal) {
  const target = `/repos/${api.repository}/compare/${base}...${head}?per_page=1`;
  const options = { timeout: COMPARE_TIMEOUT, signal };
  const { status, files } = await callGithub(api, "GET", target, options);
  if (!fromMergeBase && status !== "ahead" && status !== "identical") {
    return { reason: "a forced push replaced the previous commit, and the checkout lacks it" };
  }
  if (!Array.isArray(files)) return { reason: "GitHub's API lists no files" };
  const names = files.flatMap(({ filename, previous_filename }) => [filename, previous_filename]);
  const paths = names.filter((name) => typeof name === "string");
  return { paths, isCut: files.length >= MAX_COMPARED_FILES };
}

// action/src/globs.ts
var UNSUPPORTED = /[?[\]{}\\]/;
function parseGlobs(lines) {
  const globs = lines.map(parseGlob);
  if (globs.some(({ excludes }) => !excludes)) return globs;
  throw new InputError("the input if-changed needs a line that does not start with !");
}
function parseGlob(line) {
  const excludes = line.startsWith("!");
  const text4 = (excludes ? line.slice(1) : line).trim().replace(/^(?:\.?\/)+/, "");
  if (text4 === "" || UNSUPPORTED.test(text4)) {
    throw new InputError(
      `the input if-changed knows the special characters *, ** and a ! at the start: found ${JSON.stringify(line)}`
    );
  }
  const path = text4.endsWith("/") ? `${text4}**` : text4;
  const source2 = path.replace(/\*\*\/|\*+|[^*]+/g, (part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "*") return "[^/]*";
    return part.startsWith("*") ? ".*" : part.replace(/[.+^$()|]/g, "\\$&");
  });
  return { pattern: new RegExp(`^${source2}$`, "s"), excludes };
}
function isIncluded(globs, path) {
  return globs.findLast(({ pattern }) => pattern.test(path))?.excludes === false;
}

// action/src/guard.ts
var RUN = /^run:\s*(.*)$/s;
var UNCHANGED = 1;
var HIDDEN = /^(?:INPUT_|ACTIONS_|GITHUB_(?:ENV|PATH|OUTPUT|STATE)$)/;
function readGuard(text4) {
  const lines = text4.split("\n").flatMap((line) => line.trim() || []);
  const commands = lines.flatMap((line) => RUN.exec(line)?.[1] ?? []);
  const [command] = commands;
  if (lines.length === 0) return void 0;
  if (command === void 0) return { globs: parseGlobs(lines) };
  if (lines.length > 1) {
    throw new InputError("the input if-changed must be either globs or one line with run:");
  }
  if (command === "") throw new InputError("the input if-changed has no command after run:");
  return { command };
}
async function decide(guard2, options) {
  const { command, globs } = guard2;
  if (command !== void 0) return await runCommand(command, options);
  const found2 = await findChangedPaths(options);
  options.signal.throwIfAborted();
  if ("reason" in found2) {
    return { isChanged: void 0, reason: `the changed paths are not known: ${found2.reason}` };
  }
  const path = found2.paths.find((path2) => isIncluded(globs, path2));
  if (path !== void 0) return { isChanged: true, reason: `${path} changed` };
  if (found2.isCut) {
    const reason2 = `GitHub lists only the first ${found2.paths.length} changed paths`;
    return { isChanged: void 0, reason: reason2 };
  }
  const reason = `none of the ${found2.paths.length} changed paths is in the input if-changed`;
  return { isChanged: false, reason };
}
async function runCommand(command, { runner: runner2, timeout, signal }) {
  const { GITHUB_WORKSPACE: cwd = process.cwd() } = runner2.env;
  const variables = Object.entries(runner2.env).filter(([name]) => !HIDDEN.test(name));
  const env = Object.fromEntries(variables);
  const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", command], {
    ...{ cwd, env, stdio: ["ignore", "pipe", "pipe"] },
    detached: process.platform !== "win32"
  });
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on("line", (line) => runner2.info(line));
  }
  const deadline = AbortSignal.timeout(timeout);
  const either = AbortSignal.any([signal, deadline]);
  const stop = () => killGroup(child);
  either.addEventListener("abort", stop);
  try {
    const [code, killedBy] = await once(child, "close");
    const isStub = code === UNCHANGED && !await testBash({ cwd, env, signal: either });
    signal.throwIfAborted();
    if (deadline.aborted)
      return { isChanged: void 0, reason: "the command did not end in time" };
    if (isStub) return { isChanged: void 0, reason: "bash does not run commands" };
    if (code === 0) return { isChanged: true, reason: "the command exited with 0" };
    const reason = `the command exited with ${code ?? killedBy}`;
    return { isChanged: code === UNCHANGED ? false : void 0, reason };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const { code = "unknown error" } = error;
    return { isChanged: void 0, reason: `bash cannot be started: ${code}` };
  } finally {
    either.removeEventListener("abort", stop);
  }
}
async function testBash(options) {
  const args = ["--noprofile", "--norc", "-c", "exit 42"];
  const child = spawn("bash", args, { ...options, stdio: "ignore" });
  const [code] = await once(child, "close").catch(() => []);
  return code === 42;
}
function killGroup(child) {
  try {
    if (process.platform === "win32" || child.pid === void 0) child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
  }
}

// action/src/inputs.ts
var OWN_INPUTS = {
  prompt: "",
  "prompt-file": "",
  preview: "false",
  branch: "",
  automation: "",
  wait: "true",
  comment: ""
};
var COMMANDS = {
  job: ["prompt", "prompt-file", "preview", "wait", "comment"],
  deploy: ["wait"],
  preview: ["branch", "wait", "comment"],
  automation: ["automation"]
};
var UNITS = { s: 1e3, m: 6e4, h: 36e5 };
var MAX_TIMEOUT = 5 * 24 * 36e5;
function readInputs(runner2) {
  const token = readSecret(runner2, "token");
  const githubToken = readSecret(runner2, "github-token");
  const place = {
    gateway: readGateway(readRequired(runner2, "gateway")),
    project: readRequired(runner2, "project"),
    audience: readRequired(runner2, "audience"),
    token,
    timeout: readDuration(runner2, "timeout"),
    after: runner2.input("timeout").trim(),
    idempotencyKey: runner2.input("idempotency-key").trim() || void 0,
    githubToken,
    matrix: runner2.input("matrix"),
    guard: readGuard(runner2.input("if-changed"))
  };
  const command = readCommand(runner2);
  switch (command) {
    case "job":
      return readJob(runner2, place);
    case "deploy":
      return { ...place, command, wait: readBoolean(runner2, "wait") };
    case "preview": {
      const branch = runner2.input("branch").trim() || void 0;
      const comment = readBoolean(runner2, "comment", "true");
      return { ...place, command, branch, wait: readBoolean(runner2, "wait"), comment };
    }
    case "automation":
      return { ...place, command, automation: readRequired(runner2, "automation") };
  }
}
function readJob(runner2, place) {
  const wait = readBoolean(runner2, "wait");
  const preview = readBoolean(runner2, "preview");
  if (preview && !wait) {
    throw new InputError(
      "the input preview needs wait: true, because the job's branch is known only at its end"
    );
  }
  const comment = readBoolean(runner2, "comment", "false");
  return { ...place, command: "job", prompt: readPrompt(runner2), wait, comment, preview };
}
function readCommand(runner2) {
  const text4 = runner2.input("command").trim();
  const names = Object.keys(COMMANDS);
  if (!Object.hasOwn(COMMANDS, text4)) {
    throw new InputError(
      `the input command must be ${names.slice(0, -1).join(", ")} or automation`
    );
  }
  const command = text4;
  for (const [name, fallback] of Object.entries(OWN_INPUTS)) {
    const isSet = ![fallback, ""].includes(runner2.input(name).trim());
    if (!isSet || COMMANDS[command].includes(name)) continue;
    const others = Object.entries(COMMANDS).flatMap(([other, inputs]) => {
      return inputs.includes(name) ? [other] : [];
    });
    throw new InputError(
      `the input ${name} is not for the command ${command}, but for ${others.join(", ")}`
    );
  }
  return command;
}
function readSecret(runner2, name) {
  const secret = runner2.input(name).trim();
  runner2.mask(secret);
  return secret || void 0;
}
function readRequired(runner2, name) {
  const value2 = runner2.input(name).trim();
  if (value2 === "") throw new InputError(`the input ${name} is missing`);
  return value2;
}
function readGateway(text4) {
  const url = URL.canParse(text4) ? new URL(text4) : void 0;
  const isSecure = url?.protocol === "https:";
  const isLocal = url?.protocol === "http:" && isLoopback(text4);
  if (!isSecure && !isLocal) {
    throw new InputError("the input gateway must be an https address, as in https://gate.example");
  }
  if (url.username !== "" || url.password !== "") {
    throw new InputError("the input gateway must have no user and no password");
  }
  if (url.pathname !== "/" || /[?#]/.test(text4)) {
    throw new InputError(
      `the input gateway must be an address without path, query and fragment: ${url.origin}`
    );
  }
  return url.origin;
}
function readBoolean(runner2, name, fallback = "") {
  const text4 = runner2.input(name).trim() || fallback;
  if (/^(true|True|TRUE)$/.test(text4)) return true;
  if (/^(false|False|FALSE)$/.test(text4)) return false;
  throw new InputError(`the input ${name} must be true or false`);
}
function readDuration(runner2, name) {
  const text4 = runner2.input(name).trim();
  const [, digits, unit] = /^(\d{1,9})\s*([smh])$/.exec(text4) ?? [];
  const milliseconds = Number(digits) * (UNITS[unit ?? ""] ?? Number.NaN);
  if (milliseconds >= 1e3 && milliseconds <= MAX_TIMEOUT) return milliseconds;
  const found2 = text4 === "" ? "it is empty" : `found ${JSON.stringify(text4.slice(0, 40))}`;
  throw new InputError(`the input ${name} must be 1s to 120h, as in 90s, 30m or 2h: ${found2}`);
}

// action/src/job_preview.ts
var NOT_STARTED = "The preview was not started";
async function startJobPreview(step, inputs, connection, job) {
  const { runner: runner2, signal } = step;
  if (job.status === "failed" || readPullRequest(job.prLink) === null) return void 0;
  const branch = await findBranch(step, inputs, job);
  if (branch === void 0) {
    const text4 = "The branch of the pull request is not known: the input github-token cannot read it";
    runner2.annotate("warning", NOT_STARTED, text4);
    return void 0;
  }
  try {
    const { data } = await sendWrite(
      connection,
      (options) => connection.client.previews.create({ branch }, options),
      {
        key: derivePreviewKey(job.id ?? "", branch),
        ...{ timeout: inputs.timeout, limitPeriod: LIMIT_PERIOD, runner: runner2, signal }
      }
    );
    runner2.info(`The preview ${data.statusId} of ${branch} has been started: ${data.previewUrl}`);
    return data;
  } catch (error) {
    if (signal.aborted) return void 0;
    const reason = explainStart(error, "preview", inputs, connection.reachability);
    runner2.annotate("warning", NOT_STARTED, reason);
    return void 0;
  }
}
async function findBranch({ runner: runner2, signal }, inputs, { prLink, source: source2 }) {
  const request = readPullRequest(prLink);
  const { GITHUB_SERVER_URL: server = "https://github.com" } = runner2.env;
  const api = findApi(runner2.env, inputs.githubToken);
  const { href, noun, repository, number: number3 } = request ?? {};
  const isHere = href?.startsWith(`${server}/`) && noun === "pull request";
  if (api !== void 0 && isHere && repository && number3) {
    const target = `/repos/${repository}/pulls/${number3.slice(1)}`;
    try {
      const pull = await callGithub(api, "GET", target, { signal });
      const ref = pull.head?.ref;
      if (typeof ref === "string" && ref !== "") return ref;
    } catch (error) {
      if (!(error instanceof GithubError)) throw error;
      runner2.info(`The pull request cannot be read: ${error.message}.`);
    }
  }
  const branch = source2?.ref?.replace(/^refs\/heads\//, "");
  return branch === readDefaultBranch(runner2.env) ? void 0 : branch || void 0;
}

// action/src/job.ts
async function runJob(step, inputs) {
  const { runner: runner2, signal } = step;
  const { gateway, project, prompt, idempotencyKey } = inputs;
  const context = {
    ...{ gateway, project, prompt, run: readRunUrl(runner2.env) },
    ...{ hasOwnKey: idempotencyKey !== void 0, isReused: false, preview: void 0 }
  };
  const comment = inputs.comment ? prepareJobComment(step, inputs) : void 0;
  const report = { context, comment };
  const started = await start(step, inputs, {
    noun: "job",
    key: idempotencyKey ?? deriveJobKey(runner2.env, prompt),
    send: (client, options) => client.agentJobs.create({ prompt }, options)
  });
  if (started.connection === void 0) {
    return await finish2(step, { ...started, job: void 0 }, report);
  }
  const { connection } = started;
  const job = started.data;
  if (job.id === null) {
    const reason = "Mintlify returned no id for the job";
    return await finish2(step, { kind: "failed", job, reason }, report);
  }
  context.isReused = started.isReused;
  runner2.setOutput("job-id", job.id);
  runner2.info(describeStatus2(job));
  if (started.isReused) {
    runner2.info("It is from an earlier attempt, which had the same idempotency-key.");
  }
  if (!inputs.wait || signal.aborted) {
    return await finish2(step, { kind: signal.aborted ? "cancelled" : "started", job }, report);
  }
  await write(step, { kind: "started", job }, report, signal);
  const outcome = await waitForJob(step, inputs, connection, job);
  if (inputs.preview && outcome.kind === "ended") {
    const preview = await startJobPreview(step, inputs, connection, outcome.job);
    context.preview = preview?.previewUrl ?? void 0;
    runner2.setOutput("status-id", preview?.statusId ?? "");
    runner2.setOutput("preview-url", preview?.previewUrl ?? "");
  }
  return await finish2(step, outcome, report);
}
async function waitForJob({ runner: runner2, signal }, { timeout, after }, connection, created) {
  const explain2 = (error) => explainError(error, "job");
  const ending = await waitForEnd(connection, created, {
    ...{ timeout, after, signal, explain: explain2 },
    wait: (options) => connection.client.agentJobs.wait(created.id, options),
    onUpdate: (next, job2) => {
      if (next.status !== job2.status) runner2.info(describeStatus2({ ...next, id: created.id }));
      return { ...next, id: next.id ?? job2.id };
    }
  });
  const { state: job, ...rest } = ending;
  if (rest.kind !== "failed") return { ...rest, job };
  return { kind: "failed", job, reason: explain2(rest.error) };
}
async function finish2(step, outcome, report) {
  const { runner: runner2 } = step;
  const { context } = report;
  const { job } = outcome;
  runner2.setOutput("status", job?.status ?? "");
  const request = announcePullRequest(job);
  runner2.setOutput("pull-request", request === void 0 ? "" : job?.prLink ?? "");
  const words = describeOutcome(outcome);
  if (request !== void 0) runner2.annotate("notice", words, request);
  if (isUnfinished(outcome) && outcome.kind !== "started") {
    runner2.info("To continue waiting, with an access token in QUILLGATE_TOKEN:");
    runner2.info(formatResumeCommand(outcome.job, context));
  }
  if (mayHaveUnknownJob(outcome)) {
    runner2.info("To see the project's jobs, with an access token in QUILLGATE_TOKEN:");
    runner2.info(formatListCommand(context));
  }
  const failure = explainFailure(outcome, context);
  if (failure !== void 0) {
    const level = outcome.kind === "cancelled" ? "warning" : "error";
    runner2.annotate(level, words, failure);
  }
  runner2.appendSummary(summarize(outcome, context));
  await write(step, outcome, report);
  return failure === void 0 ? 0 : 1;
}
async function write(step, outcome, { context, comment }, signal) {
  const kind = outcome.job === void 0 ? "note" : "job";
  const markdown = composeComment(outcome, context);
  await writeComment(step, comment, { kind, markdown }, signal);
}
function describeStatus2({ id, status }) {
  return `The job ${id} is ${status ?? "in a state that is not known"}.`;
}
function prepareJobComment(step, inputs) {
  const { GITHUB_WORKFLOW_REF: workflow = "", ...env } = step.runner.env;
  const { GITHUB_JOB: job, GITHUB_ACTION: action, GITHUB_EVENT_NAME: event } = env;
  const names = [workflow.split("@")[0], job, action, inputs.project, inputs.matrix];
  return prepareComment(step, inputs, {
    step: JSON.stringify(names),
    // Two calls of a reusable workflow have the same variables.
    call: inputs.prompt,
    // Each user comment such as `/docs` requests a job. The step's comment lists all these jobs.
    keepsEarlier: event === "issue_comment",
    yieldsToLater: false
  });
}

// action/src/runner.ts
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
var RunnerError = class extends Error {
};
var Runner = class {
  env;
  #write;
  #secrets = /* @__PURE__ */ new Set();
  constructor(env, write2) {
    this.env = env;
    this.#write = write2;
  }
  /**
   * Returns an input by its name in `action.yml`. Returns an empty string if the workflow does not
   * set the input and `action.yml` has no default.
   */
  input(name) {
    return this.env[`INPUT_${name.toUpperCase().replaceAll(" ", "_")}`] ?? "";
  }
  /** Whether debug logging is enabled for the run. */
  get isDebug() {
    return this.env.RUNNER_DEBUG === "1";
  }
  /** Masks a secret in the log, in outputs and in the summary. */
  mask(secret) {
    if (secret === "" || this.#secrets.has(secret)) return;
    this.#write(`::add-mask::${escapeData(secret)}`);
    this.#secrets.add(secret);
  }
  info(text4) {
    this.#write(this.#redact(neutralize(text4)));
  }
  debug(text4) {
    this.#command("debug", {}, text4);
  }
  /** Logs lines as a collapsed group. */
  group(title, lines) {
    this.#command("group", {}, title);
    for (const line of lines) this.info(line);
    this.#write("::endgroup::");
  }
  /** Adds an annotation to the run's page. */
  annotate(level, title, text4) {
    this.#command(level, { title }, text4);
  }
  setOutput(name, value2) {
    const text4 = this.#redact(value2);
    const delimiter = `quillgate-${randomUUID()}`;
    this.#append("GITHUB_OUTPUT", `${name}<<${delimiter}
${text4}
${delimiter}
`);
  }
  /** Appends to the summary on the run's page. */
  appendSummary(markdown) {
    this.#append("GITHUB_STEP_SUMMARY", `${this.#redact(markdown)}
`);
  }
  #append(variable2, text4) {
    const file = this.env[variable2];
    if (!file) throw new RunnerError(`${variable2} is not set: this runs as a step of a workflow`);
    appendFileSync(file, text4);
  }
  #command(name, properties, text4) {
    const pairs = Object.entries(properties).map(([key, value2]) => {
      return `${key}=${escapeProperty(this.#redact(value2))}`;
    });
    const head = pairs.length > 0 ? `${name} ${pairs.join(",")}` : name;
    this.#write(`::${head}::${escapeData(this.#redact(text4))}`);
  }
  #redact(text4) {
    let redacted = text4;
    for (const secret of this.#secrets) redacted = redacted.replaceAll(secret, "***");
    return redacted;
  }
};
function neutralize(text4) {
  const line = text4.replace(/[\r\n]+/g, " ").replaceAll("##[", "## [");
  return new RegExp("^[\\s\\p{C}]*:\\p{C}*:", "u").test(line) ? `· ${line}` : line;
}
function escapeData(text4) {
  return text4.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
function escapeProperty(text4) {
  return escapeData(text4).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

// action/src/main.ts
var runner = new Runner(process.env, (line) => process.stdout.write(`${line}
`));
try {
  const code = await run2(cancellation);
  process.exitCode ??= code;
} catch (error) {
  if (!(error instanceof InputError || error instanceof RunnerError)) throw error;
  runner.annotate("error", "The step is set up wrongly", error.message);
  if (runner.env.GITHUB_STEP_SUMMARY) runner.appendSummary(summarizeMistake(error.message));
  process.exitCode = 1;
}
async function run2(signal) {
  const inputs = readInputs(runner);
  await applyProxy();
  if (inputs.guard !== void 0 && !await passes(inputs.guard, inputs, signal)) return 0;
  const step = { runner, signal, pull: readPullRequest2(runner.env) };
  switch (inputs.command) {
    case "job":
      return await runJob(step, inputs);
    case "deploy":
      return await runDeploy(step, inputs);
    case "preview":
      return await runPreview(step, inputs);
    case "automation":
      return await runAutomation(step, inputs);
  }
}
async function passes(guard2, inputs, signal) {
  const api = findApi(runner.env, inputs.githubToken);
  let decision;
  try {
    decision = await decide(guard2, { runner, api, timeout: inputs.timeout, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    runner.annotate("warning", "The step was cancelled", "Nothing was started.");
    return false;
  }
  const { isChanged, reason } = decision;
  const isSkipped = isChanged === false;
  runner.setOutput("skipped", String(isSkipped));
  if (isSkipped) {
    runner.info(`Skipped: ${reason}.`);
    runner.appendSummary(`### Skipped

${escapeMarkdown(reason)}`);
  } else if (isChanged) {
    runner.info(`if-changed: ${reason}.`);
  } else {
    runner.annotate("warning", "The step runs, because if-changed could not be decided", reason);
  }
  return !isSkipped;
}
async function applyProxy() {
  try {
    const proxies = readProxies(runner.env);
    if (proxies === void 0 || await useProxies(proxies, runner.env)) return;
  } catch (error) {
    if (error instanceof ProxyError) throw new InputError(error.message);
    throw error;
  }
  const text4 = `The runner's Node.js ${process.versions.node} needs NODE_USE_ENV_PROXY: 1 in the step's env, or a newer runner`;
  runner.annotate("warning", "The runner's proxy is not used", text4);
}
