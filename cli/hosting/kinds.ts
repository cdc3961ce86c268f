/** What `sig export` can write, as a table. @module */

import type { FlagSpec } from "@sig/api/flags";
import { usageError } from "@sig/api/flags";
import type { Call } from "../command_line/command.ts";
import { dirRequired } from "../issue/dir_required.ts";
import { caddyConfiguration } from "./caddy.ts";
import { denoDeployProgram } from "./deno_deploy.ts";
import { gateCaddyConfiguration } from "./gate_caddy.ts";
import { gateNginxConfiguration } from "./gate_nginx.ts";
import { type GateSite, readGateSite } from "./gate_site.ts";
import { gateTraefikConfiguration } from "./gate_traefik.ts";
import { type HostedSite, readHostedSite } from "./hosted_site.ts";
import type { HostingOptions } from "./hosting_options.ts";
import { nginxConfiguration } from "./nginx.ts";
import { staticHeaders } from "./static_host.ts";

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
  help: "the issuer's directory",
};
const ROOT: FlagSpec = {
  name: "root",
  value: "DIR",
  help:
    "where the directory lies on the server, if elsewhere; of deno-deploy: beside the program",
};
const CERTIFICATE: readonly FlagSpec[] = [
  {
    name: "certificate",
    value: "FILE",
    help: "on the server: the certificate and those between, as PEM",
  },
  {
    name: "certificate-key",
    value: "FILE",
    help: "on the server: the file of the certificate's key",
  },
];

const GATE: readonly FlagSpec[] = [
  {
    name: "login",
    value: "URL",
    help: "of gate-…: the login's address, such as https://login.acme.example",
  },
  {
    name: "app",
    value: "HOST[:PORT]",
    help: "of gate-…: the application's host; its scheme is the login's",
  },
  {
    name: "upstream",
    value: "URL",
    help:
      "of gate-…: where the application listens; http://127.0.0.1:3000 unless told",
  },
];

/** Every kind, in the order of the help. */
export const EXPORT_KINDS: readonly ExportKind[] = [
  {
    name: "nginx",
    flags: [DIR, ROOT, ...CERTIFICATE],
    make: (call) => ofSite(call, nginxConfiguration, absoluteRoot(call)),
  },
  {
    name: "caddy",
    flags: [DIR, ROOT, ...CERTIFICATE],
    make: (call) => ofSite(call, caddyConfiguration, absoluteRoot(call)),
  },
  {
    name: "deno-deploy",
    flags: [DIR, ROOT],
    make: (call) => ofSite(call, denoDeployProgram, relativeRoot(call)),
  },
  {
    name: "static",
    flags: [DIR],
    make: (call) => ofSite(call, staticHeaders, ""),
  },
  {
    name: "gate-nginx",
    flags: [...GATE, ...CERTIFICATE],
    make: (call) => ofGate(call, gateNginxConfiguration),
  },
  {
    name: "gate-caddy",
    flags: [...GATE, ...CERTIFICATE],
    make: (call) => ofGate(call, gateCaddyConfiguration),
  },
  {
    name: "gate-traefik",
    flags: GATE,
    make: (call) => ofGate(call, gateTraefikConfiguration),
  },
];

// deno-lint-ignore require-await -- what it throws is a rejection
async function ofGate(
  call: Call,
  write: (
    site: GateSite,
    certificate: HostingOptions["certificate"],
  ) => string,
): Promise<string> {
  const site = readGateSite(
    call.text("login"),
    call.text("app"),
    call.text("upstream"),
  );
  return write(site, readCertificate(call));
}

async function ofSite(
  call: Call,
  write: (site: HostedSite, options: HostingOptions) => string,
  root: string,
): Promise<string> {
  const site = await readHostedSite(requiredDir(call));
  const certificate = readCertificate(call);
  return write(
    site,
    certificate === undefined ? { root } : { root, certificate },
  );
}

function readCertificate(call: Call): HostingOptions["certificate"] {
  const file = call.text("certificate");
  const keyFile = call.text("certificate-key");
  if ((file === undefined) !== (keyFile === undefined)) {
    throw usageError("--certificate and --certificate-key go together", {
      flag: file === undefined ? "--certificate" : "--certificate-key",
    });
  }
  if (file === undefined || keyFile === undefined) return undefined;
  return { file, keyFile };
}

function requiredDir(call: Call): string {
  const dir = call.text("dir");
  if (dir !== undefined) return dir;
  throw dirRequired();
}

/** Servers run elsewhere than this command: a path of theirs is whole. */
function absoluteRoot(call: Call): string {
  const root = call.text("root");
  if (root === undefined) return call.io.absolutePath(requiredDir(call));
  if (root.startsWith("/")) return root;
  throw usageError("--root must begin with /", { flag: "--root" });
}

function relativeRoot(call: Call): string {
  const root = call.text("root");
  if (root === undefined) {
    const path = call.io.absolutePath(requiredDir(call));
    return path.slice(path.lastIndexOf("/") + 1);
  }
  if (!root.startsWith("/")) return root;
  throw usageError("--root of deno-deploy is a path beside the program", {
    flag: "--root",
  });
}
