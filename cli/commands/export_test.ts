import { assertEquals, assertStringIncludes } from "@std/assert";
import { issuerTest as test, withIssuer } from "../testdata/workspace.ts";

// promise: Text that would change a configuration's meaning is refused.

const KINDS = ["nginx", "caddy", "deno-deploy", "static"] as const;

test("export prints each kind as text or JSON, or writes it to a new readable file", async (workspace) => {
  for (const kind of KINDS) {
    const words = `export ${kind} --dir $D/acme`;
    const text = await workspace.ok(words);
    assertStringIncludes(text, "did:web:acme.example");
    assertEquals(await workspace.json(words), { kind, text });
    const file = `${words} --out $D/${kind}`;
    assertEquals(await workspace.ok(file), `Wrote $D/${kind}\n`);
    const written = await workspace.read(kind);
    assertEquals(written.replaceAll(workspace.dir, "$D"), text);
    assertEquals(await workspace.mode(kind) & 0o444, 0o444);
    await workspace.refused(file, "exists already");
  }
});

test("export refuses paths with special characters of the configuration format", async (workspace) => {
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
      await workspace.refused(
        ["export", kind, "--dir", "$D/acme", "--root", odd],
        "has characters that a configuration would read in another way",
      );
    }
  }
  await workspace.refused(
    "export nginx --dir $D/acme --certificate /c.pem --certificate-key /k;.pem",
    `Cannot export: the certificate's key "/k;.pem" has characters`,
  );
  // A string literal can hold any text.
  const program = 'export deno-deploy --dir $D/acme --root a"+`${x}`';
  assertStringIncludes(await workspace.ok(program), '"/a\\"+`${x}`"');
});

Deno.test("export refuses metadata with URIs that it can't serve", async (t) => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["events_uri", "https://acme.example/.well-known/a;b", "the path"],
    ["events_uri", "https://acme.example/.well-known/a%22b", "the path"],
    ["events_uri", "https://acme.example/.well-known/{x}", "the path"],
    ["events_uri", "https://acme.example/.well-known/.sig/a", "the path"],
    ["jwks_uri", "https://acme.example/keys.json", "the path"],
    ["jwks_uri", "https://evil.example/.well-known/jwks.json", "lie elsewhere"],
    // Feed and key set in the same place, but on another host.
    ["events_uri", "https://evil.example/.well-known/all", "lie elsewhere"],
    ["jwks_uri", "http://acme.example/.well-known/jwks.json", "lie elsewhere"],
  ];
  for (const [name, url, why] of cases) {
    await t.step(url, () =>
      withIssuer(async (workspace) => {
        const file = "acme/.well-known/sig.json";
        const metadata = JSON.parse(await workspace.read(file));
        const { pathname } = new URL(url);
        const place = `acme${decodeURIComponent(pathname)}`;
        const from = new URL(metadata[name]).pathname;
        await workspace.write(place, await workspace.read(`acme${from}`));
        metadata[name] = url;
        if (pathname === "/.well-known/all") {
          metadata.jwks_uri = "https://evil.example/.well-known/jwks.json";
        }
        await workspace.write(file, JSON.stringify(metadata));
        for (const kind of KINDS) {
          await workspace.refused(`export ${kind} --dir $D/acme`, [
            "invalid_metadata",
            why,
          ]);
        }
      }));
  }
});

test("export refuses a private key in the key set, and flags that do not fit the kind", async (workspace) => {
  for (
    const [words, says] of [
      ["nginx", "--dir is required"],
      ["static --dir $D/acme --root /srv", "--root does not apply to static"],
      [
        "nginx --dir $D/acme --certificate /c.pem",
        "--certificate and --certificate-key go together",
      ],
      ["nginx --dir $D/acme --root srv", "--root must begin with /"],
      [
        "deno-deploy --dir $D/acme --root /srv",
        "relative to the program",
      ],
      ["apache --dir $D/acme", "nginx"],
    ] as const
  ) await workspace.refused(`export ${words}`, says);
  const file = "acme/.well-known/jwks.json";
  await workspace.edit(file, ({ keys: [key] }) => key.d = key.x);
  await workspace.refused(
    "export static --dir $D/acme",
    "private_key_in_jwks",
  );
});
