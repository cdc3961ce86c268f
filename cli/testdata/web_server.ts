/**
 * nginx and Caddy as processes on loopback with an exported configuration.
 * @module
 */

import { run, TestProcess } from "../../tests/kit/process.ts";
import type { TestCertificate } from "../../tests/kit/certificates.ts";

/** A supported server, if it is installed. */
export type WebServerName = "nginx" | "caddy";

/** A running server. */
export interface WebServer extends AsyncDisposable {
  /**
   * Messages of the server's check of the configuration; empty if it has none.
   */
  readonly complaints: string;
}

/**
 * Starts a server with an exported configuration in `folder`, restricted to
 * loopback, and waits until it listens.
 */
export async function startWebServer(
  name: WebServerName,
  folder: string,
  configuration: string,
  port: number,
): Promise<WebServer> {
  const main = `${folder}/${name}.conf`;
  await Deno.writeTextFile(`${folder}/site.conf`, configuration);
  await Deno.writeTextFile(main, MAIN[name](folder, configuration));
  const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const program = name === "nginx" ? findNginx() : name;
  const checked = await run(program, CHECK[name](main), { env });
  const complaints = checked.stderr;
  if (checked.code !== 0) throw new Error(complaints);
  const child = new TestProcess(program, RUN[name](main), { env });
  await child.listens(port);
  return {
    complaints: complaints.split("\n").filter((line) =>
      // Test certificates have no OCSP responder.
      /\[(?:warn|emerg)\]|error/.test(line) && !line.includes("OCSP")
    ).join("\n"),
    [Symbol.asyncDispose]: async () => void await child.stop(),
  };
}

/**
 * Returns the path of nginx, which Debian installs outside of a user's PATH.
 */
function findNginx(): string {
  try {
    return Deno.statSync("/usr/sbin/nginx").isFile
      ? "/usr/sbin/nginx"
      : "nginx";
  } catch {
    return "nginx";
  }
}

const MAIN: {
  readonly [name in WebServerName]: (
    folder: string,
    configuration: string,
  ) => string;
} = {
  nginx: (folder) =>
    `daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
worker_processes 1;
${Deno.uid() === 0 ? "user root;" : ""}
events {}
http {
  access_log off;
  # What a site of somebody may have switched on.
  gzip on;
  gzip_types *;
  gzip_min_length 1;
  charset utf-8;
  charset_types *;
${
      ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((each) =>
        `  ${each}_temp_path ${folder}/${each};`
      ).join("\n")
    }
  include ${folder}/site.conf;
}
`,
  // Includes the global options that comments of the configuration require.
  caddy: (folder, configuration) =>
    `{
	admin off
	default_bind 127.0.0.1
	auto_https disable_redirects
${(configuration.match(/(?<=^# {3}).*$/gm) ?? []).join("\n")}
}
import ${folder}/site.conf
`,
};

const CHECK = {
  nginx: (main: string) => ["-t", "-c", main, "-e", "stderr"],
  caddy: (main: string) => [
    ...["validate", "--adapter", "caddyfile"],
    ...["--config", main],
  ],
} as const;

const RUN = {
  nginx: (main: string) => ["-c", main, "-e", "stderr"],
  caddy: (main: string) => [
    ...["run", "--adapter", "caddyfile"],
    ...["--config", main],
  ],
} as const;

/** Returns the configuration with loopback addresses only. */
export function onLoopback(configuration: string): string {
  return configuration
    .replace(/^ *listen \[::\]:\d+ ssl;\n/gm, "")
    .replace(/listen (\d+)/g, "listen 127.0.0.1:$1");
}

/** Writes certificate and key to files for a server. */
export async function writeCertificate(
  folder: string,
  { authority, cert, key }: TestCertificate,
): Promise<{ readonly [name in "authority" | "cert" | "key"]: string }> {
  const files = {
    authority: `${folder}/authority.pem`,
    cert: `${folder}/cert.pem`,
    key: `${folder}/key.pem`,
  };
  await Deno.writeTextFile(files.authority, authority);
  await Deno.writeTextFile(files.cert, cert);
  await Deno.writeTextFile(files.key, key);
  return files;
}
