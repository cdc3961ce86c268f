import { didKeyToJwk, jwkToSshKey } from "@sig/jose";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  inWorkspace,
  serveIssuer,
  type Words,
  type Workspace,
} from "../testdata/workspace.ts";

// promise: sshd gets whole lines of allowed keys and nothing else; an error
//   grants no access.

/** did:keys of test keys. The private keys were not kept. */
const DIDS = [
  "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
  "did:key:z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2",
  "did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH",
] as const;
const [ALICE, BOB, CAROL] = DIDS;
const LINES = DIDS.map((did) => jwkToSshKey(didKeyToJwk(did)));
const KEYS = LINES.map((line) => line.split(" ")[1]!);
const RSA = "AAAAB3NzaC1yc2EAAAADAQABAAABgQ==";

/**
 * Creates relationships: Alice's has no end, Bob's ends in June, Carol's is
 * revoked, and one subject is a did:web.
 */
async function withKeys(work: (workspace: Workspace) => Promise<void>) {
  await inWorkspace(async (workspace) => {
    const a = "upsert --dir $D/acme --role ssh:a --type";
    for (
      const words of [
        "init acme.example --dir $D/acme",
        `${a} contractor --subject '${LINES[0]} alice@laptop'`,
        `${a} contractor --subject ${BOB} --valid-until 2026-06-30`,
        `${a} advisor --subject ${BOB} --valid-from 2026-07-01 --valid-until 2026-07-31`,
        `${a} contractor --subject ${CAROL} --relationship-id carol`,
        "revoke --dir $D/acme --relationship-id carol --reason-code other",
        `${a} contractor --subject did:web:dan.example`,
        "upsert --dir $D/acme --role ssh:b --type contractor --subject did:web:eve.example",
      ]
    ) await workspace.ok(words);
    await work(workspace);
  });
}

const ASK = "ssh-keys $D/acme --require role=ssh:a";
const OFFER = `${ASK} --key-type ssh-ed25519 --key`;

const BOTH = `${LINES[0]} ${ALICE}
expiry-time="20260731235959Z" ${LINES[1]} ${BOB}
`;
const LEFT_OUT =
  "warning: left out 1 subject without an OpenSSH key: not a did:key of Ed25519\n";

const OTHER_TYPE =
  /^warning: denied a key of type ssh-\S+: only ssh-ed25519 is accepted\n$/;

/** Arguments with their expected stdout and stderr. */
const CASES: readonly (readonly [
  name: string,
  args: string,
  stdout: string,
  stderr?: string | RegExp,
])[] = [
  [
    "prints an allowed key, encoded from its bytes",
    `${OFFER} ${KEYS[0]}`,
    `${LINES[0]}\n`,
  ],
  [
    "prints the operator's options before the key",
    `${OFFER} ${KEYS[0]} --options 'restrict,command="echo \\"a, b\\""'`,
    `restrict,command="echo \\"a, b\\"" ${LINES[0]}\n`,
  ],
  [
    "prints nothing for a revoked key, and says why",
    `${OFFER} ${KEYS[2]}`,
    "",
    /^warning: denied did:key:\S+: revoked, relationship carol \(seq=5\)\n$/,
  ],
  [
    "prints nothing for a key without the role",
    `${OFFER} ${KEYS[0]} --require role=ssh:b`,
    "",
    `warning: denied ${ALICE}: role_missing, for role=ssh:b\n`,
  ],
  [
    "prints nothing for a key of another type",
    `${ASK} --key-type ssh-rsa --key ${RSA}`,
    "",
    OTHER_TYPE,
  ],
  [
    "prints nothing if the key type does not match the key",
    `${ASK} --key-type ssh-rsa --key ${KEYS[0]}`,
    "",
    OTHER_TYPE,
  ],
  [
    "prints nothing for a certificate",
    `${ASK} --key-type ssh-ed25519-cert-v01@openssh.com --key ${KEYS[0]}`,
    "",
    OTHER_TYPE,
  ],
  [
    "--at answers for a time in the past",
    `${OFFER} ${KEYS[1]} --at 2026-06-30T23:59:59Z`,
    `${LINES[1]}\n`,
  ],
  [
    "lists all allowed keys with their expiry if no key is given",
    ASK,
    BOTH,
    LEFT_OUT,
  ],
  [
    "starts each line with the options",
    `${ASK} --options restrict,pty --at 2026-07-01T00:00:00Z`,
    `restrict,pty ${LINES[0]} ${ALICE}\n` +
    `restrict,pty,expiry-time="20260731235959Z" ${LINES[1]} ${BOB}\n`,
    LEFT_OUT,
  ],
  [
    "prints an empty file if no key is allowed",
    "ssh-keys $D/acme --require role=ssh:none",
    "",
  ],
];

Deno.test("ssh-keys prints only complete lines of allowed keys", async (t) => {
  await withKeys(async (workspace) => {
    for (const [name, args, stdout, stderr = ""] of CASES) {
      await t.step(name, async () => {
        const ran = await workspace.sig(args);
        assertEquals([ran.code, ran.stdout], [0, stdout]);
        if (typeof stderr === "string") assertEquals(ran.stderr, stderr);
        else assertMatch(ran.stderr, stderr);
      });
    }
    await t.step("--explain writes the reasons to stderr", async () => {
      const words = `${OFFER} ${KEYS[2]} --explain`;
      await workspace.says(words, {
        stdout: "",
        err: ["deny  ", "revoked, relationship carol (seq=5)"],
      });
    });
    await t.step("JSON output is a single value", async () => {
      const lines = BOTH.trim().split("\n");
      assertEquals(await workspace.json(ASK), { lines, left_out: 1 });
    });
  });
});

/** Input of an attacker, which no output may contain. */
const MARK = "c3RyYW5nZXI";

const REFUSED: readonly (readonly [name: string, key: string])[] = [
  ["half a key", `${MARK}`],
  ["a byte too many", `${KEYS[0]}${MARK}A`],
  ["a second line", `${KEYS[0]}\n${MARK}`],
  ["a CR", `${KEYS[0]}\r${MARK}`],
  ["a key of small order", `${KEYS[0]!.slice(0, 25)}${"A".repeat(43)}`],
  ["bytes of another type", `AAAAB3NzaC1yc2EAAAAk${"A".repeat(48)}`],
];

/** Options that sshd would parse differently. */
const REFUSED_OPTIONS: readonly (readonly [name: string, text: string])[] = [
  ["over two lines", "restrict\nssh-ed25519 AAAA"],
  ["with a blank outside of quotes", "restrict pty"],
  ["with an open quote", 'command="a'],
  ["whose quote is escaped", 'command="a\\"'],
  ["with a tab in quotes", 'command="a\tb"'],
  ["that end with a comma", "restrict,"],
  ["of no text", ""],
  ["that make the key an authority", 'from="a,b",Cert-Authority'],
];

Deno.test("ssh-keys prints nothing for an invalid key, and does not repeat it", async (t) => {
  await withKeys(async (workspace) => {
    const offer = [...ASK.split(" "), "--key-type", "ssh-ed25519"];
    const refused = (name: string, words: Words, part: string) =>
      t.step(name, async () => {
        const said = await workspace.refused(words, part);
        assertEquals(said.includes(MARK), false, said);
      });
    for (const [name, key] of REFUSED) {
      const words = [...offer, "--key", key];
      await refused(name, words, "error: invalid_identifier: ");
    }
    const unusable = "error: invalid_request: ";
    for (const more of [` ${MARK}`, "\n"]) {
      const words = [...offer, "--key", `${KEYS[0]}${more}`];
      await refused(`a key and ${JSON.stringify(more)}`, words, unusable);
    }
    for (const [name, options] of REFUSED_OPTIONS) {
      const words = [...offer, "--key", KEYS[0]!, "--options", options];
      await refused(`options ${name}`, words, unusable);
    }
    const key = `--key-type ssh-ed25519 --key ${KEYS[0]}`;
    for (
      const [words, part] of [
        [`${ASK} --key-type ssh-ed25519`, unusable],
        [`ssh-keys $D/acme ${key}`, "error: requirements_empty: "],
        [
          `ssh-keys $D/acme ${key} --require rol=x`,
          "error: invalid_requirement: ",
        ],
        [`ssh-keys ${key} --require role=x`, unusable],
        [
          `ssh-keys $D/none ${key} --require role=x`,
          "error: source_not_found: ",
        ],
      ] as const
    ) await refused(words, words, part);
    // Flags that a list does not support are refused, not ignored.
    for (const demand of ["--max-checkpoint-age=1h", "--cosigner=x"]) {
      await refused(
        demand,
        `${ASK} ${demand}`,
        "error: invalid_request: Cannot run: --max-checkpoint-age and --cosigner need --key",
      );
    }
  });
});

Deno.test("ssh-keys prints nothing if the issuer is unreachable, unless --max-age allows the remembered answer", async () => {
  await withKeys(async (workspace) => {
    // The issuer's DID must match the server's address.
    await using server = await serveIssuer(workspace, "site");
    const { host } = server;
    await workspace.ok(
      `upsert --dir $D/site --subject ${ALICE} --type other --role ssh:a`,
    );
    const ask = (more = "", role = "ssh:a") =>
      workspace.sig(
        `ssh-keys ${host} --allow-insecure --require role=${role} --key-type ssh-ed25519 --key ${
          KEYS[0]
        } ${more}`,
      );
    const allowed = { code: 0, stdout: `${LINES[0]}\n`, stderr: "" };
    assertEquals(await ask(), allowed);
    await server[Symbol.asyncDispose]();
    const closed = await ask();
    assertEquals([closed.code, closed.stdout], [2, ""]);
    assertStringIncludes(closed.stderr, "error: fetch_failed: ");
    assertEquals(await ask("--max-age 1h"), allowed);
    const old = await ask("--max-age 1s");
    assertEquals([old.code, old.stdout], [2, ""]);
    // One source that allows is sufficient; a deny needs an answer from all
    // sources.
    assertEquals(await ask("--sig $D/acme"), allowed);
    const { code, stdout } = await ask("--sig $D/acme", "ssh:b");
    assertEquals([code, stdout], [2, ""]);
  });
});

Deno.test("flags and lists accept an OpenSSH public key as the subject", async () => {
  await inWorkspace(async (workspace) => {
    await workspace.write("alice.pub", `${LINES[0]} a\n`);
    await workspace.write("rsa.pub", `ssh-rsa ${RSA} a\n`);
    await workspace.write(
      "people.csv",
      `subject,type,roles\n${LINES[1]} bob@desk,employee,x\n`,
    );
    await workspace.write(
      "people.json",
      JSON.stringify([{ subject: LINES[2], type: "employee" }]),
    );
    await workspace.write(
      "bad.csv",
      `subject,type\nssh-rsa ${RSA} a,employee\n`,
    );
    await workspace.write(
      "cases.yaml",
      `source: ${workspace.dir}/acme\ncases: [{subject: ${
        JSON.stringify(`${LINES[0]} a`)
      }, require: [role=y], expect: allow}]\n`,
    );
    await workspace.ok("init acme.example --dir $D/acme");
    const pub = "--subject $D/alice.pub";
    const line = `--subject '${LINES[0]} a comment'`;
    const check = "check --sig $D/acme --require role=y --format text";
    for (
      const [args, part] of [
        [
          `upsert --dir $D/acme ${pub} --type other --relationship-id r1`,
          "(seq=1)",
        ],
        [`set --dir $D/acme ${line} --add-role y`, "(seq=2)"],
        [`${check} ${pub}`, `allow  ${ALICE}  role=y`],
        [`log $D/acme ${line}`, ALICE],
        [`dump-state $D/acme ${pub}`, ALICE],
        ["test $D/cases.yaml", "1 of 1"],
        [
          "apply --dir $D/acme --from $D/people.csv --yes --new-role x",
          "(seq=3)",
        ],
        ["apply --dir $D/acme --from $D/people.json --yes", "(seq=4)"],
        ["who $D/acme --format csv", BOB],
        ["who $D/acme --format csv", CAROL],
        [
          `revoke --dir $D/acme --relationship-id r1 --reason-code other ${pub}`,
          "(seq=5)",
        ],
        [
          `offboard --dir $D/acme --subject '${
            LINES[1]
          }' --reason-code other --yes`,
          "(seq=6)",
        ],
      ] as const
    ) assertStringIncludes(await workspace.ok(args), part);
    await workspace.refused(
      "upsert --dir $D/acme --subject $D/rsa.pub --type other",
      [
        "error: invalid_identifier: Cannot use OpenSSH public key: its type is ssh-rsa, not ssh-ed25519 (at flag --subject)",
        "ssh-keygen -t ed25519",
      ],
    );
    await workspace.refused(
      `${check} --subject 'no-pty ${LINES[0]}'`,
      "error: invalid_identifier: ",
    );
    await workspace.refused(
      "apply --dir $D/acme --from $D/bad.csv --yes",
      "row 2, column subject: its type is ssh-rsa, not ssh-ed25519",
    );
    // A missing file is an error, not a deny; but a DID may end in .pub.
    await workspace.refused(
      `${check} --subject $D/none.pub`,
      "error: source_not_found: ",
    );
    await workspace.says(`${check} --subject did:web:alice.pub`, {
      code: 1,
      out: "deny  did:web:alice.pub",
    });
  });
});

Deno.test("key did and key ssh convert, from JWKs, keys and DIDs", async () => {
  await inWorkspace(async (workspace) => {
    await workspace.write("a.pub", `${LINES[0]} a\n`);
    await workspace.ok("key generate --out $D/k.jwk");
    const own = (await workspace.ok("key did $D/k.jwk")).trim();
    for (
      const [args, stdout, stdin] of [
        ["key did $D/a.pub", `${ALICE}\n`],
        ["key did -", `${BOB}\n`, LINES[1]],
        [`key ssh ${ALICE}`, `${LINES[0]} ${ALICE}\n`],
        ["key ssh $D/k.jwk", `${jwkToSshKey(didKeyToJwk(own))} ${own}\n`],
        ["key ssh $D/a.pub", `${LINES[0]} ${ALICE}\n`],
      ] as const
    ) assertEquals(await workspace.ok(args, { stdin: stdin ?? "" }), stdout);
    assertEquals(await workspace.json(`key ssh ${ALICE}`), {
      ssh: LINES[0],
      did: ALICE,
    });
    await workspace.refused(
      "key ssh did:web:alice.example",
      "error: unsupported_did_method: ",
    );
    // A private key is never printed.
    assertEquals(
      await workspace.refused("key did -", [], {
        stdin: `-----BEGIN OPENSSH ${"PRIVATE"} KEY-----\nc2VjcmV0\n`,
      }),
      "error: invalid_identifier: Cannot use OpenSSH public key: it is a private key\n  hint: Name the public key, the file that ends in .pub.\n",
    );
  });
});
