import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { createIssuerSite } from "./issuer_site.ts";
import { withIssuer, type Workspace } from "../testdata/workspace.ts";
import { ROOT, runWell, TestProcess } from "../../tests/kit/process.ts";

const FEED = "/.well-known/sig/events.jsonl";

interface Served {
  readonly workspace: Workspace;
  /** The feed's bytes on the disk. */
  readonly feed: string;
  get(path: string, headers?: HeadersInit, method?: string): Promise<Response>;
}

async function serving(work: (served: Served) => Promise<void>): Promise<void> {
  await withIssuer(async (workspace) => {
    const handler = createIssuerSite(workspace.path("acme"));
    await work({
      workspace,
      feed: await Deno.readTextFile(workspace.path(`acme${FEED}`)),
      get: (path, headers = {}, method = "GET") =>
        handler(new Request(`http://127.0.0.1${path}`, { headers, method })),
    });
  });
}

Deno.test("a malformed Host is 400, not another document or a fault", async () => {
  await serving(async ({ get }) => {
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
});

Deno.test("the four documents are served with their media types", async () => {
  await serving(async ({ get, workspace }) => {
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
  });
});

Deno.test("files of proofs are served once the metadata names them, and never change", async () => {
  await serving(async ({ get, workspace }) => {
    const folder = workspace.path("acme/.well-known/sig");
    const checkpoint = "/.well-known/sig/checkpoint";
    await Deno.writeTextFile(`${folder}/checkpoint`, "not yet");
    assertEquals((await get(checkpoint)).status, 404);
    await Deno.remove(`${folder}/checkpoint`);
    const words = ["checkpoint", "--dir", "$D/acme", "--init"];
    assertEquals((await workspace.sig(words)).code, 0);
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
  });
});

Deno.test("nothing else is served, whatever the path", async (t) => {
  await serving(async ({ get, workspace }) => {
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
      await t.step(path, async () => {
        const response = await get(path);
        assertEquals(response.status, 404);
        assertEquals((await response.json()).code, "not_found");
      });
    }
  });
});

Deno.test("a document that a symbolic link takes out of the directory is not there", async () => {
  await serving(async ({ get, workspace }) => {
    const jwks = workspace.path("acme/.well-known/jwks.json");
    await Deno.rename(jwks, workspace.path("outside.json"));
    await Deno.symlink(workspace.path("outside.json"), jwks);
    const response = await get("/.well-known/jwks.json");
    assertEquals(response.status, 404);
    await response.body?.cancel();
  });
});

Deno.test("metadata can't name a file outside, or of our private folder", async () => {
  await serving(async ({ get, workspace }) => {
    const file = workspace.path("acme/.well-known/sig.json");
    const metadata = JSON.parse(await Deno.readTextFile(file));
    await Deno.writeTextFile(workspace.path("secret.json"), "{}");
    for (const path of ["/.sig/lock", "/..%2fsecret.json"]) {
      const jwks_uri = `https://acme.example${path}`;
      await Deno.writeTextFile(file, JSON.stringify({ ...metadata, jwks_uri }));
      const response = await get(path);
      assertEquals(response.status, 404);
      await response.body?.cancel();
    }
  });
});

Deno.test("documents are where the metadata says", async () => {
  await serving(async ({ get, workspace, feed }) => {
    const place = workspace.path("acme/.well-known");
    const metadata = JSON.parse(await Deno.readTextFile(`${place}/sig.json`));
    const events_uri = "https://acme.example/.well-known/sig/v2.jsonl";
    await Deno.writeTextFile(
      `${place}/sig.json`,
      JSON.stringify({ ...metadata, events_uri }),
    );
    await Deno.rename(`${place}/sig/events.jsonl`, `${place}/sig/v2.jsonl`);
    assertEquals(await (await get("/.well-known/sig/v2.jsonl")).text(), feed);
    const old = await get(FEED);
    assertEquals(old.status, 404);
    await old.body?.cancel();
  });
});

Deno.test("half a line is never seen", async () => {
  await serving(async ({ get, workspace, feed }) => {
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
  });
});

Deno.test("an empty feed is an empty document", async () => {
  await serving(async ({ get, workspace }) => {
    await Deno.writeTextFile(workspace.path(`acme${FEED}`), "");
    const response = await get(FEED);
    assertEquals([response.status, await response.text()], [200, ""]);
    assertEquals((await get(FEED, { range: "bytes=0-" })).status, 416);
  });
});

Deno.test("a strong entity tag answers 304 until the bytes change", async () => {
  await serving(async ({ get, workspace }) => {
    const file = workspace.path("acme/.well-known/jwks.json");
    const path = "/.well-known/jwks.json";
    const tag = (await get(path, {}, "HEAD")).headers.get("etag")!;
    assert(/^"[^"]+"$/.test(tag));
    for (const value of [tag, `W/${tag}`, `"x", ${tag}`, "*"]) {
      const response = await get(path, { "if-none-match": value });
      assertEquals([response.status, response.body], [304, null]);
      assertEquals(response.headers.get("etag"), tag);
    }
    const text = await Deno.readTextFile(file);
    await Deno.writeTextFile(file, text.replace("orgsign-1", "orgsign-2"));
    const changed = await get(path, { "if-none-match": tag });
    assertEquals(changed.status, 200);
    await changed.body?.cancel();
  });
});

Deno.test("one range is a part, several or malformed ones are the whole", async (t) => {
  await serving(async ({ get, feed }) => {
    const size = feed.length;
    const ranges: readonly (readonly [string, number, number, number])[] = [
      ["bytes=0-0", 206, 0, 1],
      ["bytes=5-9", 206, 5, 10],
      ["bytes=5-", 206, 5, size],
      ["bytes=-7", 206, size - 7, size],
      [`bytes=-${size + 1}`, 206, 0, size],
      [`bytes=${size - 1}-${size + 9}`, 206, size - 1, size],
      ["bytes=9-5", 200, 0, size],
      ["bytes=0-1,3-4", 200, 0, size],
      ["bytes=-", 200, 0, size],
      ["bytes=a-b", 200, 0, size],
      ["lines=0-1", 200, 0, size],
    ];
    for (const [range, status, from, to] of ranges) {
      await t.step(range, async () => {
        const response = await get(FEED, { range });
        assertEquals(response.status, status);
        assertEquals(await response.text(), feed.slice(from, to));
        assertEquals(
          response.headers.get("content-range"),
          status === 206 ? `bytes ${from}-${to - 1}/${size}` : null,
        );
      });
    }
    for (const range of [`bytes=${size}-`, "bytes=-0"]) {
      const response = await get(FEED, { range });
      assertEquals([response.status, response.body], [416, null]);
      assertEquals(response.headers.get("content-range"), `bytes */${size}`);
    }
  });
});

Deno.test("a range of other bytes than those known is not continued", async () => {
  await serving(async ({ get, feed }) => {
    const tag = (await get(FEED, {}, "HEAD")).headers.get("etag")!;
    const range = "bytes=5-";
    const same = await get(FEED, { range, "if-range": tag });
    assertEquals([same.status, await same.text()], [206, feed.slice(5)]);
    const others = ['"other"', `W/${tag}`, "Thu, 01 Jan 2026 00:00:00 GMT"];
    for (const other of others) {
      const whole = await get(FEED, { range, "if-range": other });
      assertEquals([whole.status, await whole.text()], [200, feed]);
    }
  });
});

Deno.test("HEAD is GET without its body", async () => {
  await serving(async ({ get, feed }) => {
    const response = await get(FEED, { range: "bytes=0-1" }, "HEAD");
    assertEquals([response.status, response.body], [200, null]);
    assertEquals(response.headers.get("content-length"), String(feed.length));
  });
});

Deno.test("other methods are refused and named, a preflight is answered", async () => {
  await serving(async ({ get }) => {
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
  });
});

Deno.test("a body that is given up closes its file", async () => {
  await serving(async ({ get }) => {
    // The sanitizer finds a file that stays open.
    await (await get(FEED)).body!.cancel();
    const reader = (await get(FEED)).body!.getReader();
    await reader.read();
    await reader.cancel();
  });
});

/** Exchanges names in another process, until it is told to stop. */
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

Deno.test("a feed that alternates with a link to a private key never gives the key", async () => {
  await serving(async ({ get, workspace, feed }) => {
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
      for (let n = 0; n < 500; n++) {
        for (const body of await bodies(get, FEED, 4)) seen.add(body);
      }
      assertEquals([...seen].filter((body) => body.includes("SECRET")), []);
      // The file itself is a document, also while its name is contested.
      assert(seen.has(feed));
    });
  });
});

Deno.test("a folder that alternates with a link to another never gives the other's files", async () => {
  await serving(async ({ get, workspace }) => {
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
  });
});

Deno.test("a document that is a FIFO is not there, and holds nobody up", async () => {
  await serving(async ({ get, workspace }) => {
    const file = workspace.path(`acme${FEED}`);
    await Deno.remove(file);
    await new Deno.Command("mkfifo", { args: [file] }).output();
    const response = await get(FEED);
    assertEquals(response.status, 404);
    await response.body?.cancel();
  });
});

Deno.test("a document that can't be opened is 503, never absent", async () => {
  await serving(async ({ workspace }) => {
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
      } catch { /* No descriptor is left. */ }
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
  });
});

Deno.test("a private key is not served, under any name", async (t) => {
  await serving(async ({ get, workspace }) => {
    const key = { kty: "OKP", crv: "Ed25519", x: "x", d: "SECRET" };
    const secret = workspace.path("key.jwk");
    for (const value of [key, { keys: [{ kty: "OKP" }, key] }]) {
      await Deno.writeTextFile(secret, JSON.stringify(value, null, 2));
      for (const path of ["/.well-known/jwks.json", FEED]) {
        await t.step(`${path} ${Object.keys(value)[0]}`, async () => {
          const file = workspace.path(`acme${path}`);
          await Deno.remove(file);
          await Deno.link(secret, file);
          const response = await get(path);
          assertEquals(response.status, 404);
          assert(!(await response.text()).includes("SECRET"));
        });
      }
    }
  });
});

Deno.test("If-Match is answered 412 unless it names the document's tag, and before all else", async (t) => {
  await serving(async ({ get, feed }) => {
    const tag = (await get(FEED, {}, "HEAD")).headers.get("etag")!;
    const cases: readonly (readonly [string, number])[] = [
      [tag, 200],
      ["*", 200],
      [`"x", ${tag}`, 200],
      ['"x"', 412],
      // A strong comparison: a weak tag is never the same.
      [`W/${tag}`, 412],
    ];
    for (const [value, status] of cases) {
      await t.step(value, async () => {
        const response = await get(FEED, { "if-match": value });
        assertEquals(response.status, status);
        assertEquals(await response.text(), status === 200 ? feed : "");
        assertEquals(response.headers.get("etag"), tag);
      });
    }
    const both = { "if-match": '"x"', "if-none-match": tag, range: "bytes=0-" };
    assertEquals((await get(FEED, both)).status, 412);
    // Without Last-Modified a condition on times has no meaning.
    const old = { "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" };
    const response = await get(FEED, old);
    assertEquals([response.status, await response.text()], [200, feed]);
  });
});
