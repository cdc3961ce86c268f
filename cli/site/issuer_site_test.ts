import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
} from "@std/assert";
import { createIssuerSite } from "./issuer_site.ts";
import {
  initIssuer,
  testsWith,
  type Workspace,
} from "../testdata/workspace.ts";
import { ROOT, runWell, TestProcess } from "../../tests/kit/process.ts";

// promise: `sig serve` serves only published files inside its folder, and never
//   a private key.

const FEED = "/.well-known/sig/events.jsonl";

interface Served {
  readonly workspace: Workspace;
  /** Size of the feed on the disk in bytes. */
  readonly feed: string;
  get(path: string, headers?: HeadersInit, method?: string): Promise<Response>;
}

/** Declares a test of the site of an issuer with three events. */
const siteTest = testsWith<Served>(async (workspace, work) => {
  await initIssuer(workspace);
  const handler = createIssuerSite(workspace.path("acme"));
  await work({
    workspace,
    feed: await Deno.readTextFile(workspace.path(`acme${FEED}`)),
    get: (path, headers = {}, method = "GET") =>
      handler(new Request(`http://127.0.0.1${path}`, { headers, method })),
  });
});

/** Asserts 404 with a problem, without a byte of any file. */
async function assertNotFound(response: Response): Promise<void> {
  assertEquals(response.status, 404);
  assertEquals(
    await response.json(),
    {
      ...{ type: "urn:sig:problem:not_found", title: "Not found", status: 404 },
      ...{
        code: "not_found",
        detail: "Cannot serve: there is no such document",
      },
    },
  );
}

siteTest("a malformed Host is 400", async ({ get }) => {
  for (const host of ["localhost/.well-known/sig.json#", "[", "a b", ""]) {
    const response = await get("/.well-known/did.json", { host });
    assertEquals(response.status, 400, host);
    const { code, detail } = await response.json();
    assertEquals([code, detail], [
      "invalid_request",
      "Cannot serve: the header host must name a host",
    ]);
  }
});

siteTest(
  "serves the four documents with their media types",
  async ({ get, workspace }) => {
    const documents: readonly (readonly [string, string])[] = [
      ["/.well-known/did.json", "application/did+json"],
      ["/.well-known/jwks.json", "application/json"],
      ["/.well-known/sig.json", "application/json"],
      [FEED, "application/x-ndjson"],
    ];
    for (const [path, type] of documents) {
      const response = await get(path);
      const { headers } = response;
      assertEquals(response.status, 200);
      assertEquals(headers.get("content-type"), type);
      assertEquals(headers.get("access-control-allow-origin"), "*");
      assertEquals(headers.get("x-content-type-options"), "nosniff");
      assertEquals(headers.get("cache-control"), "no-cache, no-transform");
      const text = await response.text();
      assertEquals(
        text,
        await Deno.readTextFile(workspace.path(`acme${path}`)),
      );
      assertEquals(headers.get("content-length"), String(text.length));
    }
  },
);

siteTest(
  "serves proof files as immutable if the metadata has proofs",
  async ({ get, workspace }) => {
    const folder = workspace.path("acme/.well-known/sig");
    const checkpoint = "/.well-known/sig/checkpoint";
    await Deno.writeTextFile(`${folder}/checkpoint`, "not yet");
    assertEquals((await get(checkpoint)).status, 404);
    await Deno.remove(`${folder}/checkpoint`);
    await workspace.says("checkpoint --dir $D/acme --init");
    const signed = await get(checkpoint);
    assertEquals(
      await signed.text(),
      await Deno.readTextFile(`${folder}/checkpoint`),
    );
    const { headers } = signed;
    assertEquals(headers.get("content-type"), "text/plain; charset=utf-8");
    assertEquals(headers.get("cache-control"), "no-cache, no-transform");
    const [first] = [...Deno.readDirSync(`${folder}/state`)];
    const [name] = [...Deno.readDirSync(`${folder}/state/${first!.name}`)];
    const state = `state/${first!.name}/${name!.name}`;
    for (const path of ["tile/0/000.p/3", state]) {
      const response = await get(`/.well-known/sig/${path}`);
      const { headers } = response;
      const bytes = new Uint8Array(await response.arrayBuffer());
      assertEquals(bytes, await Deno.readFile(`${folder}/${path}`));
      assertEquals(headers.get("content-type"), "application/octet-stream");
      assertEquals(
        headers.get("cache-control"),
        "public, max-age=31536000, immutable, no-transform",
      );
    }
    await Deno.writeTextFile(`${folder}/${state}~`, "other");
    for (const path of [`${state}~`, "tile/0/001", "state/", "tile/../../x"]) {
      const { body, headers, status } = await get(`/.well-known/sig/${path}`);
      await body?.cancel();
      assertEquals(status, 404, path);
      assertEquals(headers.get("cache-control"), "no-cache, no-transform");
    }
  },
);

siteTest("no other file is served by any path", async ({ get, workspace }) => {
  const secret = workspace.path("secret.json");
  await Deno.writeTextFile(secret, "{}");
  const place = workspace.path("acme/.well-known");
  await Deno.writeTextFile(`${place}/other.json`, "{}");
  await Deno.symlink(secret, `${place}/link.json`);
  for (
    const path of [
      "/",
      "/.well-known",
      "/.well-known/",
      "/.well-known/other.json",
      "/.well-known/link.json",
      "/.sig/lock",
      "/.sig/index.db",
      "/.well-known/..%2f.sig/lock",
      "/.well-known/%2e%2e/.sig/lock",
      "/%2e%2e/secret.json",
      "/..%2fsecret.json",
      "//etc/hostname",
      "/.well-known/sig.json%00",
      "/.well-known/sig.json/",
      "/%E0%A4%A",
    ]
  ) {
    await assertNotFound(await get(path));
  }
});

siteTest(
  "answers 404 for a symbolic link out of the directory",
  async ({ get, workspace }) => {
    const jwks = workspace.path("acme/.well-known/jwks.json");
    await Deno.rename(jwks, workspace.path("outside.json"));
    await Deno.symlink(workspace.path("outside.json"), jwks);
    await assertNotFound(await get("/.well-known/jwks.json"));
  },
);

siteTest(
  "metadata can't publish a file outside of the directory or in .sig",
  async ({ get, workspace }) => {
    const file = workspace.path("acme/.well-known/sig.json");
    const metadata = JSON.parse(await Deno.readTextFile(file));
    await Deno.writeTextFile(workspace.path("secret.json"), "{}");
    for (const path of ["/.sig/lock", "/..%2fsecret.json"]) {
      const jwks_uri = `https://acme.example${path}`;
      await Deno.writeTextFile(file, JSON.stringify({ ...metadata, jwks_uri }));
      await assertNotFound(await get(path));
    }
  },
);

siteTest(
  "serves documents at the paths of the metadata",
  async ({ get, workspace, feed }) => {
    const place = workspace.path("acme/.well-known");
    const metadata = JSON.parse(await Deno.readTextFile(`${place}/sig.json`));
    const events_uri = "https://acme.example/.well-known/sig/v2.jsonl";
    await Deno.writeTextFile(
      `${place}/sig.json`,
      JSON.stringify({ ...metadata, events_uri }),
    );
    await Deno.rename(`${place}/sig/events.jsonl`, `${place}/sig/v2.jsonl`);
    assertEquals(await (await get("/.well-known/sig/v2.jsonl")).text(), feed);
    await assertNotFound(await get(FEED));
  },
);

siteTest("a feed ends at its last LF", async ({ get, workspace, feed }) => {
  const file = workspace.path(`acme${FEED}`);
  const tag = (await get(FEED, {}, "HEAD")).headers.get("etag");
  const line = feed.split("\n")[0]!;
  for (const rest of [line.slice(0, 1), line.slice(0, -1), line]) {
    await Deno.writeTextFile(file, feed + rest);
    assertEquals(await (await get(FEED)).text(), feed);
  }
  await Deno.writeTextFile(file, line);
  assertEquals(await (await get(FEED)).text(), "");
  await Deno.writeTextFile(file, `${feed}${line}\n`);
  const grown = await get(FEED);
  assertEquals(await grown.text(), `${feed}${line}\n`);
  assertNotEquals(grown.headers.get("etag"), tag);
  await Deno.writeTextFile(file, "");
  const empty = await get(FEED);
  assertEquals([empty.status, await empty.text()], [200, ""]);
  assertEquals((await get(FEED, { range: "bytes=0-" })).status, 416);
});

siteTest(
  "supports conditional and range requests (RFC 9110 §13, §14)",
  async ({ feed, get }) => {
    const size = feed.length;
    const tag = (await get(FEED, {}, "HEAD")).headers.get("etag")!;
    assertMatch(tag, /^"[^"]+"$/);
    const date = "Thu, 01 Jan 1970 00:00:00 GMT";
    const range = "bytes=5-";
    const cases: readonly (readonly [HeadersInit, number, ...number[]])[] = [
      [{ range: "bytes=0-0" }, 206, 0, 1],
      [{ range: "bytes=5-9" }, 206, 5, 10],
      [{ range }, 206, 5],
      [{ range: "bytes=-7" }, 206, size - 7],
      [{ range: `bytes=-${size + 1}` }, 206],
      [{ range: `bytes=${size - 1}-${size + 9}` }, 206, size - 1],
      [{ range: `bytes=${size}-` }, 416],
      [{ range: "bytes=-0" }, 416],
      // Several ranges, malformed, or another unit.
      ...["bytes=9-5", "bytes=0-1,3-4", "bytes=-", "bytes=a-b", "lines=0-1"]
        .map((range) => [{ range }, 200] as const),
      // If-Range must be an equal tag.
      [{ range, "if-range": tag }, 206, 5],
      ...['"other"', `W/${tag}`, date].map((other) =>
        [{ range, "if-range": other }, 200] as const
      ),
      ...[tag, `W/${tag}`, `"x", ${tag}`, "*"].map((tags) =>
        [{ "if-none-match": tags }, 304] as const
      ),
      [{ "if-none-match": '"x"' }, 200],
      ...[tag, "*", `"x", ${tag}`].map((tags) =>
        [{ "if-match": tags }, 200] as const
      ),
      // Strong comparison: a weak tag never matches.
      ...['"x"', `W/${tag}`].map((tags) =>
        [{ "if-match": tags }, 412] as const
      ),
      [{ "if-match": '"x"', "if-none-match": tag, range: "bytes=0-" }, 412],
      // Without Last-Modified, conditions on times are ignored.
      [{ "if-unmodified-since": date }, 200],
    ];
    for (const [headers, status, from = 0, to = size] of cases) {
      const response = await get(FEED, headers);
      const part = status === 206 ? `${from}-${to - 1}` : "*";
      assertEquals(
        [response.status, response.headers.get("content-range")],
        [status, [206, 416].includes(status) ? `bytes ${part}/${size}` : null],
        JSON.stringify(headers),
      );
      const body = status < 300 ? feed.slice(from, to) : "";
      assertEquals(await response.text(), body, JSON.stringify(headers));
      assertEquals(response.headers.get("etag"), tag);
    }
  },
);

siteTest("HEAD is GET without its body", async ({ get, feed }) => {
  const response = await get(FEED, { range: "bytes=0-1" }, "HEAD");
  assertEquals([response.status, response.body], [200, null]);
  assertEquals(response.headers.get("content-length"), String(feed.length));
});

siteTest(
  "rejects other methods with allow, and answers a preflight",
  async ({ get }) => {
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
      const response = await get(FEED, {}, method);
      assertEquals(response.status, 405);
      assertEquals(response.headers.get("allow"), "GET, HEAD, OPTIONS");
      assertEquals((await response.json()).code, "method_not_allowed");
    }
    const preflight = await get(FEED, {}, "OPTIONS");
    assertEquals(preflight.status, 204);
    assertEquals(
      preflight.headers.get("access-control-allow-headers"),
      "range, if-none-match, if-range",
    );
  },
);

siteTest("cancelling a body closes its file", async ({ get }) => {
  // The sanitizer of Deno.test reports a file that stays open.
  await (await get(FEED)).body!.cancel();
  const reader = (await get(FEED)).body!.getReader();
  await reader.read();
  await reader.cancel();
});

/** Exchanges names in another process until it is stopped. */
async function whileExchanging(
  script: string,
  work: () => Promise<void>,
): Promise<void> {
  await using child = new TestProcess(
    "python3",
    ["-c", `import os, sys\nprint("go", flush=True)\n${script}`],
  );
  await child.said("go");
  await work();
}

async function bodies(get: Served["get"], path: string, count: number) {
  const responses = await Promise.all(
    Array.from({ length: count }, () => get(path)),
  );
  return await Promise.all(responses.map((response) => response.text()));
}

siteTest(
  "never serves a private key while its link alternates with the feed",
  async ({ get, workspace, feed }) => {
    const secret = workspace.path("key.jwk");
    await Deno.writeTextFile(secret, "SECRET\n");
    const file = workspace.path(`acme${FEED}`);
    await Deno.rename(file, workspace.path("true.jsonl"));
    const [from, key, at] = [workspace.path("true.jsonl"), secret, file].map(
      (path) => JSON.stringify(path),
    );
    const script = `while True:
  os.link(${from}, ${at} + "1"); os.rename(${at} + "1", ${at})
  os.symlink(${key}, ${at} + "2"); os.rename(${at} + "2", ${at})`;
    await whileExchanging(script, async () => {
      const seen = new Set<string>();
      for (let n = 0; n < 250; n++) {
        for (const body of await bodies(get, FEED, 4)) seen.add(body);
      }
      assertEquals([...seen].filter((body) => body.includes("SECRET")), []);
      // The file itself is a document, also while its name is exchanged.
      assert(seen.has(feed));
    });
  },
);

siteTest(
  "never serves another folder while a link to it alternates with the folder",
  async ({ get, workspace }) => {
    await Deno.mkdir(workspace.path("others"));
    await Deno.writeTextFile(workspace.path("others/events.jsonl"), "SECRET\n");
    const folder = workspace.path("acme/.well-known/sig");
    await Deno.symlink(workspace.path("others"), `${folder}-link`);
    const at = JSON.stringify(folder);
    const script = `while True:
  os.rename(${at}, ${at} + "-true"); os.rename(${at} + "-link", ${at})
  os.rename(${at}, ${at} + "-link"); os.rename(${at} + "-true", ${at})`;
    await whileExchanging(script, async () => {
      const seen = new Set(await bodies(get, FEED, 200));
      assertEquals([...seen].filter((body) => body.includes("SECRET")), []);
    });
  },
);

siteTest(
  "answers 404 for a FIFO without waiting for a writer",
  async ({ get, workspace }) => {
    const file = workspace.path(`acme${FEED}`);
    await Deno.remove(file);
    await new Deno.Command("mkfifo", { args: [file] }).output();
    await assertNotFound(await get(FEED));
  },
);

siteTest(
  "answers 503, not 404, if a document can't be opened",
  async ({ workspace }) => {
    // An absent did.json would let every key of the key set sign.
    const program = `
    import { createIssuerSite } from "${
      import.meta.resolve("./issuer_site.ts")
    }";
    const handler = createIssuerSite(Deno.args[0]);
    const get = async (name) => {
      const url = "http://127.0.0.1/.well-known/" + name;
      const response = await handler(new Request(url));
      const body = await response.text();
      const { code } = response.ok ? {} : JSON.parse(body);
      return [name, response.status, code];
    };
    await get("did.json");
    const files = [];
    try {
      for (;;) files.push(Deno.openSync("/dev/null"));
    } catch { /* No free file descriptor is left. */ }
    const names = ["did.json", "sig/events.jsonl"];
    console.log(JSON.stringify(await Promise.all(names.map(get))));`;
    const script = workspace.path("site.mjs");
    await Deno.writeTextFile(script, program);
    const stdout = await runWell("sh", [
      ...["-c", 'ulimit -n 100; exec "$@"', "sh"],
      ...[Deno.execPath(), "run", "--quiet", "--allow-read", "--no-prompt"],
      ...["--config", new URL("deno.json", ROOT).pathname],
      ...[script, workspace.path("acme")],
    ]);
    assertEquals(JSON.parse(stdout), [
      ["did.json", 503, "store_unavailable"],
      ["sig/events.jsonl", 503, "store_unavailable"],
    ]);
  },
);

siteTest(
  "never serves a private key, under any name",
  async ({ get, workspace }) => {
    const key = { kty: "OKP", crv: "Ed25519", x: "x", d: "SECRET" };
    const secret = workspace.path("key.jwk");
    for (const value of [key, { keys: [{ kty: "OKP" }, key] }]) {
      await Deno.writeTextFile(secret, JSON.stringify(value, null, 2));
      for (const path of ["/.well-known/jwks.json", FEED]) {
        const file = workspace.path(`acme${path}`);
        await Deno.remove(file);
        await Deno.link(secret, file);
        await assertNotFound(await get(path));
      }
    }
  },
);
