import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  inWorkspace,
  withIssuer,
  type Workspace,
} from "../testdata/workspace.ts";

const KINDS = ["nginx", "caddy", "deno-deploy", "static"] as const;

async function refused(
  workspace: Workspace,
  words: readonly string[],
): Promise<string> {
  const { code, stdout, stderr } = await workspace.sig(words);
  assertEquals([code, stdout], [2, ""]);
  return stderr;
}

Deno.test("each kind is printed, as text, as JSON, or into a new file that others may read", async (t) => {
  await withIssuer(async (workspace) => {
    for (const kind of KINDS) {
      await t.step(kind, async () => {
        const words = ["export", kind, "--dir", "$D/acme"];
        const { code, stdout } = await workspace.sig(words);
        assertEquals(code, 0);
        assertStringIncludes(stdout, "did:web:acme.example");
        const json = await workspace.sig([...words, "--format", "json"]);
        assertEquals(JSON.parse(json.stdout), { kind, text: stdout });
        const file = [...words, "--out", `$D/${kind}`];
        const wrote = await workspace.sig(file);
        assertEquals([wrote.code, wrote.stdout], [0, `Wrote $D/${kind}\n`]);
        const path = workspace.path(kind);
        const text = await Deno.readTextFile(path);
        assertEquals(text.replaceAll(workspace.dir, "$D"), stdout);
        assertEquals((await Deno.stat(path)).mode! & 0o444, 0o444);
        assertStringIncludes(await refused(workspace, file), "exists already");
      });
    }
  });
});

Deno.test("a path on the server that a configuration would read in another way is refused", async (t) => {
  await withIssuer(async (workspace) => {
    for (
      const odd of [
        '/srv/a"; return 200 "x',
        "/srv/$host",
        "/srv/{env.HOME}",
        "/srv/a\\",
        "/srv/a'b",
        "/srv/a`b",
        "/srv/a\nb",
        "/srv/a;b",
        "/srv/a#b",
        "/srv/a\u202eb",
      ]
    ) {
      for (const kind of ["nginx", "caddy"]) {
        const words = ["export", kind, "--dir", "$D/acme", "--root", odd];
        await t.step(JSON.stringify([kind, odd]), async () => {
          assertStringIncludes(
            await refused(workspace, words),
            "has characters that a configuration would read in another way",
          );
        });
      }
    }
    const files = ["--certificate", "/c.pem", "--certificate-key", "/k;.pem"];
    assertStringIncludes(
      await refused(workspace, [
        "export",
        "nginx",
        "--dir",
        "$D/acme",
        ...files,
      ]),
      `Cannot export: the certificate's key "/k;.pem" has characters`,
    );
    // A program has a way to write any text.
    const { code, stdout } = await workspace.sig([
      ...["export", "deno-deploy", "--dir", "$D/acme"],
      ...["--root", 'a"+`${x}`'],
    ]);
    assertEquals(code, 0);
    assertStringIncludes(stdout, '"/a\\"+`${x}`"');
  });
});

Deno.test("places in the metadata that no configuration should name are refused", async (t) => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["events_uri", "https://acme.example/.well-known/a;b", "the path"],
    ["events_uri", "https://acme.example/.well-known/a%22b", "the path"],
    ["events_uri", "https://acme.example/.well-known/{x}", "the path"],
    ["events_uri", "https://acme.example/.well-known/.sig/a", "the path"],
    ["jwks_uri", "https://acme.example/keys.json", "the path"],
    ["jwks_uri", "https://evil.example/.well-known/jwks.json", "lie elsewhere"],
    // The key set too: both of them at one place, which is another's.
    ["events_uri", "https://evil.example/.well-known/all", "lie elsewhere"],
    ["jwks_uri", "http://acme.example/.well-known/jwks.json", "lie elsewhere"],
  ];
  for (const [name, url, why] of cases) {
    await t.step(url, () =>
      withIssuer(async (workspace) => {
        const file = workspace.path("acme/.well-known/sig.json");
        const metadata = JSON.parse(await Deno.readTextFile(file));
        const { pathname } = new URL(url);
        const place = workspace.path(`acme${decodeURIComponent(pathname)}`);
        const from = new URL(metadata[name]).pathname;
        await Deno.mkdir(place.slice(0, place.lastIndexOf("/")), {
          recursive: true,
        });
        if (pathname !== from) {
          await Deno.copyFile(workspace.path(`acme${from}`), place);
        }
        metadata[name] = url;
        if (pathname === "/.well-known/all") {
          metadata.jwks_uri = "https://evil.example/.well-known/jwks.json";
        }
        await Deno.writeTextFile(file, JSON.stringify(metadata));
        for (const kind of KINDS) {
          const words = ["export", kind, "--dir", "$D/acme"];
          const said = await refused(workspace, words);
          assertStringIncludes(said, "invalid_metadata");
          assertStringIncludes(said, why);
        }
      }));
  }
});

Deno.test("a private key among the public ones is refused before anybody serves it", () =>
  withIssuer(async (workspace) => {
    const file = workspace.path("acme/.well-known/jwks.json");
    const jwks = JSON.parse(await Deno.readTextFile(file));
    jwks.keys[0].d = jwks.keys[0].x;
    await Deno.writeTextFile(file, JSON.stringify(jwks));
    const words = ["export", "static", "--dir", "$D/acme"];
    assertStringIncludes(
      await refused(workspace, words),
      "private_key_in_jwks",
    );
  }));

Deno.test("flags that mean nothing to a kind, or not by themselves, are refused", () =>
  withIssuer(async (workspace) => {
    const say = (...words: string[]) =>
      refused(workspace, ["export", ...words]);
    assertStringIncludes(await say("nginx"), "--dir is required");
    assertStringIncludes(
      await say("static", "--dir", "$D/acme", "--root", "/srv"),
      "--root means nothing to static",
    );
    assertStringIncludes(
      await say("nginx", "--dir", "$D/acme", "--certificate", "/c.pem"),
      "--certificate and --certificate-key go together",
    );
    assertStringIncludes(
      await say("nginx", "--dir", "$D/acme", "--root", "srv"),
      "--root must begin with /",
    );
    assertStringIncludes(
      await say("deno-deploy", "--dir", "$D/acme", "--root", "/srv"),
      "relative to the program",
    );
    assertStringIncludes(await say("apache", "--dir", "$D/acme"), "nginx");
  }));

Deno.test("https comes with its redirect, its own port only; http stays where the host is", async (t) => {
  const cases: readonly (readonly [string, boolean, RegExp])[] = [
    ["acme.example", true, /listen 443 ssl;/],
    ["acme.example:8443", false, /listen 8443 ssl;/],
    ["127.0.0.1:8080", false, /listen 127\.0\.0\.1:8080;/],
    [
      "localhost:8080",
      false,
      /listen 127\.0\.0\.1:8080;\n {2}listen \[::1\]:8080;/,
    ],
  ];
  for (const [host, redirects, listen] of cases) {
    await t.step(host, () =>
      inWorkspace(async (workspace) => {
        const init = ["init", host, "--dir", "$D/a", "--allow-insecure"];
        assertEquals((await workspace.sig(init)).code, 0);
        const { stdout } = await workspace.sig([
          "export",
          "nginx",
          "--dir",
          "$D/a",
        ]);
        assertEquals(stdout.includes("return 301"), redirects);
        assert(listen.test(stdout), stdout);
      }));
  }
});

Deno.test("a static host gets type and headers of each document, in its own form", () =>
  withIssuer(async (workspace) => {
    const { stdout } = await workspace.sig([
      "export",
      "static",
      "--dir",
      "$D/acme",
    ]);
    const rules = new Map<string, string[]>();
    let path = "";
    for (const line of stdout.split("\n")) {
      if (line === "" || line.startsWith("#")) continue;
      if (line.startsWith("/")) rules.set(path = line, []);
      else rules.get(path)!.push(line);
    }
    const common = [
      "  access-control-allow-origin: *",
      "  access-control-expose-headers: etag, content-range, accept-ranges",
      "  x-content-type-options: nosniff",
      "  cache-control: no-cache, no-transform",
    ];
    const rule = (type: string) => [`  content-type: ${type}`, ...common];
    assertEquals([...rules], [
      ["/.well-known/did.json", rule("application/did+json")],
      ["/.well-known/jwks.json", rule("application/json")],
      ["/.well-known/sig.json", rule("application/json")],
      ["/.well-known/sig/events.jsonl", rule("application/x-ndjson")],
    ]);
  }));

Deno.test("init names export as the way to serve", () =>
  inWorkspace(async (workspace) => {
    const { stdout } = await workspace.sig([
      "init",
      "a.example",
      "--dir",
      "$D/a",
    ]);
    assertStringIncludes(
      stdout,
      "Serve: sig export nginx|caddy|deno-deploy|static --dir $D/a\n",
    );
  }));
