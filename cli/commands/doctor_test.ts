import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { importSigningKey } from "@sig/jose";
import { runWell } from "../../tests/kit/process.ts";
import { makeProofs } from "../../tests/kit/proofs.ts";
import { doctor } from "../testdata/doctor.ts";
import {
  FEED,
  type Given,
  issuerTest as test,
  withIssuer,
  type Workspace,
  workspaceTest,
} from "../testdata/workspace.ts";

const UPSERT =
  "upsert --dir $D/acme --type advisor --subject did:web:eve.example";
const STORED = "keys/acme.example/orgsign-1.jwk";

/** An append, which may warn. */
async function append(workspace: Workspace, words: string): Promise<void> {
  const { code, stderr } = await workspace.sig(words);
  assertEquals(code, 0, stderr);
}

async function edit(
  workspace: Workspace,
  name: string,
  // deno-lint-ignore no-explicit-any -- a document that is made faulty
  change: (document: any) => void,
): Promise<void> {
  const file = `acme/.well-known/${name}`;
  const document = JSON.parse(await workspace.read(file));
  change(document);
  await workspace.write(file, JSON.stringify(document));
}

const healthy = { code: 0, found: [] };

test("an issuer that this program made is healthy", async (workspace) => {
  assertEquals(await doctor(workspace), healthy);
  assertEquals(await workspace.ok("doctor $D/acme"), "healthy\n");
});

/** What brings a finding about, and the clock that it needs. */
type Finding = readonly [
  code: string,
  severity: string,
  bring: (workspace: Workspace) => Promise<unknown> | void,
  now?: number,
];

const rotate = (workspace: Workspace, kid: string) =>
  workspace.ok(`rotate-key --dir $D/acme --kid ${kid}`);

const chmod = (name: string, mode: number) => (workspace: Workspace) =>
  Deno.chmod(workspace.path(name), mode);

/** Each finding that a directory can have. */
const LOCAL: readonly Finding[] = [
  ["signature_invalid", "error", async (workspace) => {
    const [first, ...rest] = (await workspace.read(FEED)).split("\n");
    const line = JSON.parse(first!);
    const { signature: was } = line;
    line.signature = `${was[0] === "A" ? "B" : "A"}${was.slice(1)}`;
    await workspace.write(FEED, [JSON.stringify(line), ...rest].join("\n"));
  }],
  [
    "did_document_missing",
    "warning",
    (workspace) => Deno.remove(workspace.path("acme/.well-known/did.json")),
  ],
  ["issued_at_future", "warning", () => {}, Date.UTC(2025, 0)],
  [
    "personal_data",
    "warning",
    (workspace) => append(workspace, `${UPSERT} --title eve@acme.example`),
  ],
  ["second_active_relationship", "warning", async (workspace) => {
    await append(workspace, UPSERT);
    await append(workspace, UPSERT);
  }],
  [
    "expired_not_ended",
    "info",
    (workspace) =>
      append(
        workspace,
        `${UPSERT} --valid-from 2020-01-01T00:00:00Z --valid-until 2025-01-01T00:00:00Z`,
      ),
  ],
  ["key_old", "warning", () => {}, Date.UTC(2027, 1)],
  ["key_unauthorised", "warning", async (workspace) => {
    await rotate(workspace, "k2");
    await edit(workspace, "did.json", (did) => did.assertionMethod.pop());
  }],
  ["key_unused", "info", async (workspace) => {
    await rotate(workspace, "k2");
    await rotate(workspace, "k3");
  }],
  [
    "other_draft_document",
    "warning",
    (workspace) =>
      Deno.writeTextFile(
        workspace.path("acme/.well-known/sig-metadata.json"),
        "{}",
      ),
  ],
  ["folder_open_to_others", "warning", chmod("acme/.sig", 0o755)],
  ["document_closed_to_others", "info", chmod(FEED, 0o600)],
  ["key_open_to_others", "error", chmod(STORED, 0o644)],
  // A key that has signed nothing yet.
  ["key_open_to_others", "error", async (workspace) => {
    await rotate(workspace, "k2");
    await chmod("keys/acme.example/k2.jwk", 0o640)(workspace);
  }],
  [
    "private_key_in_jwks",
    "error",
    (workspace) =>
      edit(workspace, "jwks.json", ({ keys: [key] }) => {
        key.d = key.x;
      }),
  ],
];

/** Each finding about proofs. */
const SIG = "acme/.well-known/sig";
const PROOFS: readonly Finding[] = [
  [
    "checkpoint_unusable",
    "error",
    (workspace) => Deno.remove(workspace.path(`${SIG}/checkpoint`)),
  ],
  ["checkpoint_differs", "error", async (workspace) => {
    // A good signature of another feed: the one that this one was.
    const [first, ...rest] = (await workspace.read(FEED)).split("\n");
    const { payload, protected: header, signature } = JSON.parse(first!);
    const line = JSON.stringify({ payload, protected: header, signature });
    await workspace.write(FEED, [line, ...rest].join("\n"));
  }],
  ["checkpoint_behind", "info", async (workspace) => {
    const signed = await workspace.read(`${SIG}/checkpoint`);
    await append(workspace, UPSERT);
    await workspace.write(`${SIG}/checkpoint`, signed);
  }],
  ["checkpoint_old", "info", () => {}, Date.UTC(2026, 0, 3)],
  ["proof_file_damaged", "warning", async (workspace) => {
    const file = `${SIG}/tile/0/000.p/3`;
    const bytes = await Deno.readFile(workspace.path(file));
    bytes[40]! ^= 1;
    await workspace.write(file, bytes);
  }],
  [
    "proof_file_damaged",
    "warning",
    (workspace) =>
      Deno.remove(workspace.path(`${SIG}/state`), { recursive: true }),
  ],
];

for (const [of, findings] of Object.entries({ LOCAL, PROOFS })) {
  Deno.test(`doctor makes each finding alone, and exits 1 on an error: ${of}`, async (t) => {
    for (const [code, severity, bring, now] of findings) {
      await t.step(code, () =>
        withIssuer(async (workspace) => {
          if (findings === PROOFS) {
            await workspace.ok("checkpoint --dir $D/acme --init");
            assertEquals(await doctor(workspace), healthy);
          }
          await bring(workspace);
          const given: Given = now === undefined
            ? {}
            : { io: { now: () => new Date(now) } };
          assertEquals(await doctor(workspace, ["$D/acme"], given), {
            code: severity === "error" ? 1 : 0,
            found: [[code, severity]],
          });
        }));
    }
  });
}

test("proofs of a relationship that changes its subject are found", async (workspace) => {
  await workspace.ok("checkpoint --dir $D/acme --init");
  await append(
    workspace,
    "upsert --dir $D/acme --type employee --relationship-id r1 --subject did:web:eve.example --allow-warnings",
  );
  const changed = ["subject_changed", "warning"];
  assertEquals((await doctor(workspace)).found, [
    changed,
    ["checkpoint_behind", "info"],
  ]);
  // As another issuer's program signs it; ours refuses.
  const files = await makeProofs({
    origin: "https://acme.example",
    keys: [await importSigningKey(JSON.parse(await workspace.read(STORED)))],
    lines: (await workspace.read(FEED)).trim().split("\n"),
    time: Date.UTC(2026, 0, 1) / 1000,
  });
  for (const [path, bytes] of files) {
    const folder = workspace.path(`acme${path.replace(/\/[^/]*$/, "")}`);
    await Deno.mkdir(folder, { recursive: true });
    await workspace.write(`acme${path}`, bytes);
  }
  assertEquals((await doctor(workspace)).found, [
    changed,
    ["proofs_of_changed_subject", "error"],
  ]);
});

test("doctor examines the key file that the environment names", async (workspace) => {
  await Deno.copyFile(workspace.path(STORED), workspace.path("named.jwk"));
  const given = {
    env: {
      SIG_KEY_FILE: workspace.path("named.jwk"),
      SIG_KEYS_DIR: undefined,
    },
  };
  const examine = async (mode: number) => {
    await chmod("named.jwk", mode)(workspace);
    return await doctor(workspace, ["$D/acme"], given);
  };
  assertEquals(await examine(0o604), {
    code: 1,
    found: [["key_open_to_others", "error"]],
  });
  assertEquals(await examine(0o600), healthy);
});

test("mail addresses, phone numbers and birth dates are personal, DIDs and times are not", async (workspace) => {
  const count = async (label: string) => {
    await append(
      workspace,
      `${UPSERT} --relationship-id r9 --label '${label}'`,
    );
    return (await doctor(workspace)).found.length;
  };
  const impersonal = [
    "2026-01-31",
    "did:web:a.example",
    "room 12",
    "+1",
    "a@b",
  ];
  for (const label of impersonal) assertEquals(await count(label), 0, label);
  assertEquals(await count("+49 (0)30 1234567"), 1);
  assertEquals(await count("born 1990-12-31"), 2);
});

test("a published copy is compared: the same, behind, ahead, rewritten, another issuer", async (workspace) => {
  const copy = FEED.replace("acme", "copy");
  await Deno.mkdir(workspace.path("copy"));
  const [from, to] = ["acme/.well-known", "copy/"];
  await runWell("cp", ["-r", workspace.path(from), workspace.path(to)]);
  const compare = async (
    here: string,
    there: string,
    ...found: readonly string[]
  ) => {
    const words = [`$D/${here}`, "--against", `$D/${there}`];
    assertEquals(await doctor(workspace, words), {
      code: found[1] === "error" ? 1 : 0,
      found: found.length === 0 ? [] : [found],
    });
  };
  await compare("acme", "copy");
  await append(workspace, UPSERT);
  await compare("acme", "copy", "published_behind", "warning");
  await compare("copy", "acme", "published_ahead", "error");
  await workspace.ok("init other.example --dir $D/other");
  await compare("acme", "other", "published_other_issuer", "error");
  const rewrite = async (feed: string, words: string) => {
    await workspace.write(FEED, feed);
    await Deno.remove(workspace.path("acme/.sig"), { recursive: true });
    await append(workspace, words);
    await compare("acme", "copy", "published_differs", "error");
  };
  const [first] = (await workspace.read(copy)).split("\n");
  await rewrite(`${first}\n`, UPSERT);
  // The same state by another history: readers who remember refuse it.
  const log = await workspace.ok("log $D/copy --format json");
  const drafts = log.replaceAll(
    /"(?:spec_version|issuer|event_id|status|revokes_relationship_id)":"[^"]*",?|"sequence":\d+,?/g,
    "",
  ).replaceAll(",}", "}");
  await workspace.write("drafts.jsonl", drafts);
  await rewrite("", "import --dir $D/acme $D/drafts.jsonl");
  await workspace.ok("diff $D/acme $D/copy");
});

test("SARIF has a rule for each kind and a result for each finding", async (workspace) => {
  await append(workspace, `${UPSERT} --title eve@acme.example`);
  await chmod("acme/.sig", 0o755)(workspace);
  const { version, runs: [run] } = JSON.parse(
    await workspace.ok("doctor $D/acme --format sarif"),
  );
  assertEquals(version, "2.1.0");
  const rules: readonly { id: string }[] = run.tool.driver.rules;
  assertEquals(rules.map(({ id }) => id), [
    "personal_data",
    "folder_open_to_others",
  ]);
  // What GitHub needs to show a result: rule, level, text and a file.
  assertEquals(
    run.results.map((
      // deno-lint-ignore no-explicit-any -- as a reader of SARIF takes it
      { ruleIndex, ruleId, level, message, locations: [at] }: any,
    ) => [
      ...[ruleIndex, ruleId, level, message.text !== ""],
      at.physicalLocation.artifactLocation.uri,
    ]),
    [".well-known/sig/events.jsonl", ".well-known/sig.json"].map(
      (uri, at) => [at, rules[at]!.id, "warning", true, uri],
    ),
  );
  const text = await workspace.ok("doctor $D/acme");
  assertStringIncludes(text, "warning: personal_data: 1 events");
  assertStringIncludes(text, "  fix: ");
  assert(!text.includes("eve@"));
});

workspaceTest(
  "a missing directory is not a healthy issuer",
  async (workspace) => {
    await workspace.refused("doctor $D/nowhere", "source_not_found");
  },
);
