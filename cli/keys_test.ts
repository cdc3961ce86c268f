import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { apiProgram } from "@sig/api/program";
import { webProgram } from "@sig/web/program";
import { loadCommands } from "./commands.ts";
import { inWorkspace, withIssuer } from "./testdata/workspace.ts";

const COMMANDS = await loadCommands();

const CHALLENGE = {
  challenge_id: "c1",
  audience: "https://shop.example",
  nonce: "n1",
  scopes: ["profile", "email"],
  subject: null,
  issued_at: "2026-01-01T00:00:00Z",
  expires_at: "2026-01-01T00:05:00Z",
};

async function mode(path: string): Promise<number> {
  return (await Deno.stat(path)).mode! & 0o777;
}

Deno.test("private keys lie in files and folders of the owner alone", async () => {
  await withIssuer(async (workspace) => {
    assertEquals(await mode(workspace.path("keys")), 0o700);
    assertEquals(await mode(workspace.path("keys/acme.example")), 0o700);
    const file = workspace.path("keys/acme.example/orgsign-1.jwk");
    assertEquals(await mode(file), 0o600);
  });
});

Deno.test("a private key is in no output of any command but generate", async () => {
  await withIssuer(async (workspace) => {
    const file = workspace.path("keys/acme.example/orgsign-1.jwk");
    const { d } = JSON.parse(await Deno.readTextFile(file));
    await Deno.writeTextFile(
      workspace.path("broken.jwk"),
      JSON.stringify({ kty: "OKP", crv: "Ed25519", x: "AAAA", d }),
    );
    await Deno.writeTextFile(workspace.path("text.jwk"), `{"d":"${d}",}`);
    const stdin = JSON.stringify(CHALLENGE);
    const append =
      "upsert --dir $D/acme --subject did:web:a.example --type other";
    const commands = [
      "verify $D/acme",
      "dump-state $D/acme",
      "log $D/acme",
      "serve $D/nowhere",
      `key public ${file}`,
      `key did ${file}`,
      "key did $D/broken.jwk",
      "key public $D/text.jwk",
      `key generate --out ${file}`,
      `attest --challenge - --key ${file}`,
      `accept - --key ${file} --sig $D/acme`,
      "accept - --key $D/broken.jwk --sig $D/acme",
      "invite --dir $D/acme --type other",
      `invite --dir $D/acme --type other --key ${file}`,
      "attest --challenge - --key $D/broken.jwk",
      `${append} --key ${file}`,
      `${append} --key $D/broken.jwk`,
      `${append} --key $D/text.jwk`,
      `${append} --seed-hex ${d}`,
      `${append} --seed-hex=${d}`,
      `${append} --key ${JSON.stringify({ kty: "OKP", d })}`,
      `attest --challenge - --key ${JSON.stringify({ kty: "OKP", d })}`,
      "rotate-key --dir $D/acme --kid orgsign-1",
      `init other.example --dir $D/other --key ${file}`,
      `verify ${file}`,
    ];
    for (const command of commands) {
      for (const format of ["text", "json"]) {
        const words = [...command.split(" "), "--format", format];
        const { stdout, stderr } = await workspace.sig(words, { stdin });
        assert(!(stdout + stderr).includes(d), command);
      }
    }
  });
});

Deno.test("key generate writes a private file once, and never over another", async () => {
  await inWorkspace(async (workspace) => {
    const words = ["key", "generate", "--out", "$D/a.jwk", "--kid", "me"];
    const made = await workspace.sig(words);
    assertEquals([made.code, made.stderr], [0, ""]);
    assertStringIncludes(
      made.stdout,
      "Wrote private key $D/a.jwk (did:key:z6Mk",
    );
    assertEquals(await mode(workspace.path("a.jwk")), 0o600);
    const before = await workspace.snapshot();
    const again = await workspace.sig(words);
    assertEquals([again.code, again.stdout], [2, ""]);
    assertEquals(
      again.stderr,
      'error: write_failed: Cannot write "$D/a.jwk": it exists already, and is not overwritten\n' +
        "  hint: Choose another name.\n",
    );
    assertEquals(await workspace.snapshot(), before);
  });
});

Deno.test("public and did show the same key, from private and public files", async () => {
  await inWorkspace(async (workspace) => {
    await workspace.sig(["key", "generate", "--out", "$D/a.jwk"]);
    const shown = await workspace.sig(["key", "public", "$D/a.jwk"]);
    const names = ["kty", "crv", "x", "kid", "use", "alg"];
    assertEquals(Object.keys(JSON.parse(shown.stdout)), names);
    await Deno.writeTextFile(workspace.path("public.jwk"), shown.stdout);
    const dids = [
      await workspace.sig(["key", "did", "$D/a.jwk"]),
      await workspace.sig(["key", "did", "$D/public.jwk"]),
      await workspace.sig(["key", "did", "-"], { stdin: shown.stdout }),
    ].map(({ stdout }) => stdout);
    assertEquals(new Set(dids).size, 1);
    const json = await workspace.sig(
      ["key", "did", "$D/a.jwk", "--format", "json"],
    );
    assertEquals(JSON.parse(json.stdout), { did: dids[0]!.trim() });
  });
});

Deno.test("a private key whose public part is another's is refused", async () => {
  await inWorkspace(async (workspace) => {
    const read = async (name: string) => {
      await workspace.sig(["key", "generate", "--out", `$D/${name}`]);
      return JSON.parse(await Deno.readTextFile(workspace.path(name)));
    };
    const [a, b] = [await read("a.jwk"), await read("b.jwk")];
    const mixed = JSON.stringify({ ...a, x: b.x });
    await Deno.writeTextFile(workspace.path("mixed.jwk"), mixed);
    for (const action of ["public", "did"]) {
      const { code, stdout, stderr } = await workspace.sig(
        ["key", action, "$D/mixed.jwk"],
      );
      assertEquals([code, stdout], [2, ""]);
      assertStringIncludes(stderr, "error: invalid_key");
    }
  });
});

Deno.test("the words of sig key are those of its action", async (t) => {
  const wrong: readonly (readonly [string, string])[] = [
    ["key", "sig key needs one of generate, public, did"],
    ["key show x.jwk", 'there is no command "key show"'],
    ["key generate x.jwk", 'unexpected argument: "x.jwk"'],
    ["key public", "<file> is missing: a JWK file"],
    ["key did $D/none.jwk", "source_not_found"],
    ["key did $D", "source_not_found"],
    ["key did x.jwk --kid k", 'there is no flag "--kid"'],
    [`key generate --kid ${"k".repeat(257)}`, "at flag --kid"],
  ];
  await inWorkspace(async (workspace) => {
    for (const [args, message] of wrong) {
      await t.step(args.slice(0, 40), async () => {
        const ran = await workspace.sig(args.split(" "));
        assertEquals([ran.code, ran.stdout], [2, ""]);
        assertStringIncludes(ran.stderr, message);
      });
    }
  });
});

Deno.test("--key and SIG_KEY_FILE name the private key that signs", async () => {
  await withIssuer(async (workspace) => {
    const append = [
      ...["upsert", "--dir", "$D/acme", "--subject", "did:web:c.example"],
      ...["--type", "other", "--relationship-id", "r9"],
    ];
    const stored = workspace.path("keys/acme.example/orgsign-1.jwk");
    const { kid: _, ...unnamed } = JSON.parse(await Deno.readTextFile(stored));
    const file = workspace.path("unnamed.jwk");
    await Deno.writeTextFile(file, JSON.stringify(unnamed), { mode: 0o600 });
    const env = { SIG_KEYS_DIR: workspace.path("empty") };

    const none = await workspace.sig(append, { env });
    assertEquals(none.code, 2);
    assertStringIncludes(none.stderr, "error: signing_key_not_found");
    assertStringIncludes(none.stderr, "next: name the key with --key");

    const given = await workspace.sig([...append, "--key", "$D/unnamed.jwk"], {
      env,
    });
    assertEquals([given.code, given.stderr], [0, ""]);
    const named = await workspace.sig(append, {
      env: { ...env, SIG_KEY_FILE: stored },
    });
    assertEquals([named.code, named.stderr], [0, ""]);
    assertEquals((await workspace.sig(["verify", "$D/acme"])).code, 0);

    await Deno.chmod(file, 0o644);
    const open = await workspace.sig([...append, "--key", "$D/unnamed.jwk"]);
    assertEquals(open.code, 0);
    assertStringIncludes(open.stderr, "is open to others (mode 644)");
  });
});

Deno.test("init takes a given key, under its own kid or the one asked for", async () => {
  await inWorkspace(async (workspace) => {
    await workspace.sig(["key", "generate", "--out", "$D/a.jwk", "--kid", "a"]);
    const init = ["init", "acme.example", "--key", "$D/a.jwk"];
    const own = await workspace.sig([...init, "--dir", "$D/one"]);
    assertStringIncludes(own.stdout, "(kid a)\nPrivate key: $D/a.jwk\n");
    const asked = await workspace.sig(
      [...init, "--dir", "$D/two", "--kid", "b", "--format", "json"],
    );
    assertEquals(JSON.parse(asked.stdout), {
      issuer: "did:web:acme.example",
      dir: "$D/two",
      kid: "b",
      key_file: "$D/a.jwk",
    });
  });
});

Deno.test("init of a host whose key is in the store asks for --reuse-key, and makes nothing", async () => {
  await inWorkspace(async (workspace) => {
    const init = (dir: string, ...more: string[]) =>
      workspace.sig(["init", "acme.example", "--dir", `$D/${dir}`, ...more]);
    assertEquals((await init("one")).code, 0);
    const before = await workspace.snapshot();
    const refused = await init("two");
    assertEquals([refused.code, refused.stdout], [2, ""]);
    assertStringIncludes(
      refused.stderr,
      'kid_exists: Cannot make issuer: the key store has a key "orgsign-1" of "acme.example" already',
    );
    assertStringIncludes(refused.stderr, "--reuse-key");
    assertEquals(await workspace.snapshot(), before);
    assertEquals((await init("two", "--reuse-key")).code, 0);
  });
});

Deno.test("the key store is SIG_KEYS_DIR, XDG_DATA_HOME or HOME, in this order", async () => {
  await inWorkspace(async (workspace) => {
    const variables: readonly (readonly [string, string])[] = [
      ["HOME", ".local/share/sig/keys"],
      ["XDG_DATA_HOME", "sig/keys"],
      ["SIG_KEYS_DIR", ""],
    ];
    const env: { [name: string]: string | undefined } = {
      SIG_KEYS_DIR: undefined,
      XDG_DATA_HOME: undefined,
    };
    for (const [name, below] of variables) {
      env[name] = workspace.path(name);
      const { stdout } = await workspace.sig(
        ["init", "acme.example", "--dir", `$D/of-${name}`],
        { env },
      );
      const folder = below === "" ? `$D/${name}` : `$D/${name}/${below}`;
      assertStringIncludes(
        stdout,
        `Private key: ${folder}/acme.example/orgsign-1.jwk\n`,
      );
    }
  });
});

Deno.test("a relative HOME is refused for keys and for the pin store", async () => {
  await inWorkspace(async (workspace) => {
    const env = {
      ...{ SIG_KEYS_DIR: undefined, XDG_DATA_HOME: undefined },
      HOME: "home",
    };
    const before = await workspace.snapshot();
    const { code, stderr } = await workspace.sig(
      ["init", "acme.example", "--dir", "$D/acme", "--format", "json"],
      { env },
    );
    const problem = JSON.parse(stderr);
    assertEquals([code, problem.code], [2, "invalid_request"]);
    assertStringIncludes(
      problem.detail,
      'no folder for private keys: HOME is "home", which is not an absolute path',
    );
    const pins = await workspace.sig(["pin", "list"], { env });
    assertEquals(pins.code, 2);
    assertStringIncludes(pins.stderr, 'HOME is "home"');
    assertEquals(await workspace.snapshot(), before);
  });
});

Deno.test("attest says what it signs, and prints the attestation alone", async () => {
  await inWorkspace(async (workspace) => {
    await workspace.sig(["key", "generate", "--out", "$D/a.jwk"]);
    const { stdout: did } = await workspace.sig(["key", "did", "$D/a.jwk"]);
    const shown = { ...CHALLENGE, require: ["role=de\u202eploy"] };
    const stdin = JSON.stringify(shown);
    await Deno.writeTextFile(workspace.path("c.json"), stdin);
    for (const challenge of ["-", "$D/c.json"]) {
      const { code, stdout, stderr } = await workspace.sig(
        ["attest", "--challenge", challenge, "--key", "$D/a.jwk"],
        { stdin },
      );
      assertEquals([code, stderr], [
        0,
        `Signing in at  https://shop.example
as             ${did.trimEnd()}
granting       email profile
required       role=de\\u202eploy
valid until    2026-01-01T00:05:00Z
`,
      ]);
      const parts = stdout.trimEnd().split(".");
      assertEquals(parts.length, 3);
      const claims = JSON.parse(atob(parts[1]!));
      assertEquals([claims.aud, claims.nonce, claims.scope], [
        CHALLENGE.audience,
        CHALLENGE.nonce,
        "email profile",
      ]);
    }
    const json = await workspace.sig(
      ["attest", "--challenge=-", "--key", "$D/a.jwk", "--format=json"],
      { stdin: JSON.stringify(CHALLENGE) },
    );
    const { attestation, ...preview } = JSON.parse(json.stdout);
    assertEquals([json.stderr, attestation.split(".").length], ["", 3]);
    assertEquals(preview, {
      audience: "https://shop.example",
      subject: did.trimEnd(),
      scopes: ["email", "profile"],
      require: [],
      expires_at: "2026-01-01T00:05:00Z",
    });
  });
});

Deno.test("attest signs as a did:web only when it is told to", async () => {
  const did = "did:web:alice.example";
  const stdin = JSON.stringify({ ...CHALLENGE, subject: did });
  await inWorkspace(async (workspace) => {
    await workspace.sig(["key", "generate", "--out", "$D/a.jwk"]);
    const words = ["attest", "--challenge=-", "--key", "$D/a.jwk"];
    const asked = await workspace.sig(words, { stdin });
    assertEquals([asked.code, asked.stdout], [2, ""]);
    assertStringIncludes(
      asked.stderr,
      `error: subject_mismatch: Cannot sign attestation: the challenge is for "${did}", not "did:key:`,
    );
    assertStringIncludes(asked.stderr, "--subject");
    const told = await workspace.sig([...words, "--subject", did], { stdin });
    assertEquals(told.code, 0);
    assertStringIncludes(told.stderr, `as             ${did}\n`);
  });
});

Deno.test("a challenge that can't be answered is refused", async (t) => {
  const wrong: readonly (readonly [string, string])[] = [
    ["", "invalid_json"],
    ["[]", "invalid_field"],
    ['{"nonce":"a","nonce":"b"}', "invalid_json"],
    [JSON.stringify({ ...CHALLENGE, nonce: undefined }), "missing_field"],
    [
      JSON.stringify({
        ...CHALLENGE,
        issued_at: "2025-01-01T00:00:00Z",
        expires_at: "2025-01-01T00:05:00Z",
      }),
      "challenge_expired",
    ],
    [
      JSON.stringify({ ...CHALLENGE, expires_at: "2026-01-01T01:00:00Z" }),
      "invalid_field",
    ],
    [
      JSON.stringify({ ...CHALLENGE, message: "Log in to read the news" }),
      "invalid_field",
    ],
    [
      JSON.stringify({ ...CHALLENGE, subject: "did:key:z6Mkother" }),
      "subject_mismatch",
    ],
  ];
  await inWorkspace(async (workspace) => {
    await workspace.sig(["key", "generate", "--out", "$D/a.jwk"]);
    for (const [stdin, code] of wrong) {
      await t.step(`${code}: ${stdin.slice(0, 30)}`, async () => {
        const ran = await workspace.sig(
          ["attest", "--challenge", "-", "--key", "$D/a.jwk"],
          { stdin },
        );
        assertEquals([ran.code, ran.stdout], [2, ""]);
        assertStringIncludes(ran.stderr, `error: ${code}: `);
      });
    }
  });
});

Deno.test("key generate --format json names file, kid and did:key", async () => {
  await inWorkspace(async (workspace) => {
    const words = ["key", "generate", "--out", "$D/a.jwk", "--kid", "me"];
    const { stdout } = await workspace.sig([...words, "--format", "json"]);
    const { did } = JSON.parse(
      (await workspace.sig(["key", "did", "$D/a.jwk", "--format", "json"]))
        .stdout,
    );
    const file = "$D/a.jwk";
    assertEquals(JSON.parse(stdout), { file, kid: "me", did });
  });
});

Deno.test("no flag of any program takes a secret, only the file that holds it", () => {
  const programs = [...COMMANDS, apiProgram, webProgram];
  const about = programs.flatMap(({ name, flags }) =>
    flags.flatMap((flag) =>
      flag.value !== undefined &&
        /secret|seed|passw|passphrase|private|token|key/i.test(
          `${flag.name} ${flag.help}`,
        )
        ? [`${name} --${flag.name} ${flag.value}`]
        : []
    )
  );
  assert(about.includes("upsert --key FILE|agent:…"));
  // Identifiers, and where public keys are, are not secret.
  const others = about.filter((each) =>
    !/ (FILE|FILE\|agent:…|KID|DID\|KEY\|FILE\.pub|SOURCE|VKEY)$/.test(each)
  );
  // The public key that sshd asks about, what stands before it, and a name.
  assertEquals(others, [
    "ssh-keys --key-type TYPE",
    "ssh-keys --key BASE64",
    "ssh-keys --options TEXT",
    "cosign --name NAME",
  ]);
});

Deno.test("--key with the key itself is refused, and not shown", () =>
  withIssuer(async (workspace) => {
    const secret = "0123456789abcdef".repeat(3);
    const append = ["upsert", "--dir", "$D/acme", "--subject", "did:web:a.b"];
    for (
      const text of [`{"d":"${secret}"}`, ` {"kty":"OKP","d":"${secret}"}`]
    ) {
      const words = [...append, "--type", "other", "--key", text];
      const { code, stdout, stderr } = await workspace.sig(words);
      assertEquals([code, stdout], [2, ""]);
      assertStringIncludes(
        stderr,
        "error: invalid_key: Cannot use key: it must be the name of a file, not the key itself",
      );
      assert(!stderr.includes(secret));
    }
  }));
