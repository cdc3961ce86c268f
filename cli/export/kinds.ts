/** What `sig export` can write: one row and one template each. @module */

import { type FlagSpec, usageError } from "@sig/api/flags";
import type { Call } from "../command_line/command.ts";
import { PREFLIGHT_HEADERS, SITE_HEADERS } from "../site/site_headers.ts";
import { VERSION } from "../terminal/version.ts";
import caddy from "./caddy.txt" with { type: "text" };
import denoDeploy from "./deno_deploy.txt" with { type: "text" };
import { fillTemplate, type TemplateValues } from "./fill_template.ts";
import gateCaddy from "./gate_caddy.txt" with { type: "text" };
import gateNginx from "./gate_nginx.txt" with { type: "text" };
import gateTraefik from "./gate_traefik.txt" with { type: "text" };
import { quoted, readHostedSite, SCHEME_PORTS } from "./hosted_site.ts";
import nginx from "./nginx.txt" with { type: "text" };
import { readProtectedApp } from "./protected_app.ts";
import staticHost from "./static.txt" with { type: "text" };

/** One thing that can be exported. */
export interface ExportKind {
  /** The word for it. */
  readonly name: string;
  /** The flags that it takes; others are refused. */
  readonly flags: readonly FlagSpec[];
  /** Makes its text. */
  make(call: Call): Promise<string>;
}

const DIR: FlagSpec = {
  name: "dir",
  value: "DIR",
  help: "issuer directory",
};
const ROOT: FlagSpec = {
  name: "root",
  value: "DIR",
  help:
    "path of the directory on the server (default: that of --dir); for deno-deploy: relative to the program",
};
const CERTIFICATE: readonly FlagSpec[] = [
  {
    name: "certificate",
    value: "FILE",
    help: "on the server: certificate chain, PEM",
  },
  {
    name: "certificate-key",
    value: "FILE",
    help: "on the server: private key of the certificate",
  },
];
const GATE: readonly FlagSpec[] = [
  {
    name: "login",
    value: "URL",
    help: "for gate-…: origin of the login, such as https://login.acme.example",
  },
  {
    name: "app",
    value: "HOST[:PORT]",
    help: "for gate-…: host of the application; its scheme is that of --login",
  },
  {
    name: "upstream",
    value: "URL",
    help:
      "for gate-…: where the application listens (default: http://127.0.0.1:3000)",
  },
];

/** Every kind, in the order of the help. */
export const EXPORT_KINDS: readonly ExportKind[] = [
  {
    name: "nginx",
    flags: [DIR, ROOT, ...CERTIFICATE],
    make: (call) => hosted(call, nginx, absoluteRoot),
  },
  {
    name: "caddy",
    flags: [DIR, ROOT, ...CERTIFICATE],
    make: (call) => hosted(call, caddy, absoluteRoot),
  },
  {
    name: "deno-deploy",
    flags: [DIR, ROOT],
    make: (call) => hosted(call, denoDeploy, programFolder),
  },
  { name: "static", flags: [DIR], make: (call) => hosted(call, staticHost) },
  {
    name: "gate-nginx",
    flags: [...GATE, ...CERTIFICATE],
    make: (call) => protectedApp(call, gateNginx),
  },
  {
    name: "gate-caddy",
    flags: [...GATE, ...CERTIFICATE],
    make: (call) => protectedApp(call, gateCaddy),
  },
  {
    name: "gate-traefik",
    flags: GATE,
    make: (call) => protectedApp(call, gateTraefik, { keepsCookies: true }),
  },
];

// deno-lint-ignore require-await -- what it throws is a rejection
async function protectedApp(
  call: Call,
  template: string,
  { keepsCookies = false }: { readonly keepsCookies?: boolean } = {},
): Promise<string> {
  const app = readProtectedApp(
    call.text("login"),
    call.text("app"),
    call.text("upstream"),
  );
  // Browsers send a host's cookies to each of its ports.
  if (keepsCookies && app.hostname === new URL(app.login).hostname) {
    throw usageError("--app needs another host name than --login", {
      flag: "--app",
      hint:
        "Traefik can't remove a cookie: the application would get the login's session. Use gate-nginx or gate-caddy, or another host name.",
    });
  }
  return fillTemplate(template, { ...app, ...listening(call, app) });
}

async function hosted(
  call: Call,
  template: string,
  rootOf: (call: Call) => TemplateValues = () => ({}),
): Promise<string> {
  const root = rootOf(call);
  const site = await readHostedSite(requiredDir(call));
  const named = (headers: { readonly [name: string]: string }) =>
    Object.entries(headers).map(([name, value]) => ({ name, value }));
  return fillTemplate(template, {
    ...site,
    ...root,
    ...listening(call, site),
    paths: site.documents.map(({ path }) => path).join(" "),
    headers: named(SITE_HEADERS),
    preflight: named(PREFLIGHT_HEADERS),
    version: VERSION,
  });
}

/** Where a server listens, and with which certificate. */
function listening(
  call: Call,
  { hostname, port, scheme }: {
    readonly hostname: string;
    readonly port: number;
    readonly scheme: "http" | "https";
  },
): TemplateValues {
  const given = readCertificate(call);
  const found = `/etc/letsencrypt/live/${hostname}`;
  const certificate = given?.[0] ?? `${found}/fullchain.pem`;
  const key = given?.[1] ?? `${found}/privkey.pem`;
  // Without TLS only tests make sense: they stay on this machine.
  const addresses = hostname === "localhost"
    ? ["127.0.0.1", "[::1]"]
    : [hostname];
  const https = scheme === "https";
  return {
    https,
    redirect: https && port === SCHEME_PORTS.https,
    loopback: https ? [] : addresses.map((address) => ({ address })),
    // Caddy writes IPv6 addresses without brackets.
    bind: !https,
    addresses: addresses.map((each) => each.replace(/^\[|\]$/g, "")).join(" "),
    // Without one, Caddy gets it itself.
    tls: https && given !== undefined,
    certificate: quoted("the certificate", certificate),
    key: quoted("the certificate's key", key),
  };
}

function readCertificate(
  call: Call,
): readonly [file: string, keyFile: string] | undefined {
  const file = call.text("certificate");
  const keyFile = call.text("certificate-key");
  if ((file === undefined) !== (keyFile === undefined)) {
    throw usageError("--certificate and --certificate-key go together", {
      flag: file === undefined ? "--certificate" : "--certificate-key",
    });
  }
  return file === undefined || keyFile === undefined
    ? undefined
    : [file, keyFile];
}

function requiredDir(call: Call): string {
  const dir = call.text("dir");
  if (dir !== undefined) return dir;
  throw usageError("--dir is required", {
    flag: "--dir",
    hint: "For example: --dir ./acme.example.",
  });
}

/** A path on the server, which is another machine than this one. */
function absoluteRoot(call: Call): TemplateValues {
  const root = call.text("root") ?? call.io.absolutePath(requiredDir(call));
  if (root.startsWith("/")) return { root: quoted("the directory", root) };
  throw usageError("--root must begin with /", { flag: "--root" });
}

function programFolder(call: Call): TemplateValues {
  const path = call.io.absolutePath(requiredDir(call));
  const root = call.text("root") ?? path.slice(path.lastIndexOf("/") + 1);
  if (!root.startsWith("/")) return { folder: JSON.stringify(`/${root}`) };
  throw usageError("--root of deno-deploy is relative to the program", {
    flag: "--root",
  });
}
