/** The kinds of `sig export`: a row and a template each. @module */

import {
  file,
  folder,
  optional,
  usageError,
  type Values,
} from "@sig/api/program";
import type { Call } from "../command_line/command.ts";
import { textOf, url } from "../command_line/values.ts";
import {
  IMMUTABLE_HEADERS,
  PREFLIGHT_HEADERS,
  PROOF_TYPE,
  SITE_HEADERS,
} from "../site/site_headers.ts";
import { VERSION } from "../terminal/version.ts";
import caddy from "./caddy.txt" with { type: "text" };
import denoDeploy from "./deno_deploy.txt" with { type: "text" };
import { fillTemplate, type TemplateValues } from "../output/fill_template.ts";
import gateCaddy from "./gate_caddy.txt" with { type: "text" };
import gateNginx from "./gate_nginx.txt" with { type: "text" };
import gateTraefik from "./gate_traefik.txt" with { type: "text" };
import {
  type Origin,
  quoted,
  readHostedSite,
  SCHEME_PORTS,
} from "./hosted_site.ts";
import nginx from "./nginx.txt" with { type: "text" };
import { readProtectedApp } from "./protected_app.ts";
import staticHost from "./static.txt" with { type: "text" };

/** The flags of all kinds together. */
export const EXPORT_FLAGS = {
  dir: optional(folder, "issuer directory"),
  root: optional(
    folder,
    "path of the directory on the server (default: that of --dir); for deno-deploy: relative to the program",
  ),
  certificate: optional(file, "on the server: certificate chain, PEM"),
  "certificate-key": optional(
    file,
    "on the server: private key of the certificate",
  ),
  login: optional(
    url,
    "for gate-…: origin of the login, such as https://login.acme.example",
  ),
  app: optional(
    textOf("HOST[:PORT]"),
    "for gate-…: host of the application; its scheme is that of --login",
  ),
  upstream: optional(
    url,
    "for gate-…: where the application listens (default: http://127.0.0.1:3000)",
  ),
};

type ExportCall = Call<Values<typeof EXPORT_FLAGS>>;

/** A kind of export. */
interface ExportKind {
  /** The name, an argument of `sig export`. */
  readonly name: string;
  readonly template: string;
  /** The flags that it accepts; others are rejected. */
  readonly takes: readonly (keyof typeof EXPORT_FLAGS)[];
  valuesOf(call: ExportCall): TemplateValues | Promise<TemplateValues>;
}

const FOLDER = ["dir", "root"] as const;
const CERTIFICATE = ["certificate", "certificate-key"] as const;
const SITE = [...FOLDER, ...CERTIFICATE];
const PROXY = ["login", "app", "upstream"] as const;
const GATE = [...PROXY, ...CERTIFICATE];

/** Every kind, in the order of the help. */
export const EXPORT_KINDS: readonly ExportKind[] = [
  { name: "nginx", template: nginx, takes: SITE, valuesOf: onServer },
  { name: "caddy", template: caddy, takes: SITE, valuesOf: onServer },
  {
    name: "deno-deploy",
    template: denoDeploy,
    takes: FOLDER,
    valuesOf: (call) => hosted(call, programFolder(call)),
  },
  {
    name: "static",
    template: staticHost,
    takes: ["dir"],
    valuesOf: (call) => hosted(call, {}),
  },
  { name: "gate-nginx", template: gateNginx, takes: GATE, valuesOf: gate },
  { name: "gate-caddy", template: gateCaddy, takes: GATE, valuesOf: gate },
  {
    name: "gate-traefik",
    template: gateTraefik,
    takes: PROXY,
    valuesOf: gateWithCookies,
  },
];

/** Returns the output of a kind of export. */
export async function makeExport(
  { template, valuesOf }: ExportKind,
  call: ExportCall,
): Promise<string> {
  return fillTemplate(template, await valuesOf(call));
}

function gate(call: ExportCall) {
  const { app, login, upstream } = call.flags;
  const found = readProtectedApp(login, app, upstream);
  return { ...found, ...listening(call, found) };
}

function gateWithCookies(call: ExportCall): TemplateValues {
  const values = gate(call);
  // Browsers send the cookies of a host to all of its ports.
  if (values.hostname !== new URL(values.login).hostname) return values;
  throw usageError("--app needs another host name than --login", {
    flag: "--app",
    hint:
      "Traefik can't remove a cookie: the application would get the login's session. Use gate-nginx or gate-caddy, or another host name.",
  });
}

function onServer(call: ExportCall): Promise<TemplateValues> {
  return hosted(call, absoluteRoot(call));
}

async function hosted(
  call: ExportCall,
  root: TemplateValues,
): Promise<TemplateValues> {
  const site = await readHostedSite(requiredDir(call));
  const named = (headers: { readonly [name: string]: string }) =>
    Object.entries(headers).map(([name, value]) => ({ name, value }));
  return {
    ...site,
    ...root,
    ...listening(call, site),
    paths: site.documents.map(({ path }) => path).join(" "),
    headers: named(SITE_HEADERS),
    immutable: named(IMMUTABLE_HEADERS),
    proofType: PROOF_TYPE,
    preflight: named(PREFLIGHT_HEADERS),
    version: VERSION,
  };
}

/** Returns the addresses and the certificate of a server. */
function listening(
  call: ExportCall,
  { hostname, port, scheme }: Origin,
): TemplateValues {
  const { certificate: file, "certificate-key": keyFile } = call.flags;
  if ((file === undefined) !== (keyFile === undefined)) {
    throw usageError("--certificate and --certificate-key go together", {
      flag: file === undefined ? "--certificate" : "--certificate-key",
    });
  }
  const found = `/etc/letsencrypt/live/${hostname}`;
  // http is for tests only, so the server listens on loopback.
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
    // Without this flag, Caddy obtains a certificate.
    tls: https && file !== undefined,
    certificate: quoted("the certificate", file ?? `${found}/fullchain.pem`),
    key: quoted("the certificate's key", keyFile ?? `${found}/privkey.pem`),
  };
}

function requiredDir(call: ExportCall): string {
  const dir = call.flags.dir;
  if (dir !== undefined) return dir;
  throw usageError("--dir is required", {
    flag: "--dir",
    hint: "For example: --dir ./acme.example.",
  });
}

/**
 * Returns the path of the directory on the server, which is another machine.
 */
function absoluteRoot(call: ExportCall): TemplateValues {
  const root = call.flags.root ?? call.io.absolutePath(requiredDir(call));
  if (root.startsWith("/")) return { root: quoted("the directory", root) };
  throw usageError("--root must begin with /", { flag: "--root" });
}

function programFolder(call: ExportCall): TemplateValues {
  const path = call.io.absolutePath(requiredDir(call));
  const root = call.flags.root ?? path.slice(path.lastIndexOf("/") + 1);
  if (!root.startsWith("/")) return { folder: JSON.stringify(`/${root}`) };
  throw usageError("--root of deno-deploy is relative to the program", {
    flag: "--root",
  });
}
