/** Tests the exported configurations in real servers. */

import { checkIssuer, verifyIssuer } from "@sig/consumer";
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
} from "@std/assert";
import { makeCertificate } from "../../tests/kit/certificates.ts";
import { findServed, overTls } from "../testdata/doctor.ts";
import {
  onLoopback,
  startWebServer,
  type WebServerName,
  writeCertificate,
} from "../testdata/web_server.ts";
import { inWorkspace, type Workspace } from "../testdata/workspace.ts";
import { freePort, lacks } from "../../tests/kit/process.ts";

// promise: Exported configurations serve the published documents only.

const FEED = "/.well-known/sig/events.jsonl";
const TYPES: readonly (readonly [string, string])[] = [
  ["/.well-known/did.json", "application/did+json"],
  ["/.well-known/jwks.json", "application/json"],
  ["/.well-known/sig.json", "application/json"],
  [FEED, "application/x-ndjson"],
  ["/.well-known/sig/checkpoint", "text/plain; charset=utf-8"],
];

interface Site {
  readonly workspace: Workspace;
  /** `localhost` with the port. */
  readonly host: string;
  readonly authority: string;
  get(path: string, init?: RequestInit): Promise<Response>;
}

async function sig(workspace: Workspace, words: string): Promise<string> {
  const { stdout } = await workspace.says(
    words.split(" "), // The events use the real clock, as the certificates do.
    { io: { now: () => new Date() } },
  );
  return stdout;
}

/** Serves an issuer over TLS, from a folder with a space in its name. */
async function serving(
  name: WebServerName,
  work: (site: Site) => Promise<void>,
): Promise<void> {
  await inWorkspace(async (workspace) => {
    const port = freePort();
    const host = `localhost:${port}`;
    await sig(workspace, `init ${host} --dir $D/acme --allow-insecure`);
    await sig(
      workspace,
      "upsert --dir $D/acme --subject did:web:a.example --type employee",
    );
    // With --allow-insecure `init` writes http URLs, but this server uses TLS.
    for (const file of ["sig.json", "did.json"]) {
      const path = workspace.path(`acme/.well-known/${file}`);
      const text = await Deno.readTextFile(path);
      await Deno.writeTextFile(path, text.replaceAll("http://", "https://"));
    }
    await sig(workspace, "checkpoint --dir $D/acme --init");
    const made = await makeCertificate("DNS:localhost", { days: 60 });
    const files = await writeCertificate(workspace.dir, made);
    await Deno.rename(workspace.path("acme"), workspace.path("acme dir"));
    const { stdout } = await workspace.says(
      `export ${name} --dir '$D/acme dir' --certificate ${files.cert} --certificate-key ${files.key}`,
    );
    await using server = await startWebServer(
      name,
      workspace.dir,
      onLoopback(stdout.replaceAll("$D", workspace.dir)),
      port,
    );
    assertEquals(server.complaints, "");
    using client = Deno.createHttpClient({ caCerts: [made.authority] });
    await work({
      workspace,
      host,
      authority: made.authority,
      get: (path, init = {}) =>
        fetch(`https://${host}${path}`, {
          ...init,
          client,
          redirect: "manual",
        }),
    });
  });
}

async function secretIsKept(site: Site): Promise<void> {
  const { workspace, get } = site;
  const folder = workspace.path("acme dir");
  const secrets = ["/.sig/people.csv", "/.env", "/.well-known/key.jwk"]
    .concat("/.well-known/sig/.lock");
  for (const path of secrets) {
    await Deno.writeTextFile(`${folder}${path}`, "SECRET");
  }
  const paths = [
    ...[...secrets, "/", "/.sig/", "/.sig/lock"],
    ...["/.well-known/", "/.well-known", "/.well-known/sig/"],
    ...["/.well-known/sig.json/", "/.well-known/sig.json~"],
  ];
  for (const path of paths) {
    const response = await get(path);
    assert(!(await response.text()).includes("SECRET"), path);
    assertEquals(response.status, 404, path);
  }
  // Paths that normal clients would not send.
  const { hostname, port } = new URL(`https://${site.host}`);
  for (
    const path of [
      "/.well-known/../.sig/people.csv",
      "/.well-known/sig/%2e%2e/%2e%2e/.sig/people.csv",
      "/.well-known/sig%2f..%2f..%2f.sig%2fnames.csv",
      "//.sig/people.csv",
    ]
  ) {
    const connection = await Deno.connectTls({
      hostname,
      port: Number(port),
      caCerts: [site.authority],
    });
    const request =
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`;
    await connection.write(new TextEncoder().encode(request));
    const answer = await new Response(connection.readable).text();
    assertMatch(answer, /^HTTP\/1\.1 (?:404|400|308) /, path);
    assert(!answer.includes("SECRET"), path);
  }
}

async function documentsAreServed({ get, workspace }: Site): Promise<void> {
  for (const [path, type] of TYPES) {
    const text = await Deno.readTextFile(workspace.path(`acme dir${path}`));
    const size = new TextEncoder().encode(text).length;
    const response = await get(path);
    const { headers, status } = response;
    assertEquals([status, await response.text()], [200, text]);
    assertEquals(headers.get("content-type"), type);
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    assertEquals(headers.get("cache-control"), "no-cache, no-transform");
    const etag = headers.get("etag") ?? "";
    assertMatch(etag, /^"/, "ranges need a strong tag");
    const again = await get(path, { headers: { "if-none-match": etag } });
    assertEquals([again.status, await again.text()], [304, ""]);
    const end = await get(path, { headers: { range: "bytes=5-" } });
    assertEquals([end.status, await end.text()], [206, text.slice(5)]);
    assertEquals(
      end.headers.get("content-range"),
      `bytes 5-${size - 1}/${size}`,
    );
    const behind = await get(path, {
      headers: { range: `bytes=${size}-` },
    });
    await behind.body?.cancel();
    assertEquals(behind.status, 416);
    const posted = await get(path, { method: "POST", body: "x" });
    await posted.body?.cancel();
    assertEquals(posted.status, 405);
    const preflight = await get(path, {
      method: "OPTIONS",
      headers: {
        origin: "https://a.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "if-none-match",
      },
    });
    assertEquals([preflight.status, await preflight.text()], [204, ""]);
    assertEquals(
      preflight.headers.get("access-control-allow-headers"),
      "range, if-none-match, if-range",
    );
    assertEquals(preflight.headers.get("access-control-allow-origin"), "*");
  }
}

async function proofsAreServed({ get, workspace }: Site): Promise<void> {
  const folder = workspace.path("acme dir/.well-known/sig");
  const paths: string[] = [];
  const find = async (below: string): Promise<void> => {
    for await (const { isDirectory, name } of Deno.readDir(folder + below)) {
      if (isDirectory) await find(`${below}/${name}`);
      else paths.push(`${below}/${name}`);
    }
  };
  await find("/state");
  await find("/tile");
  assertEquals(paths.length, 2);
  for (const path of paths) {
    const response = await get(`/.well-known/sig${path}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    assertEquals(response.status, 200);
    assertEquals(bytes, await Deno.readFile(folder + path));
    const { headers } = response;
    assertEquals(headers.get("content-type"), "application/octet-stream");
    assertEquals(
      headers.get("cache-control"),
      "public, max-age=31536000, immutable, no-transform",
    );
    assertEquals(headers.get("access-control-allow-origin"), "*");
    assertEquals(headers.get("content-encoding"), null);
  }
  for (const path of ["state", "state/", "state/00/00", "tile/0/1"]) {
    const { body, headers, status } = await get(`/.well-known/sig/${path}`);
    await body?.cancel();
    assert([301, 308, 403, 404].includes(status), path);
    assert(!headers.get("cache-control")?.includes("immutable"), path);
  }
}

async function consumerFollows(site: Site): Promise<void> {
  const location = overTls(site.host, site.authority);
  const verify =
    async () => (await verifyIssuer(location, { now: new Date() }));
  const { state, warnings } = await verify();
  assertEquals([state.last_sequence, warnings], [1, []]);
  const tag = async () => {
    const response = await site.get(FEED, { method: "HEAD" });
    return response.headers.get("etag");
  };
  const before = await tag();
  const old = await Deno.readTextFile(
    site.workspace.path("acme dir/.well-known/sig/checkpoint"),
  );
  const { code, stderr } = await site.workspace.sig(
    "upsert --dir '$D/acme dir' --type employee --subject did:web:b.example",
    { io: { now: () => new Date() } },
  );
  assertEquals(code, 0, stderr);
  assertNotEquals(await tag(), before);
  assertEquals((await verify()).state.last_sequence, 2);
  const proofs = async () => {
    const question = {
      subject: "did:web:b.example",
      require: ["role=deploy"],
    } as const;
    const asked = { now: new Date() };
    const { proof, last_sequence, warnings } = await checkIssuer(
      location,
      question,
      asked,
    );
    assertEquals([last_sequence, warnings], [2, []]);
    return [proof?.size, proof?.tail];
  };
  assertEquals(await proofs(), [2, 0]);
  // With an older checkpoint, a reader requests the rest of the feed by a
  // range.
  const checkpoint = site.workspace.path("acme dir/.well-known/sig/checkpoint");
  const newest = await Deno.readTextFile(checkpoint);
  await Deno.writeTextFile(checkpoint, old);
  assertEquals(await proofs(), [1, 1]);
  await Deno.writeTextFile(checkpoint, newest);
}

for (const name of ["nginx", "caddy"] as const) {
  Deno.test({
    name: `${name} with the exported configuration serves only the documents`,
    ignore: lacks(name) || lacks("openssl"),
    fn: (t) =>
      serving(name, async (site) => {
        await t.step("sends headers, entity tags, ranges and preflights", () =>
          documentsAreServed(site));
        await t.step("proof files are immutable", () =>
          proofsAreServed(site));
        await t.step("a consumer reads it", () => consumerFollows(site));
        await t.step("sig doctor has no findings", async () => {
          assertEquals(await findServed(site.host, site.authority), []);
        });
        await t.step("serves no private file", () => secretIsKept(site));
        if (name !== "nginx") return;
        await t.step("no link leads out of the directory", async () => {
          const { get, workspace } = site;
          await Deno.writeTextFile(workspace.path("key.jwk"), "SECRET");
          const file = workspace.path("acme dir/.well-known/jwks.json");
          await Deno.remove(file);
          await Deno.symlink(workspace.path("key.jwk"), file);
          const response = await get("/.well-known/jwks.json");
          assertEquals(response.status, 403);
          assert(!(await response.text()).includes("SECRET"));
        });
      }),
  });
}
