/** nginx and Caddy as processes on loopback, with a configuration of ours. @module */

import type { TestCertificate } from "../../tests/kit/certificates.ts";

/** A server that this machine may have. */
export type WebServerName = "nginx" | "caddy";

/** Whether the program is there. */
export function hasProgram(name: string): boolean {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  return [...folders, "/usr/sbin"].some((folder) => {
    try {
      return Deno.statSync(`${folder}/${name}`).isFile;
    } catch {
      return false;
    }
  });
}

/** A running server. */
export interface WebServer extends AsyncDisposable {
  /** What its own check of the configuration said; empty for no complaint. */
  readonly complaints: string;
}

/**
 * Starts a server with an exported configuration, in a folder of its own, and
 * waits until it listens. What would listen everywhere stays on loopback.
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
  const command = (args: readonly string[]) =>
    new Deno.Command(name === "nginx" ? findNginx() : name, {
      args: [...args],
      env,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  const decoder = new TextDecoder();
  const checked = await command(CHECK[name](main)).output();
  const complaints = decoder.decode(checked.stderr);
  if (!checked.success) throw new Error(complaints);
  const child = command(RUN[name](main)).spawn();
  const said = Promise.all(
    [child.stdout, child.stderr].map((stream) => new Response(stream).text()),
  );
  const stop = async () => {
    try {
      child.kill("SIGTERM");
    } catch (error) {
      // It has ended by itself.
      if (!(error instanceof TypeError)) throw error;
    }
    await child.status;
    return (await said).join("");
  };
  let hasEnded = false;
  child.status.then(() => hasEnded = true);
  await waitUntil(
    `${name} listens or has ended`,
    async () => hasEnded || await listens(port),
  );
  if (hasEnded) throw new Error(`${name}: ${await stop()}`);
  return {
    complaints: complaints.split("\n").filter((line) =>
      // A certificate of a test has nobody to ask by OCSP.
      /\[(?:warn|emerg)\]|error/.test(line) && !line.includes("OCSP")
    ).join("\n"),
    [Symbol.asyncDispose]: async () => void await stop(),
  };
}

async function listens(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return true;
  } catch {
    return false;
  }
}

/** Debian keeps it where only root looks. */
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
  // What the configuration says about the global options is followed.
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
import { waitUntil } from "../../tests/kit/wait.ts";

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

/** The configuration, kept on loopback. */
export function onLoopback(configuration: string): string {
  return configuration
    .replace(/^ *listen \[::\]:\d+ ssl;\n/gm, "")
    .replace(/listen (\d+)/g, "listen 127.0.0.1:$1");
}

/** Writes certificate and key where a server finds them. */
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

/** A port that was free a moment ago. */
export function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}
