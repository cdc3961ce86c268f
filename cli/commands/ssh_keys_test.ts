import { didKeyToJwk, jwkToDidKey, jwkToSshKey } from "@sig/jose";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { createIssuerSite } from "../site/issuer_site.ts";
import { type Case, runCase } from "../testdata/cases.ts";
import { inWorkspace, type Workspace } from "../testdata/workspace.ts";

/** Did:keys of test keys; their private parts are nowhere. */
const DIDS = [
  "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
  "did:key:z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2",
  "did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH",
] as const;
const [ALICE, BOB, CAROL] = DIDS;
const LINES = DIDS.map((did) => jwkToSshKey(didKeyToJwk(did)));
const KEYS = LINES.map((line) => line.split(" ")[1]!);
const RSA = "AAAAB3NzaC1yc2EAAAADAQABAAABgQ==";

const PARTNER = ["--type", "contractor", "--role", "ssh:a"];

/** Alice without end, Bob until June, Carol no more, and a person with a did:web. */
async function withKeys(work: (workspace: Workspace) => Promise<void>) {
  await inWorkspace(async (workspace) => {
    const upsert = ["upsert", "--dir", "$D/acme"];
    const words: readonly (readonly string[])[] = [
      ["init", "acme.example", "--dir", "$D/acme"],
      [
        ...[...upsert, ...PARTNER],
        ...["--subject", `${LINES[0]} alice@laptop`],
      ],
      [
        ...[...upsert, ...PARTNER, "--subject", BOB],
        ...["--valid-until", "2026-06-30"],
      ],
      [
        ...[...upsert, "--role", "ssh:a", "--subject", BOB],
        ...[
          "--type",
          "advisor",
          "--valid-from",
          "2026-07-01",
          "--valid-until",
          "2026-07-31",
        ],
      ],
      [
        ...[...upsert, ...PARTNER, "--subject", CAROL],
        ...["--relationship-id", "carol"],
      ],
      [
        ...["revoke", "--dir", "$D/acme", "--relationship-id", "carol"],
        ...["--reason-code", "other"],
      ],
      [...upsert, ...PARTNER, "--subject", "did:web:dan.example"],
      [
        ...[...upsert, "--type", "contractor", "--role", "ssh:b"],
        ...["--subject", "did:web:eve.example"],
      ],
    ];
    for (const each of words) {
      const { code, stderr } = await workspace.sig(each);
      assertEquals([code, stderr], [0, ""]);
    }
    await work(workspace);
  });
}

const ASK = "ssh-keys $D/acme --require role=ssh:a";
const OFFER = `${ASK} --key-type ssh-ed25519 --key`;

const CASES: readonly Case[] = [
  {
    name: "an allowed key is printed from its bytes",
    args: `${OFFER} ${KEYS[0]}`,
    stdout: `${LINES[0]}\n`,
  },
  {
    name: "behind the operator's options",
    args: `${OFFER} ${KEYS[0]} --options 'restrict,command="echo \\"a, b\\""'`,
    stdout: `restrict,command="echo \\"a, b\\"" ${LINES[0]}\n`,
  },
  { name: "a deny is silent: revoked", args: `${OFFER} ${KEYS[2]}` },
  {
    name: "a deny is silent: unknown",
    args: `${OFFER} ${KEYS[0]} --require role=ssh:b`,
  },
  {
    name: "a deny is silent: another type",
    args: `${ASK} --key-type ssh-rsa --key ${RSA}`,
  },
  {
    name: "a deny is silent: a type that says something else than the key",
    args: `${ASK} --key-type ssh-rsa --key ${KEYS[0]}`,
  },
  {
    name: "a deny is silent: a certificate",
    args: `${ASK} --key-type ssh-ed25519-cert-v01@openssh.com --key ${KEYS[0]}`,
  },
  {
    name: "why is said on request, beside the result",
    args: `${OFFER} ${KEYS[2]} --explain`,
    stderr: ["deny  ", "revoked, relationship carol (seq=5)"],
  },
  {
    name: "the past can be asked about",
    args: `${OFFER} ${KEYS[1]} --at 2026-06-30T23:59:59Z`,
    stdout: `${LINES[1]}\n`,
  },
  {
    name: "without a key all that are allowed now, and until when",
    args: ASK,
    stdout: `${LINES[0]} ${ALICE}\n` +
      `expiry-time="20260731235959Z" ${LINES[1]} ${BOB}\n`,
    stderr:
      "warning: left out 1 subject without an OpenSSH key: not a did:key of Ed25519\n",
  },
  {
    name: "with options each line has them first",
    args: `${ASK} --options restrict,pty --at 2026-07-01T00:00:00Z`,
    stdout: `restrict,pty ${LINES[0]} ${ALICE}\n` +
      `restrict,pty,expiry-time="20260731235959Z" ${LINES[1]} ${BOB}\n`,
    stderr: ["left out 1 subject"],
  },
  {
    name: "nobody is an empty file",
    args: "ssh-keys $D/acme --require role=ssh:none",
  },
  {
    name: "JSON is one value",
    args: `${ASK} --format json`,
    stdout: `${
      JSON.stringify(
        {
          lines: [
            `${LINES[0]} ${ALICE}`,
            `expiry-time="20260731235959Z" ${LINES[1]} ${BOB}`,
          ],
          left_out: 1,
        },
        null,
        2,
      )
    }\n`,
  },
];

Deno.test("ssh-keys prints whole lines of keys that are allowed, and nothing else", async (t) => {
  await withKeys(async (workspace) => {
    for (const each of CASES) {
      await t.step(each.name, () => runCase(workspace, each));
    }
  });
});

/** Of a stranger: what must be in no output. */
const MARK = "c3RyYW5nZXI";

const REFUSED: readonly (readonly [string, readonly string[], string])[] = [
  ["half a key", ["--key", `${MARK}`], "invalid_identifier"],
  ["a byte too many", ["--key", `${KEYS[0]}${MARK}A`], "invalid_identifier"],
  ["a second line", ["--key", `${KEYS[0]}\n${MARK}`], "invalid_identifier"],
  ["a CR", ["--key", `${KEYS[0]}\r${MARK}`], "invalid_identifier"],
  ["a comment", ["--key", `${KEYS[0]} ${MARK}`], "invalid_request"],
  ["a line feed at its end", ["--key", `${KEYS[0]}\n`], "invalid_request"],
  ["a key of small order", [
    "--key",
    `${KEYS[0]!.slice(0, 25)}${"A".repeat(43)}`,
  ], "invalid_identifier"],
  ["bytes of another type", [
    "--key",
    `AAAAB3NzaC1yc2EAAAAk${"A".repeat(48)}`,
  ], "invalid_identifier"],
  ["no key", [], "invalid_request"],
  ["options over two lines", [
    ...["--key", KEYS[0]!, "--options"],
    "restrict\nssh-ed25519 AAAA",
  ], "invalid_request"],
  ["options with a blank outside of quotes", [
    ...["--key", KEYS[0]!, "--options"],
    "restrict pty",
  ], "invalid_request"],
  ["options with an open quote", [
    ...["--key", KEYS[0]!, "--options"],
    'command="a',
  ], "invalid_request"],
  ["options whose quote is escaped", [
    ...["--key", KEYS[0]!, "--options"],
    'command="a\\"',
  ], "invalid_request"],
  ["options with a tab in quotes", [
    ...["--key", KEYS[0]!, "--options"],
    'command="a\tb"',
  ], "invalid_request"],
  ["options that end with a comma", [
    ...["--key", KEYS[0]!, "--options"],
    "restrict,",
  ], "invalid_request"],
  ["empty options", [
    ...["--key", KEYS[0]!, "--options"],
    "",
  ], "invalid_request"],
  ["options that make the key an authority", [
    ...["--key", KEYS[0]!, "--options"],
    'from="a,b",Cert-Authority',
  ], "invalid_request"],
];

Deno.test("ssh-keys answers nothing to what it can't read, and repeats none of it", async (t) => {
  await withKeys(async (workspace) => {
    for (const [name, words, code] of REFUSED) {
      await t.step(name, async () => {
        const { stderr, ...ran } = await workspace.sig([
          ...["ssh-keys", "$D/acme", "--require", "role=ssh:a"],
          ...["--key-type", "ssh-ed25519", ...words],
        ]);
        assertEquals(ran, { code: 2, stdout: "" });
        assertStringIncludes(stderr, `error: ${code}: `);
        assertEquals(stderr.includes(MARK), false, stderr);
      });
    }
    for (const demand of ["--max-checkpoint-age=1h", "--cosigner=x"]) {
      const { code, stderr, stdout } = await workspace.sig([
        ...["ssh-keys", "$D/acme", "--require", "role=ssh:a", demand],
      ]);
      // A demand that a list does not make is not passed over in silence.
      assertEquals([code, stdout], [2, ""]);
      assertStringIncludes(
        stderr,
        "error: invalid_request: Cannot run: --max-checkpoint-age and --cosigner need --key",
      );
    }
    const offer = ["--key-type", "ssh-ed25519", "--key", KEYS[0]!];
    for (
      const [words, code] of [
        [["ssh-keys", "$D/acme", ...offer], "requirements_empty"],
        [
          ["ssh-keys", "$D/acme", ...offer, "--require", "rol=x"],
          "invalid_requirement",
        ],
        [["ssh-keys", ...offer, "--require", "role=x"], "invalid_request"],
        [
          ["ssh-keys", "$D/none", ...offer, "--require", "role=x"],
          "source_not_found",
        ],
      ] as const
    ) {
      const { stderr, ...ran } = await workspace.sig(words);
      assertEquals(ran, { code: 2, stdout: "" });
      assertStringIncludes(stderr, `error: ${code}: `);
    }
  });
});

Deno.test("an issuer that is down lets nobody in, unless the memory is young enough", async () => {
  await withKeys(async (workspace) => {
    // Its DID must be that of the server.
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      createIssuerSite(workspace.path("site")),
    );
    const host = `127.0.0.1:${server.addr.port}`;
    const insecure = ["--allow-insecure"];
    const site = ["--dir", "$D/site"];
    const upsert = ["--subject", ALICE, "--type", "other", "--role", "ssh:a"];
    await workspace.sig(["init", host, ...site, ...insecure]);
    await workspace.sig(["upsert", ...site, ...upsert]);
    const ask = (...more: string[]) =>
      workspace.sig([
        ...["ssh-keys", host, ...insecure, "--require", "role=ssh:a"],
        ...["--key-type", "ssh-ed25519", "--key", KEYS[0]!, ...more],
      ]);
    const allowed = { code: 0, stdout: `${LINES[0]}\n`, stderr: "" };
    assertEquals(await ask(), allowed);
    await server.shutdown();
    const closed = await ask();
    assertEquals([closed.code, closed.stdout], [2, ""]);
    assertStringIncludes(closed.stderr, "error: fetch_failed: ");
    assertEquals(await ask("--max-age", "1h"), allowed);
    const old = await ask("--max-age", "1s");
    assertEquals([old.code, old.stdout], [2, ""]);
    // Of several, one that allows is sufficient; a deny needs all of them.
    const local = ["--sig", "$D/acme"];
    assertEquals(await ask(...local), allowed);
    const { code, stdout } = await workspace.sig([
      ...["ssh-keys", host, ...insecure, ...local, "--require", "role=ssh:b"],
      ...["--key-type", "ssh-ed25519", "--key", KEYS[0]!],
    ]);
    assertEquals([code, stdout], [2, ""]);
  });
});

Deno.test("a subject is an OpenSSH public key wherever a flag or a list takes one", async (t) => {
  await inWorkspace(async (workspace) => {
    await Deno.writeTextFile(workspace.path("alice.pub"), `${LINES[0]} a\n`);
    await Deno.writeTextFile(workspace.path("rsa.pub"), `ssh-rsa ${RSA} a\n`);
    await Deno.writeTextFile(
      workspace.path("people.csv"),
      `subject,type,roles\n${LINES[1]} bob@desk,employee,x\n`,
    );
    await Deno.writeTextFile(
      workspace.path("people.json"),
      JSON.stringify([{ subject: LINES[2], type: "employee" }]),
    );
    await Deno.writeTextFile(
      workspace.path("bad.csv"),
      `subject,type\nssh-rsa ${RSA} a,employee\n`,
    );
    await Deno.writeTextFile(
      workspace.path("cases.yaml"),
      `source: ${workspace.dir}/acme\ncases: [{subject: ${
        JSON.stringify(`${LINES[0]} a`)
      }, require: [role=y], expect: allow}]\n`,
    );
    await workspace.sig(["init", "acme.example", "--dir", "$D/acme"]);
    const pub = "--subject $D/alice.pub";
    const line = `--subject '${LINES[0]} a comment'`;
    const dir = "--dir $D/acme";
    const type = "--type other";
    const cases: readonly Case[] = [
      {
        name: "upsert",
        args: `upsert ${dir} ${pub} ${type} --relationship-id r1`,
        stdout: "Appended relationship.upsert r1 (seq=1)\n",
      },
      {
        name: "set",
        args: `set ${dir} ${line} --add-role y`,
        stdout: ["(seq=2)"],
      },
      {
        name: "check",
        args: `check --sig $D/acme ${pub} --require role=y --format text`,
        stdout: [`allow  ${ALICE}  role=y`],
      },
      { name: "log", args: `log $D/acme ${line}`, stdout: [ALICE] },
      {
        name: "dump-state",
        args: `dump-state $D/acme ${pub}`,
        stdout: [ALICE],
      },
      { name: "test", args: "test $D/cases.yaml", stdout: ["1 of 1"] },
      {
        name: "a list as CSV",
        args: `apply ${dir} --from $D/people.csv --yes`,
        stdout: ["(seq=3)"],
      },
      {
        name: "a list as JSON",
        args: `apply ${dir} --from $D/people.json --yes`,
        stdout: ["(seq=4)"],
      },
      { name: "who", args: "who $D/acme --format csv", stdout: [BOB, CAROL] },
      {
        name: "revoke",
        args: `revoke ${dir} --relationship-id r1 --reason-code other ${pub}`,
        stdout: ["(seq=5)"],
      },
      {
        name: "offboard",
        args: `offboard ${dir} --subject '${
          LINES[1]
        }' --reason-code other --yes`,
        stdout: ["(seq=6)"],
      },
      {
        name: "another type in a file",
        args: `upsert ${dir} --subject $D/rsa.pub ${type}`,
        code: 2,
        stderr: [
          "error: invalid_identifier: Cannot use OpenSSH public key: its type is ssh-rsa, not ssh-ed25519 (at flag --subject)",
          "ssh-keygen -t ed25519",
        ],
      },
      {
        name: "options before the key",
        args: `check --sig $D/acme --subject 'no-pty ${
          LINES[0]
        }' --require role=y`,
        code: 2,
        stderr: ["invalid_identifier"],
      },
      {
        name: "another type in a list",
        args: `apply ${dir} --from $D/bad.csv --yes`,
        code: 2,
        stderr: ["row 2, column subject: its type is ssh-rsa, not ssh-ed25519"],
      },
      {
        name: "a file that is missing is an error, not a deny",
        args:
          "check --sig $D/acme --subject $D/none.pub --require role=y --format text",
        code: 2,
        stderr: ["error: source_not_found: "],
      },
      {
        name: "a DID may end in .pub",
        args:
          "check --sig $D/acme --subject did:web:alice.pub --require role=y --format text",
        code: 1,
        stdout: ["deny  did:web:alice.pub"],
      },
    ];
    for (const each of cases) {
      await t.step(each.name, () => runCase(workspace, each));
    }
  });
});

Deno.test("key did and key ssh convert, from JWKs, keys and DIDs", async (t) => {
  await inWorkspace(async (workspace) => {
    await Deno.writeTextFile(workspace.path("a.pub"), `${LINES[0]} a\n`);
    await workspace.sig(["key", "generate", "--out", "$D/k.jwk"]);
    const own = (await workspace.sig(["key", "did", "$D/k.jwk"])).stdout.trim();
    const ownLine = jwkToSshKey(didKeyToJwk(own));
    const cases: readonly Case[] = [
      {
        name: "did of a .pub file",
        args: "key did $D/a.pub",
        stdout: `${ALICE}\n`,
      },
      {
        name: "did of standard input",
        args: "key did -",
        stdin: LINES[1]!,
        stdout: `${BOB}\n`,
      },
      {
        name: "ssh of a DID",
        args: `key ssh ${ALICE}`,
        stdout: `${LINES[0]} ${ALICE}\n`,
      },
      {
        name: "ssh of a private JWK",
        args: "key ssh $D/k.jwk",
        stdout: `${ownLine} ${own}\n`,
      },
      {
        name: "ssh of a .pub file",
        args: "key ssh $D/a.pub",
        stdout: `${LINES[0]} ${ALICE}\n`,
      },
      {
        name: "as JSON",
        args: `key ssh ${ALICE} --format json`,
        stdout: `${JSON.stringify({ ssh: LINES[0], did: ALICE })}\n`,
      },
      {
        name: "another DID method has no key",
        args: "key ssh did:web:alice.example",
        code: 2,
        stderr: ["error: unsupported_did_method: "],
      },
      {
        name: "a private key is not shown",
        args: "key did -",
        stdin: `-----BEGIN OPENSSH ${"PRIVATE"} KEY-----\nc2VjcmV0\n`,
        code: 2,
        stderr:
          "error: invalid_identifier: Cannot use OpenSSH public key: it is a private key\n  hint: Name the public key, the file that ends in .pub.\n",
      },
    ];
    for (const each of cases) {
      await t.step(each.name, () => runCase(workspace, each));
    }
    assertEquals(jwkToDidKey(didKeyToJwk(own)), own);
  });
});
