/** Tests the output of `sig export` byte for byte. */

import { assertEquals } from "@std/assert";
import { workspaceTest as test } from "../testdata/workspace.ts";

const CERTIFICATE =
  "--certificate '/etc/tls/a chain.pem' --certificate-key /etc/tls/a.key";
const HTTP_GATE =
  "--login http://localhost:8788 --app localhost:9000 --upstream http://127.0.0.1:3001";
const HTTPS_GATE =
  "--login https://login.acme.example:8443 --app wiki.acme.example";

/** The file in `testdata/export`, the issuer's host, the arguments. */
const CASES: readonly (readonly [
  file: string,
  host: string | undefined,
  words: string,
])[] = [
  ["nginx", "acme.example", "nginx --root '/srv/acme example'"],
  [
    "nginx_port",
    "acme.example:8443",
    `nginx --root /srv/acme ${CERTIFICATE}`,
  ],
  ["nginx_http", "127.0.0.1:8080", "nginx --root /srv/acme"],
  ["nginx_localhost", "localhost:8080", "nginx --root /srv/acme"],
  ["caddy", "acme.example", "caddy --root '/srv/acme example'"],
  [
    "caddy_port",
    "acme.example:8443",
    `caddy --root /srv/acme ${CERTIFICATE}`,
  ],
  ["caddy_http", "127.0.0.1:8080", "caddy --root /srv/acme"],
  ["caddy_localhost", "localhost:8080", "caddy --root /srv/acme"],
  ["nginx_proofs", "acme.example", "nginx --root /srv/acme"],
  ["caddy_proofs", "acme.example", "caddy --root /srv/acme"],
  ["static_proofs", "acme.example", "static"],
  ["deno_deploy", "acme.example", "deno-deploy --root acme"],
  ["static", "acme.example", "static"],
  ["gate_nginx", undefined, `gate-nginx ${HTTPS_GATE}`],
  [
    "gate_nginx_port",
    undefined,
    `gate-nginx --login https://login.acme.example --app wiki.acme.example:8444 ${CERTIFICATE}`,
  ],
  ["gate_nginx_http", undefined, `gate-nginx ${HTTP_GATE}`],
  ["gate_caddy", undefined, `gate-caddy ${HTTPS_GATE} ${CERTIFICATE}`],
  ["gate_caddy_http", undefined, `gate-caddy ${HTTP_GATE}`],
  ["gate_traefik", undefined, `gate-traefik ${HTTPS_GATE}`],
  [
    "gate_traefik_http",
    undefined,
    "gate-traefik --login http://127.0.0.1:8788 --app localhost:9000 --upstream http://127.0.0.1:3001",
  ],
];

for (const [file, host, words] of CASES) {
  test(`sig export ${words} writes ${file}.txt`, async (workspace) => {
    if (host !== undefined) {
      await workspace.says(
        `init ${host} --dir $D/a --allow-insecure --no-proofs`,
      );
    }
    if (file.endsWith("_proofs")) {
      await workspace.ok("checkpoint --dir $D/a --init");
    }
    const dir = host === undefined ? "" : "--dir $D/a";
    const { stdout } = await workspace.says(`export ${words} ${dir}`);
    const url = new URL(`../testdata/export/${file}.txt`, import.meta.url);
    assertEquals(stdout, await Deno.readTextFile(url));
  });
}
